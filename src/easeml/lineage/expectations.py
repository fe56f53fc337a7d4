"""What a step is expected to give: conditions on a relation or on an answer."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.lineage.nodes import Value
from easeml.relation import Relation
from easeml.relation.expressions import parse


def facts_of(value: Value) -> dict[str, Any]:
    """Return what a condition can name.

    Of a relation: ``rows``, ``columns``, ``doubts``, ``entropy`` (bits), ``worlds_log10``. Of an
    answer: its values that are text, numbers or truths.
    """
    if isinstance(value, Relation):
        return {
            "rows": len(value),
            "columns": len(value.columns),
            "doubts": value.content.blocks.doubts,
            "entropy": value.entropy(),
            "worlds_log10": value.worlds_log10(),
        }
    answer = dict(value)
    return {name: answer[name] for name in answer if isinstance(answer[name], _PLAIN)}


_PLAIN = bool | int | float | str | None


def is_met(condition: str, value: Value, step: str) -> bool | None:
    """Tell whether a step's value meets a condition; None where a fact of it is not known.

    Raises:
        InvalidInput: naming the step, where the condition cannot be read or names no fact.
    """
    where = f"step {step!r}, expect"
    facts = facts_of(value)
    parsed = parse(condition)
    columns = {}
    for name in parsed.columns:
        if name not in facts:
            raise InvalidInput(
                f"There is no {name!r} in what comes out.",
                where=where,
                remedy=f"Use {', '.join(facts)}.",
            )
        columns[name] = pa.array([facts[name]])
    truth = parsed.evaluate(columns, 1)
    if not pa.types.is_boolean(truth.type):
        raise InvalidInput(
            "is not a condition.", where=where, remedy="Write one such as 'rows > 8'."
        )
    return truth[0].as_py()


def summary(value: Value) -> str:
    """Return what a step gave, in few words."""
    if isinstance(value, Relation):
        return _relation_summary(value)
    facts = facts_of(value)
    told = [f"{name}: {each}" for name, each in facts.items() if isinstance(each, str)]
    return "; ".join(told[:2])


def _relation_summary(relation: Relation) -> str:
    """Return how large a relation is, and how much of it is in doubt."""
    found = f"{len(relation):,} rows, {len(relation.columns)} columns"
    doubts = relation.content.blocks.doubts
    if doubts:
        found += f", {doubts:,} in doubt"
    return found

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
    facts = {}
    for name, each in dict(value).items():
        if each is None or isinstance(each, bool | int | float | str):
            facts[name] = each
    return facts


def is_met(condition: str, value: Value, step: str) -> bool | None:
    """Tell whether a step's value meets a condition; None where a fact of it is not known.

    Raises:
        InvalidInput: naming the step, where the condition cannot be read or names no fact.
    """
    where = f"step {step!r}, expect"
    facts = facts_of(value)
    parsed = parse(condition)
    unknown = [name for name in parsed.columns if name not in facts]
    if unknown:
        raise InvalidInput(
            f"There is no {unknown[0]!r} in what comes out.",
            where=where,
            remedy=f"Use {', '.join(facts)}.",
        )
    columns = {name: pa.array([facts[name]]) for name in parsed.columns}
    truth = parsed.evaluate(columns, 1)
    if not pa.types.is_boolean(truth.type):
        raise InvalidInput("is no condition.", where=where, remedy="Write one such as 'rows > 8'.")
    return truth[0].as_py()


def summary(value: Value) -> str:
    """Return what a step gave, in few words."""
    if not isinstance(value, Relation):
        facts = facts_of(value)
        told = [f"{name}: {each}" for name, each in facts.items() if isinstance(each, str)]
        return "; ".join(told[:2])
    found = f"{len(value):,} rows, {len(value.columns)} columns"
    doubts = value.content.blocks.doubts
    return f"{found}, {doubts:,} in doubt" if doubts else found

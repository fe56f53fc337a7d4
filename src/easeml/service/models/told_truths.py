"""What was said to be true of rows of production, and how good a prediction is by it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

from easeml.service.rollouts import kept
from easeml.store import Tables
from easeml.store.records import Feedback, ProductionRow, Rollout
from easeml.store.rows import Rows

Truths = dict[str, Any]
"""By the id of a row."""

R = TypeVar("R", ProductionRow, Feedback)


def truths_of(tables: Tables, rollout: Rollout, rows: Sequence[ProductionRow]) -> Truths:
    """Return what was said to be true of rows, the newest word on each, by their ids.

    In the order in which it was said: it may not depend on what the models say of them. So words on
    rows that were chosen by what models say do not count.
    """
    ids_by_key: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        ids_by_key[row.key].append(row.id)
    words = of_either(
        tables.feedback,
        {"request_id": list({row.request_id for row in rows})},
        {"key": list(filter(None, ids_by_key))},
        application_id=rollout.application_id,
        chosen=False,
    )
    wanted = {row.id for row in rows}
    truths: Truths = {}
    for word in sorted(words, key=attrgetter("id")):
        value = word.value["value"]
        if word.key:
            truths.update(dict.fromkeys(ids_by_key[word.key], value))
        elif row_id(word) in wanted:
            truths[row_id(word)] = value
    return truths


@dataclass(frozen=True, slots=True)
class Number:
    """A target that is a number. ``scale``: the largest error; ``power``: of its share."""

    scale: float
    power: int = 1

    def true(self, told: Any) -> float | None:
        """Return the number that was told; None where it is none."""
        return _number(told)

    def quality(self, said: Any, true: Any) -> float:
        """Return how good a prediction is, in [0, 1]."""
        from easeml.lifecycle import rollout as rollouts

        return rollouts.quality_of_number(_number(said), true, self.scale, self.power)

    def distance(self, one: Any, other: Any) -> float:
        """Return by how much the quality of two predictions can differ at most."""
        numbers = _number(one), _number(other)
        if numbers[0] is None or numbers[1] is None:
            return 1.0
        return min(1.0, self.power * abs(numbers[0] - numbers[1]) / self.scale)


@dataclass(frozen=True, slots=True)
class Category:
    """A target that is a category. ``classes``: their names."""

    classes: set[str]

    def true(self, told: Any) -> str | None:
        """Return the name of the class that was told; None where the target has no such class."""
        from easeml.lifecycle.labels import class_name

        name = class_name(told)
        return name if name in self.classes else None

    def quality(self, said: Any, true: Any) -> float:
        """Return 1 for the right class, else 0."""
        from easeml.lifecycle import rollout as rollouts

        return rollouts.quality_of_class(said, true)

    def distance(self, one: Any, other: Any) -> float:
        """Return by how much the quality of two predictions can differ at most."""
        from easeml.lifecycle.labels import class_name

        return float(class_name(one) != class_name(other))


def target_of(tables: Tables, rollout: Rollout) -> Number | Category:
    """Return what is predicted, as roll-outs measure it."""
    from easeml.lifecycle.labels import class_name

    application = tables.applications.get(rollout.application_id)
    if rollout.scale > 0:
        return Number(rollout.scale, kept.power_of(application, rollout))
    version = tables.versions.get(application.version_id)
    return Category(set(filter(None, map(class_name, version.target_classes))))


def _number(value: Any) -> float | None:
    """Return a finite number; None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def said(rollout: Rollout, row: ProductionRow) -> tuple[Any, Any]:
    """Return what the new and the old model say of a row; None: it failed."""
    answered = row.answer["prediction"]
    other = row.other.prediction if row.other is not None else None
    is_by_new = row.model_id == rollout.model_id
    return (answered, other) if is_by_new else (other, answered)


def of_either(rows: Rows[R], *choices: dict[str, list[str]], **equals: Any) -> list[R]:
    """Return the rows of a table that meet one of ``choices``: a field, and what it may be.

    All have the values ``equals``. A row that meets two choices comes twice.
    """
    found: list[R] = []
    for choice in choices:
        found += rows.list(limit=None, **choice, **equals)
    return found


def named_rows(tables: Tables, rollout: Rollout, told: Sequence[Feedback]) -> list[ProductionRow]:
    """Return the rows that words are about, that one of the models answered, not counted yet."""
    found = of_either(
        tables.production_rows,
        {"id": [row_id(word) for word in told if word.request_id]},
        {"key": [word.key for word in told if word.key]},
        model_id=[rollout.model_id, rollout.against_id],
        rollout_id=["", rollout.id],
        counted=False,
        after=rollout.first,  # what came before the roll-out does not count
    )
    return list({row.id: row for row in found}.values())


def row_id(word: Feedback) -> str:
    """Return the id of the row that a word names by request and number."""
    return f"{word.request_id}.{word.row:06}"

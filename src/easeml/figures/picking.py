"""The figure of a choice among trained models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from easeml.figures.description import Axis, Series, column
from easeml.figures.figure import Figure


def standings(picking: Mapping[str, Any], *, most: int = 30) -> Figure:
    """Return the estimated accuracy of the ``most`` best models with intervals, the chosen apart.

    ``picking`` is the JSON form of a ``Picking``.
    """

    def place(row: Mapping[str, Any]) -> tuple[bool, float]:
        return row["model"] == picking["model"], row["accuracy"]

    rows = sorted(picking["models"], key=place, reverse=True)[:most]
    names = tuple(row["model"] for row in rows)
    series = []
    others = [row for row in rows if row["model"] != picking["model"]]
    if others:
        series.append(_estimates("other models", "muted", others, names))

    chosen = [row for row in rows if row["model"] == picking["model"]]
    if chosen:
        series.append(_estimates("chosen", "1", chosen, names))

    title = f"{picking['model']}, chosen with {picking['labels']} of {picking['examples']} labels"

    return Figure(
        title,
        Axis("accuracy on the pool"),
        Axis("model", scale="category", categories=names),
        tuple(series),
    )


def _estimates(
    name: str, tone: str, rows: list[Mapping[str, Any]], names: tuple[str, ...]
) -> Series:
    # Where labels are chosen, an estimate may lie outside of its interval.
    accuracy = column(rows, "accuracy")
    return Series(
        name,
        accuracy,
        tuple(float(names.index(row["model"])) for row in rows),
        kind="points",
        tone=tone,
        low=tuple(map(min, column(rows, "low"), accuracy)),
        high=tuple(map(max, column(rows, "high"), accuracy)),
    )

"""Figures of cleaning: what is in doubt, and what cleaning takes off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from operator import add
from typing import Any

from easeml.figures.description import Axis, Series, numbers, tone_of
from easeml.figures.figure import Figure


def plan(result: Mapping[str, Any]) -> Figure:
    """Return what is left of the doubt as the rows of a plan are cleaned.

    ``result`` is a ``CleaningPlan`` as JSON.
    """
    left = numbers(result["entropy_after"])
    notes = ("start", *(f"row {item['row']} cleaned" for item in result["planned"]))
    cleaned = numbers(range(len(left)))

    return Figure(
        "What cleaning the planned rows takes off",
        Axis("rows cleaned"),
        Axis("doubt of a prediction, at most", unit="bits", low=0.0),
        (Series("doubt left", cleaned, left, kind="steps", notes=notes),),
    )


def suspects(result: Mapping[str, Any]) -> Figure:
    """Return findings by column and method, stacked; ``result`` is an ``ErrorReport`` as JSON."""
    columns = sorted(result["by_column"], key=lambda name: -result["by_column"][name])
    names = tuple(name or "(whole row)" for name in columns)
    found = Counter((cell["column"], cell["method"]) for cell in result["cells"])
    base = [0.0] * len(columns)
    series = []
    for number, method in enumerate(result["by_method"]):
        counts = [found[column, method] for column in columns]
        tops = list(map(add, base, counts))
        notes = tuple(f"{count} findings by this method" for count in counts)
        series.append(
            Series(
                method,
                tuple(tops),
                numbers(range(len(columns))),
                kind="bars",
                tone=tone_of(number),
                base=tuple(base),
                notes=notes,
            )
        )
        base = tops

    return Figure(
        "Suspicious cells",
        Axis("findings, added up over the methods", low=0.0),
        Axis("column", scale="category", categories=names),
        tuple(series),
    )

"""Figures of labelling: each takes the JSON form of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add
from typing import Any

from easeml.figures.description import Axis, Reference, Series, numbers, picked
from easeml.figures.figure import Figure

_MOST = 2000  # points that a curve shows
_BINS = 40  # of a histogram of chances
_FIRST = 10  # rows of a queue that are shown apart


def values(answer: Mapping[str, Any]) -> Figure:
    """Return the values of rows, sorted, within two standard errors where they are known."""
    found = answer["values"]
    labels = answer["labels"]
    order = sorted(range(len(found)), key=found.__getitem__)
    places = thinned(len(found))
    rows = picked(order, places)

    shown = picked(found, rows)
    errors = picked(answer["standard_errors"], rows)
    low, high = _within_two_errors(shown, errors)
    value = Series(
        "value, within two standard errors" if low else "value",
        numbers(places),
        numbers(shown),
        notes=tuple(f"row {row}, {labels[row]}" for row in rows),
        low=low,
        high=high,
    )

    return Figure(
        "Value of each training row",
        Axis("rows, the least valuable first"),
        Axis("Shapley value"),
        (value,),
        (Reference(0.0, "no value"),),
    )


def queue(answer: Mapping[str, Any]) -> Figure:
    """Return expected value against uncertainty of the rows to label, the first of them apart."""
    rows = list(zip(answer["rows"], answer["guesses"], strict=True))
    notes = []
    for place, (row, guess) in enumerate(rows, start=1):
        notes.append(f"place {place}: row {row}, perhaps {guess}")
    x = numbers(answer["values"])
    y = numbers(answer["uncertainties"])
    series = []
    for name, part, tone in (
        ("later rows", slice(_FIRST, None), "muted"),
        (f"first {_FIRST} rows", slice(0, _FIRST), "1"),
    ):
        if x[part]:
            series.append(
                Series(
                    name,
                    x[part],
                    y[part],
                    kind="points",
                    tone=tone,
                    notes=tuple(notes[part]),
                )
            )

    return Figure(
        "Rows to label next",
        Axis("expected value", of_data=True),
        Axis("uncertainty of the label"),
        tuple(series),
    )


def suspects(answer: Mapping[str, Any]) -> Figure:
    """Return the chances of rows' labels as a histogram, those that look wrong apart."""
    counts = {False: [0] * _BINS, True: [0] * _BINS}
    for chance, flagged in zip(answer["chances"], answer["flagged"], strict=True):
        place = min(int(chance * _BINS), _BINS - 1)
        counts[bool(flagged)][place] += 1
    middles = tuple((place + 0.5) / _BINS for place in range(_BINS))
    right = numbers(counts[False])
    all_rows = numbers(map(add, counts[False], counts[True]))
    wrong_notes = tuple(f"{count} rows" for count in counts[True])
    width = 0.92 / _BINS

    return Figure(
        "Which labels look wrong?",
        Axis("chance of the row's own label", low=0.0, high=1.0),
        Axis("rows", low=0.0),
        (
            Series(
                "not flagged",
                middles,
                right,
                kind="bars",
                tone="1",
                width=width,
            ),
            Series(
                "looks wrong",
                middles,
                all_rows,
                kind="bars",
                tone="bad",
                base=right,
                width=width,
                notes=wrong_notes,
            ),
        ),
    )


def contributions(answer: Mapping[str, Any]) -> Figure:
    """Return the value of each owner's data within two standard errors, where they are known."""
    found = numbers(answer["values"])
    low, high = _within_two_errors(found, answer["standard_errors"])
    owners = tuple(answer["owners"])
    places = numbers(range(len(owners)))

    return Figure(
        "What each owner contributes",
        Axis("Shapley value"),
        Axis("owner", scale="category", categories=owners),
        (
            Series(
                "value",
                found,
                places,
                kind="bars",
                low=low,
                high=high,
            ),
        ),
        (Reference(0.0, "", axis="x"),),
    )


def _within_two_errors(
    values: Sequence[float], errors: Sequence[float | None]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the ends of the intervals; none where an error is not known."""
    low = []
    high = []
    for value, error in zip(values, errors, strict=True):
        if error is None:
            return (), ()
        low.append(value - 2 * error)
        high.append(value + 2 * error)
    return tuple(low), tuple(high)


def thinned(count: int) -> list[int]:
    """Return the places of so many rows, evenly spaced where there are too many, the ends always."""
    step = max(1, count // _MOST)
    places = range(0, count, step)
    last = range(count)[-1:]
    return list(dict.fromkeys([*places, *last]))

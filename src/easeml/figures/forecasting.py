"""The figure of a forecast: what is known of a series, and what is expected next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.figures.description import Axis, Series, column, numbers
from easeml.figures.figure import Figure


def forecast(
    title: str,
    known: Sequence[Mapping[str, Any]],
    expected: Sequence[Mapping[str, Any]],
    time: str,
    target: str,
) -> Figure:
    """Return the last known values of a series and the next ones, each with its time.

    ``known``: rows with ``time`` and ``target``. ``expected``: rows with ``time``, ``prediction``,
    and ``lower`` and ``upper`` where the model has intervals.
    """
    before = numbers(range(1 - len(known), 1))
    after = numbers(range(1, len(expected) + 1))
    series = [
        Series("known", before, column(known, target), tone="text", notes=_times(known, time))
    ]
    if "lower" in expected[0]:
        low, high = column(expected, "lower"), column(expected, "upper")
        series.append(Series("interval", after, kind="band", tone="accent", low=low, high=high))
    said = column(expected, "prediction")
    notes = _times(expected, time)
    series.append(Series("forecast", after, said, tone="accent", notes=notes))
    last = f" {known[-1][time]}" if known else ""
    return Figure(title, Axis(f"steps after{last}"), Axis(target), tuple(series))


def _times(rows: Sequence[Mapping[str, Any]], time: str) -> tuple[str, ...]:
    return tuple(str(row[time]) for row in rows)

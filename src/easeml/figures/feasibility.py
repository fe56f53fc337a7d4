"""The figure of feasibility: errors over training rows, both bounds, the goal, and the forecast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

from easeml.figures.description import Axis, Reference, Series, column, numbers, tone_of
from easeml.figures.figure import Figure


def bayes_error_figure(result: Mapping[str, Any]) -> Figure:
    """Return the figure of a ``BayesError`` in its JSON form."""
    share = "error rate" if result["classes"] else "share of variance unexplained"
    series = []
    for number, tried in enumerate(_kept_first(result["tried"])):
        series.append(_curve(tried, tone_of(number)))
    references = [
        Reference(result["lower"], "Bayes error, interval", end=result["upper"], tone="good"),
        Reference(result["estimate"], "Bayes error", tone="good", dashed=False),
    ]
    if result["goal"] is not None:
        references.append(Reference(1 - result["goal"], "goal", tone="bad"))

    return Figure(
        _title(result),
        Axis("labelled rows to train on", scale="log"),
        Axis(share),
        (*series, _forecast(result)),
        tuple(references),
    )


def _title(result: Mapping[str, Any]) -> str:
    # There is a verdict only where there is a goal.
    if result["verdict"] is None:
        return "The least error that can be reached"
    return f"A goal of {result['goal']:g}: {result['verdict']}"


def _kept_first(tried: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the representations with those that were dropped last, so that others keep colours."""
    return sorted(tried, key=lambda one: bool(one["dropped"]))


def _curve(tried: Mapping[str, Any], tone: str) -> Series:
    curve = tried["curve"]
    series = Series(
        tried["name"],
        numbers(map(itemgetter(0), curve)),
        numbers(map(itemgetter(1), curve)),
        tone=tone,
        notes=(tried["way"],) * len(curve),
    )
    reason = tried["dropped"]
    if reason:
        name = f"{tried['name']} (dropped)"
        return replace(series, name=name, tone="muted", notes=(reason,) * len(curve))
    return series


def _forecast(result: Mapping[str, Any]) -> Series:
    """Return the best curve, continued; its rows are shares of all rows, as in the study."""
    best = next(one for one in result["tried"] if one["name"] == result["representation"])
    share = best["rows"] / result["rows"]
    forecasts = result["forecasts"]
    reached = result["reached"]
    rows = [share * count for count in column(forecasts, "rows")]
    return Series(
        "forecast",
        (float(best["rows"]), *rows),
        (reached, *column(forecasts, "error")),
        low=(reached, *column(forecasts, "low")),
        high=(reached, *column(forecasts, "high")),
        tone="accent",
        dashed=True,
    )

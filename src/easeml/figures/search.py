"""The figure of searches: average loss against what was spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from easeml.figures.description import Axis, Figure, Series, tone_of

_LEAST_LOSS = 1e-4
_LEAST_SHARE = 1e-4  # of the cost
_LEAST_MOVE = 0.02  # between two points, in the logarithm of either axis
_LIMIT = "clairvoyant"  # the policy that knows everything: no rival, a limit


def loss_figure(comparison: Mapping[str, Any]) -> Figure:
    """Return average loss against the share of the cost with 95 % intervals, of
    ``Comparison.to_json()``.

    Losses and shares below 0.0001 are at the edges.
    """
    others = [name for name in comparison["policies"] if name != _LIMIT]
    series = []
    for name, told in comparison["policies"].items():
        tone = "muted" if name == _LIMIT else tone_of(others.index(name))
        series.append(_curve(name, tone, told))
    return Figure(
        "Average loss against cost",
        Axis("share of the cost of running everything", scale="log", low=_LEAST_SHARE, high=1.0),
        Axis("average loss", scale="log", low=_LEAST_LOSS, high=1.0),
        tuple(series),
    )


def _curve(name: str, tone: str, told: Mapping[str, Any]) -> Series:
    shares, losses, intervals = told["cost_share"], told["mean_loss"], told["interval"]
    kept = thinned(shares, losses)
    return Series(
        name,
        tuple(shares[place] for place in kept),
        tuple(losses[place] for place in kept),
        tone=tone,
        low=tuple(intervals[place][0] for place in kept),
        high=tuple(intervals[place][1] for place in kept),
        dashed=name == _LIMIT,
    )


def thinned(shares: list[float], losses: list[float]) -> list[int]:
    """Return the places of the points to draw: without those on the left of the axis, those after
    the loss has left it, and those that hardly move.
    """
    kept: list[int] = []
    before: tuple[float, float] | None = None
    for place, (share, loss) in enumerate(zip(shares, losses, strict=True)):
        if share < _LEAST_SHARE:
            continue
        here = (math.log(share), math.log(max(loss, _LEAST_LOSS)))
        if before is None or math.dist(here, before) >= _LEAST_MOVE:
            kept.append(place)
            before = here
        if loss < _LEAST_LOSS:
            break
    return kept

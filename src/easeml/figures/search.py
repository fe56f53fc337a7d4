"""The figure of searches: average loss against what was spent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from easeml.figures.description import Axis, Series, picked, tone_of
from easeml.figures.figure import Figure

_LEAST_LOSS = 1e-4
_LEAST_SHARE = 1e-4  # of the cost
_LEAST_MOVE = 0.02  # between two points, in the logarithm of either axis
_LIMIT = "clairvoyant"  # the policy that knows everything: no rival, a limit


def loss_figure(comparison: Mapping[str, Any]) -> Figure:
    """Return average loss against the share of the cost with 95 % intervals.

    ``comparison`` is a ``Comparison`` as JSON. Losses and shares below 0.0001 are at the edges.
    """
    others = [name for name in comparison["policies"] if name != _LIMIT]
    series = []
    for name, told in comparison["policies"].items():
        # The limit has no colour, so that the others keep theirs with and without it.
        tone = "muted" if name == _LIMIT else tone_of(others.index(name))
        series.append(_curve(name, tone, told))

    return Figure(
        "Average loss against cost",
        Axis(
            "share of the cost of running everything",
            scale="log",
            low=_LEAST_SHARE,
            high=1.0,
        ),
        Axis(
            "average loss",
            scale="log",
            low=_LEAST_LOSS,
            high=1.0,
        ),
        tuple(series),
    )


def _curve(name: str, tone: str, told: Mapping[str, Any]) -> Series:
    shares = told["cost_share"]
    losses = told["mean_loss"]
    kept = thinned(shares, losses)
    return Series(
        name,
        picked(shares, kept),
        picked(losses, kept),
        tone=tone,
        low=picked([low for low, _ in told["interval"]], kept),
        high=picked([high for _, high in told["interval"]], kept),
        dashed=name == _LIMIT,
    )


def thinned(shares: list[float], losses: list[float]) -> list[int]:
    """Return the places of the points to draw.

    Points on the left of the axis are left out, as are those after the loss has left it and those
    that hardly move.
    """
    kept: list[int] = []
    before: tuple[float, float] | None = None
    for place, (share, loss) in enumerate(zip(shares, losses, strict=True)):
        if share < _LEAST_SHARE:
            continue

        here = (math.log(share), math.log(max(loss, _LEAST_LOSS)))
        hardly_moves = before is not None and math.dist(here, before) < _LEAST_MOVE
        if not hardly_moves:
            kept.append(place)
            before = here

        if loss < _LEAST_LOSS:
            break
    return kept

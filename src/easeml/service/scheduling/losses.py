"""Loss of searches: what the best known result is better than what was known then."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from easeml.contract.scheduling import LossCurve


class Result(NamedTuple):
    """A finished run.

    ``at``: when it ended, or what was spent by then; ``quality`` None: it failed.
    """

    at: float
    job: str
    quality: float | None


def loss_curve(results: Iterable[Result], start: float, end: float, name: str = "") -> LossCurve:
    """Return the losses from ``start`` to ``end``, with a point for each change.

    At the start no search knows anything: its quality is 0.

    What ended before ``start`` is known there. A search counts once it has any result in
    ``results``; its loss is against its best of them all.
    """
    ordered = sorted(results)
    goal: dict[str, float] = {}
    for result in ordered:
        if result.quality is not None:
            goal[result.job] = max(goal.get(result.job, 0.0), result.quality)
    if not goal:
        return LossCurve(name=name)
    loss, points = dict(goal), []
    for at, job, quality in ordered:
        if not points and at > start:
            points.append((start, *_summary(loss)))
        if quality is not None and goal[job] - quality < loss[job]:
            loss[job] = goal[job] - quality
            if points:
                points.append((at, *_summary(loss)))
    points = points or [(start, *_summary(loss))]
    points.append((max(end, points[-1][0]), *points[-1][1:]))
    at, average, worst = (list(column) for column in zip(*points, strict=True))
    return LossCurve(name=name, at=at, average=average, worst=worst, area=_area(points))


def _summary(loss: dict[str, float]) -> tuple[float, float]:
    return sum(loss.values()) / len(loss), max(loss.values())


def _area(points: list[tuple[float, float, float]]) -> float:
    width = points[-1][0] - points[0][0]
    return (
        sum((there[0] - here[0]) * here[1] for here, there in pairwise(points)) / width
        if width > 0
        else 0.0
    )

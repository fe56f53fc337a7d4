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
    goal = _best_of_each(ordered)
    if not goal:
        return LossCurve(name=name)

    points: list[_Point] = []
    loss = dict(goal)
    for at, job, quality in ordered:
        if not points and at > start:
            points.append(_point(start, loss))
        if quality is None:
            continue
        left = goal[job] - quality
        if left < loss[job]:
            loss[job] = left
            if points:
                points.append(_point(at, loss))
    if not points:
        points.append(_point(start, loss))

    last = points[-1]
    points.append(last._replace(at=max(end, last.at)))
    return LossCurve(
        name=name,
        at=[point.at for point in points],
        average=[point.average for point in points],
        worst=[point.worst for point in points],
        area=_area(points),
    )


class _Point(NamedTuple):
    """The losses of all searches from a moment on."""

    at: float
    average: float
    worst: float


def _best_of_each(results: Iterable[Result]) -> dict[str, float]:
    """Return the best quality of each search that has one, at least 0."""
    best: dict[str, float] = {}
    for result in results:
        if result.quality is not None:
            before = best.get(result.job, 0.0)
            best[result.job] = max(before, result.quality)
    return best


def _point(at: float, loss: dict[str, float]) -> _Point:
    return _Point(at, sum(loss.values()) / len(loss), max(loss.values()))


def _area(points: list[_Point]) -> float:
    """Return the mean of the average loss over the time of the points."""
    width = points[-1].at - points[0].at
    if width <= 0:
        return 0.0
    area = sum((after.at - point.at) * point.average for point, after in pairwise(points))
    return area / width

"""Loss of searches: what the best known result is better than what was known then."""

from collections import defaultdict
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
    found = [(at, job, quality) for at, job, quality in results if quality is not None]
    if not found:
        return LossCurve(name=name)
    points = _points(sorted(found), start)
    last = points[-1]
    points.append(last._replace(at=max(end, last.at)))
    at, average, worst = map(list, zip(*points, strict=True))
    return LossCurve(name=name, at=at, average=average, worst=worst, area=_area(points))


class _Point(NamedTuple):
    """The losses of all searches from a moment on."""

    at: float
    average: float
    worst: float


def _points(found: list[tuple[float, str, float]], start: float) -> list[_Point]:
    """Return the losses at ``start``, and at each change after it.

    ``found``: when what was found, of which search, and how good it is, in order.
    """
    goal: defaultdict[str, float] = defaultdict(float)
    for _, job, quality in found:
        goal[job] = max(goal[job], quality)

    loss = dict(goal)
    known = [one for one in found if one[0] <= start]
    for _, job, quality in known:
        loss[job] = min(loss[job], goal[job] - quality)
    points = [_point(start, loss)]
    for at, job, quality in found[len(known) :]:
        left = goal[job] - quality
        if left < loss[job]:
            loss[job] = left
            points.append(_point(at, loss))
    return points


def _point(at: float, loss: dict[str, float]) -> _Point:
    return _Point(at, sum(loss.values()) / len(loss), max(loss.values()))


def _area(points: list[_Point]) -> float:
    """Return the mean of the average loss over the time of the points."""
    width = points[-1].at - points[0].at
    if width <= 0:
        return 0.0
    area = sum((after.at - point.at) * point.average for point, after in pairwise(points))
    return area / width

"""Pictures of how a trained model does: where the marks go, in percent of a plot."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from easeml.contract.evaluation import Evaluation
from easeml.web.charts import Tick, round_values

_TONES = 7
_SHADES = 5  # of a cell of the confusion matrix
_ROOM = 0.04  # of the span of an axis, at both ends


@dataclass(frozen=True, slots=True)
class Curve:
    """A line in a box of 100 x 100: ``points`` of a polyline."""

    name: str
    tone: int
    points: str


@dataclass(frozen=True, slots=True)
class Point:
    """A dot, and the interval around it from ``low`` to ``high`` where there is one."""

    x: float
    y: float
    title: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves and dots between two axes.

    ``diagonal``: the line (x1, y1, x2, y2) of what would be perfect.
    """

    across: list[Tick]
    up: list[Tick]
    curves: list[Curve] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    diagonal: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """A count of the confusion matrix. ``shade``: 0 to 5, by its share of the actual class."""

    count: int
    shade: int
    right: bool


def confusion(evaluation: Evaluation) -> list[tuple[str, list[Cell]]]:
    """Return the rows of the confusion matrix: an actual class and its counts."""
    rows = []
    for place, (label, counts) in enumerate(
        zip(evaluation.labels, evaluation.confusion, strict=True)
    ):
        most = sum(counts) or 1
        cells = [Cell(n, -(-_SHADES * n // most), at == place) for at, n in enumerate(counts)]
        rows.append((label, cells))
    return rows


def roc(evaluation: Evaluation) -> Plot | None:
    """Return the curves of true against false positives."""
    curves = [
        Curve(
            f"{one.label}: area {one.area:.3f}",
            place % _TONES + 1,
            _line(one.false_positives, one.true_positives),
        )
        for place, one in enumerate(evaluation.roc)
    ]
    return Plot(_shares(), _shares(up=True), curves, diagonal=(0, 100, 100, 0)) if curves else None


def calibration(evaluation: Evaluation) -> Plot | None:
    """Return how often predictions are right against how sure they were."""
    points = [
        Point(
            100 * one.confidence,
            100 * (1 - one.right),
            f"{one.rows} rows, {100 * one.confidence:.0f} % sure, {100 * one.right:.0f} % right",
            100 * (1 - one.low),
            100 * (1 - one.high),
        )
        for one in evaluation.calibration
    ]
    return (
        Plot(_shares(), _shares(up=True), points=points, diagonal=(0, 100, 100, 0))
        if points
        else None
    )


def residuals(evaluation: Evaluation) -> Plot | None:
    """Return predicted against actual values on equal axes."""
    found = evaluation.residuals
    if not found:
        return None
    values = [one.actual for one in found] + [one.predicted for one in found]
    low, high = _bounds(values)
    points = [
        Point(
            _at(one.actual, low, high),
            100 - _at(one.predicted, low, high),
            f"actual {one.actual:.5g}, predicted {one.predicted:.5g}",
        )
        for one in found
    ]
    across = [Tick(_at(value, low, high), f"{value:.4g}") for value in round_values(low, high)]
    up = [Tick(100 - tick.at, tick.label) for tick in across]
    return Plot(across, up, points=points, diagonal=(0, 100, 100, 0))


def learning(evaluation: Evaluation) -> Plot | None:
    """Return the quality that the model reported while it learned."""
    found = evaluation.curve
    if len(found) < 2:
        return None
    low, high = _bounds([one.quality for one in found])
    first, last = found[0].step, found[-1].step or 1
    points = " ".join(
        f"{_at(one.step, first, last):.2f},{100 - _at(one.quality, low, high):.2f}" for one in found
    )
    across = [Tick(_at(value, first, last), f"{value:g}") for value in round_values(first, last)]
    up = [Tick(100 - _at(value, low, high), f"{value:.4g}") for value in round_values(low, high)]
    return Plot(across, up, [Curve("quality", 1, points)])


def _shares(up: bool = False) -> list[Tick]:
    return [Tick(100 - at if up else at, f"{at} %") for at in (0, 25, 50, 75, 100)]


def _line(x: Sequence[float], y: Sequence[float]) -> str:
    return " ".join(
        f"{100 * one:.2f},{100 * (1 - other):.2f}" for one, other in zip(x, y, strict=True)
    )


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * _ROOM or 0.5 * max(abs(low), 1e-6)
    return low - room, high + room


def _at(value: float, low: float, high: float) -> float:
    return 100 * (value - low) / ((high - low) or 1.0)

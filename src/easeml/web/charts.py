"""Where the marks of a chart go. Templates draw them as SVG; all coordinates are percentages, so charts stretch."""

from collections.abc import Sequence

from easeml.contract.resources import Improvement

_SPARK_HEIGHT, _SPARK_WIDTH = 40.0, 200.0


def spark(improvements: Sequence[Improvement], cost: float) -> str:
    """Return the points of a polyline: best quality against cost spent so far, in a box of 200 x 40.

    Empty where there is nothing to draw.
    """
    if not improvements:
        return ""
    qualities = [one.quality for one in improvements]
    low, high = min(qualities), max(qualities)
    width = max(cost, improvements[-1].cost) or 1.0
    span = (high - low) or 1.0

    def y(quality: float) -> float:
        return _SPARK_HEIGHT * (0.9 - 0.8 * (quality - low) / span) if high > low else _SPARK_HEIGHT / 2

    points = [(0.0, y(qualities[0]))]
    for one in improvements:
        x = _SPARK_WIDTH * one.cost / width
        points += [(x, points[-1][1]), (x, y(one.quality))]
    points.append((_SPARK_WIDTH, points[-1][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)

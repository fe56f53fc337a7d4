"""How a trained model does, as figures."""

from dataclasses import dataclass

from easeml.contract.evaluation import Evaluation
from easeml.figures import Axis, Figure, Series, numbers, tone_of

_SHADES = 5  # of a cell of the confusion matrix


@dataclass(frozen=True, slots=True)
class Cell:
    """A count of the confusion matrix. ``shade``: 0 to 5, by its share of the actual class."""

    count: int
    shade: int
    right: bool


def confusion(evaluation: Evaluation) -> list[tuple[str, list[Cell]]]:
    """Return the rows of the confusion matrix: an actual class and its counts."""
    rows = []
    for place, label in enumerate(evaluation.labels):
        counts = evaluation.confusion[place]
        most = sum(counts) or 1
        cells = []
        for predicted, count in enumerate(counts):
            shade = -(-_SHADES * count // most)  # rounded up: one wrong row shows
            cells.append(Cell(count, shade, predicted == place))
        rows.append((label, cells))
    return rows


def roc(evaluation: Evaluation) -> Figure | None:
    """Return the curves of true against false positives, one a class."""
    if not evaluation.roc:
        return None
    series = [_diagonal(0.0, 100.0, "guessing")]
    for place, one in enumerate(evaluation.roc):
        taken = numbers(100 * share for share in one.false_positives)
        found = numbers(100 * share for share in one.true_positives)
        name = f"{one.label}: area {one.area:.3f}"
        series.append(Series(name, taken, found, tone=tone_of(place)))
    return Figure("ROC curves", _percent("others taken for it"), _percent("found"), tuple(series))


def calibration(evaluation: Evaluation) -> Figure | None:
    """Return how often predictions are right against how sure they were, with 95 % intervals."""
    bins = evaluation.calibration
    if not bins:
        return None
    dots = Series(
        "predictions that were so sure",
        numbers(100 * one.confidence for one in bins),
        numbers(100 * one.right for one in bins),
        kind="points",
        tone="accent",
        low=numbers(100 * one.low for one in bins),
        high=numbers(100 * one.high for one in bins),
        notes=tuple(f"{one.rows} rows" for one in bins),
    )
    return Figure(
        "Calibration",
        _percent("how sure it was"),
        _percent("right"),
        (_diagonal(0.0, 100.0, "right as often as it is sure"), dots),
    )


def residuals(evaluation: Evaluation) -> Figure | None:
    """Return predicted against actual values, on equal axes."""
    found = evaluation.residuals
    if not found:
        return None
    actual = numbers(one.actual for one in found)
    predicted = numbers(one.predicted for one in found)
    low, high = min(*actual, *predicted), max(*actual, *predicted)
    room = 0.04 * (high - low) or 0.5 * max(abs(low), 1e-6)
    begin, end = low - room, high + room
    dots = Series("validation row", actual, predicted, kind="points", tone="accent")
    return Figure(
        "Predicted against actual values",
        Axis("actual", low=begin, high=end),
        Axis("predicted", low=begin, high=end),
        (_diagonal(low, high, "no error"), dots),
    )


def learning(evaluation: Evaluation) -> Figure | None:
    """Return the score that the model reported while it learned."""
    found = evaluation.curve
    if len(found) < 2:
        return None
    steps = numbers(one.step for one in found)
    qualities = numbers(one.quality for one in found)
    line = Series("score", steps, qualities, tone="accent")
    return Figure("Learning curve", Axis("step"), Axis("score"), (line,))


def _percent(title: str) -> Axis:
    return Axis(title, "%", low=0.0, high=100.0)


def _diagonal(low: float, high: float, name: str) -> Series:
    return Series(name, (low, high), (low, high), tone="muted", dashed=True, silent=True)

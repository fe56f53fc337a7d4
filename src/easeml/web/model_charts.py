"""How a trained model does, as figures."""

from dataclasses import dataclass

from easeml.contract.evaluation import OTHERS, Evaluation
from easeml.figures import Axis, Figure, Series, numbers
from easeml.figures import evaluation as figures

_SHADES = 5  # of a cell of the confusion matrix


@dataclass(frozen=True, slots=True)
class Cell:
    """A count of the confusion matrix. ``shade``: 0 to 5, by its share of the actual class.

    ``kind``: right, wrong, or mixed, where classes that are shown as one are taken for each other.
    """

    count: int
    shade: int
    kind: str


def confusion(evaluation: Evaluation) -> list[tuple[str, list[Cell]]]:
    """Return the rows of the confusion matrix: an actual class and its counts."""
    rows = []
    for place, label in enumerate(evaluation.labels):
        counts = evaluation.confusion[place]
        most = sum(counts) or 1
        on_diagonal = "mixed" if label == OTHERS else "right"
        cells = []
        for predicted, count in enumerate(counts):
            shade = -(-_SHADES * count // most)  # rounded up: one wrong row shows
            kind = on_diagonal if predicted == place else "wrong"
            cells.append(Cell(count, shade, kind))
        rows.append((label, cells))
    return rows


def roc(evaluation: Evaluation) -> Figure | None:
    """Return the curves of true against false positives, one a class."""
    curves = []
    for one in evaluation.roc:
        curves.append((one.label, one.false_positives, one.true_positives, one.area))
    return figures.roc(curves)


def calibration(evaluation: Evaluation) -> Figure | None:
    """Return how often predictions are right against how sure they were, with 95 % intervals."""
    bins = []
    for one in evaluation.calibration:
        bins.append((one.confidence, one.right, one.low, one.high, one.rows))
    if not bins:
        return None
    confidence, right, low, high, rows = zip(*bins, strict=True)
    return figures.calibration(confidence, right, low, high, rows)


def residuals(evaluation: Evaluation) -> Figure | None:
    """Return predicted against actual values, on equal axes."""
    found = evaluation.residuals
    return figures.residuals([one.actual for one in found], [one.predicted for one in found])


def learning(evaluation: Evaluation) -> Figure | None:
    """Return the score that the model reported while it learned."""
    found = evaluation.curve
    if len(found) < 2:
        return None
    steps = numbers(one.step for one in found)
    qualities = numbers(one.quality for one in found)
    line = Series("score", steps, qualities, tone="accent")
    return Figure("Learning curve", Axis("step"), Axis("score"), (line,))

"""Finding training rows whose label is probably wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.exact_shares import exact_interval
from easeml.lifecycle.held_out import held_out_chances, held_out_numbers
from easeml.lifecycle.labeling.inputs import check_matrix, check_numbers, check_task
from easeml.lifecycle.labeling.label_errors import (
    ASSUMPTION,
    NUMBER_ASSUMPTION,
    SUSPICIOUS,
    LabelErrors,
    check_confidence,
    judge_classes,
    judge_numbers,
)
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.result import Progress


@dataclass(frozen=True)
class Suspects(Result):
    """Training rows by how likely their label is wrong, the most suspicious first.

    All are arrays of equal length.

    ``chances`` are those of the row's own label, in [0, 1], by models that have not seen the row
    (for numbers: that it is right);
    ``wrong`` the probability that the label is wrong; ``suggestions`` are the labels that the
    models find most likely; ``flagged`` marks rows to check. ``precision`` is the share of the
    flagged rows that are wrong, as expected, and ``precision_low`` to ``precision_high`` its 95 %
    interval; without trusted rows it is a guess, and the interval is all of 0 to 1.
    ``assumes``: what the numbers rest on and the data cannot show.
    """

    rows: np.ndarray
    labels: np.ndarray
    suggestions: np.ndarray
    chances: np.ndarray
    wrong: np.ndarray
    flagged: np.ndarray
    precision: float
    precision_low: float
    precision_high: float
    assumes: str | None

    @property
    def advice(self) -> str:
        """What was found, and what to do next."""
        n = int(self.flagged.sum())
        if not n:
            return (
                f"None of {len(self.rows)} labels stands out as wrong; "
                "the table still lists the least likely first."
            )
        verb = "is" if n == 1 else "are"
        found = f"{n} of {len(self.rows)} labels {verb} probably wrong"
        if self.assumes is None:
            sure = (
                f"; about {self.precision:.0%} of these are "
                f"({self.precision_low:.0%} to {self.precision_high:.0%})"
            )
        else:
            sure = (
                f"; perhaps {self.precision:.0%} of these are, "
                "which only rows with trusted labels can measure"
            )
        stop = "stop when several in a row turn out to be right."
        return f"{found}{sure}. Check them from the top; {stop}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a training row, the most suspicious first."""
        import pandas as pd

        return pd.DataFrame(
            {
                "row": self.rows,
                "label": self.labels,
                "suggestion": self.suggestions,
                "chance": self.chances,
                "wrong": self.wrong,
                "flagged": self.flagged,
            }
        )

    def figure(self) -> Figure:
        """Return the chances, flagged rows apart."""
        from easeml.figures.labeling import suspects

        return suspects(self.to_json())


def find_mislabelled(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    confidence: float = SUSPICIOUS,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Suspects:
    """Return training rows in the order in which their labels should be checked.

    A row is judged by models that learned from the other ``folds``, and from trusted rows if there
    are any: `judge_classes` says how likely its label is wrong. Trusted rows are judged alike; how
    many of them are flagged tells how many of the flagged training rows are false alarms.

    Args:
        X: Training rows (n, d).
        y: Their labels (n,), some of them wrong.
        X_valid: Rows with trusted labels, if there are any; both or none.
        y_valid: Their labels.
        confidence: A row is flagged if its label is wrong with at least this probability, in
            (0, 1). A lower one flags more rows, of which fewer are wrong.
        folds: Parts in which rows are judged, at least 2; as many as rows if these are fewer.
        seed: Seed of the parts and models.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    _check_settings(X_valid, y_valid, confidence, folds)
    task = check_task(
        X, y, X if X_valid is None else X_valid, y if y_valid is None else y_valid, k=1
    )
    rows = task.X
    codes = task.y
    n = len(task.X)
    if X_valid is not None:
        rows = np.vstack([rows, task.X_valid])
        codes = np.append(codes, task.y_valid)
    chances = held_out_chances(
        rows,
        codes,
        len(task.classes),
        folds=min(int(folds), len(rows)),
        seed=seed,
        progress=progress,
    )
    found = judge_classes(chances, codes, confidence=confidence)
    own = chances[np.arange(n), task.y]
    labels, suggestions = task.classes[task.y], task.classes[found.suggested[:n]]
    return _suspects(found, labels, suggestions, own, ASSUMPTION)


def find_wrong_numbers(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    confidence: float = SUSPICIOUS,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Suspects:
    """Return training rows in the order in which their numbers should be checked.

    As `find_mislabelled`, for a target of numbers: `judge_numbers` says how likely a number is
    wrong, by how far it lies from what models predict that have not seen its row.

    Args:
        X: Training rows (n, d).
        y: Their numbers (n,), some of them wrong.
        X_valid: Rows with trusted numbers, if there are any; both or none.
        y_valid: Their numbers.
        confidence: A row is flagged if its number is wrong with at least this probability.
        folds: Parts in which rows are judged, at least 2; as many as rows if these are fewer.
        seed: Seed of the parts and models.
        progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    _check_settings(X_valid, y_valid, confidence, folds)
    rows = check_matrix(X, "X")
    values = check_numbers(y, len(rows), "y")
    n = len(rows)
    if n < 2:
        raise InvalidInput("One row cannot be judged by others.", where="X")
    if X_valid is not None:
        trusted = check_matrix(X_valid, "X_valid")
        values = np.append(values, check_numbers(y_valid, len(trusted), "y_valid"))
        if trusted.shape[1] != rows.shape[1]:
            raise InvalidInput(
                f"It has {trusted.shape[1]} columns, X has {rows.shape[1]}.",
                where="X_valid",
                remedy="Encode both with the same encoder, fitted on X.",
            )
        rows = np.vstack([rows, trusted])
    predicted = held_out_numbers(
        rows, values, folds=min(int(folds), len(rows)), seed=seed, progress=progress
    )
    found = judge_numbers(predicted, values, confidence=confidence)
    right = 1 - found.wrong[:n]
    return _suspects(found, values[:n], predicted[:n], right, NUMBER_ASSUMPTION)


def _check_settings(X_valid: Any, y_valid: Any, confidence: float, folds: Any) -> None:
    check_confidence(confidence)
    if (X_valid is None) != (y_valid is None):
        raise InvalidInput("Give both validation rows and their labels, or none.", where="X_valid")
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InvalidInput(
            f"Expected a whole number of at least 2, found {folds!r}.", where="folds"
        )


def _suspects(
    found: LabelErrors,
    labels: np.ndarray,
    suggestions: np.ndarray,
    chances: np.ndarray,
    assumption: str,
) -> Suspects:
    """Return the training rows in order; rows of ``found`` behind them are trusted ones."""
    n = len(labels)
    flagged, trusted = found.flagged[:n], found.flagged[n:]
    precision, low, high = found.precision, 0.0, 1.0
    if len(trusted):
        precision, low, high = _measured_precision(flagged, trusted)
    order = np.lexsort((chances, ~flagged))
    return Suspects(
        rows=order,
        labels=labels[order],
        suggestions=suggestions[order],
        chances=chances[order],
        wrong=found.wrong[:n][order],
        flagged=flagged[order],
        precision=precision,
        precision_low=low,
        precision_high=high,
        assumes=None if len(trusted) else assumption,
    )


def _measured_precision(flagged: np.ndarray, false: np.ndarray) -> tuple[float, float, float]:
    """Return the share of flagged rows that are wrong, and its 95 % interval.

    Both follow from how many trusted rows are flagged, whose labels are all right (Clopper and
    Pearson, 1934).
    """
    alarms = int(false.sum())
    trusted = len(false)
    if not flagged.any():
        return float("nan"), 0.0, 1.0
    least, most = exact_interval(alarms, trusted, tail=0.025)

    def precision(rate: float) -> float:
        return max(0.0, 1 - rate * len(flagged) / int(flagged.sum()))

    return precision(alarms / trusted), precision(most), precision(least)

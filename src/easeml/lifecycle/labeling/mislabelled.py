"""Finding training rows whose label is probably wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import held_out_chances
from easeml.lifecycle.labeling.inputs import check_task
from easeml.lifecycle.labeling.label_errors import (
    ASSUMPTION,
    SUSPICIOUS,
    check_confidence,
    judge_classes,
)
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.result import Progress


@dataclass(frozen=True)
class Suspects(Result):
    """Training rows by how likely their label is wrong, the most suspicious first: arrays of equal
    length.

    ``chances`` are those of the row's own label, in [0, 1], by models that have not seen the row;
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
    check_confidence(confidence)
    if (X_valid is None) != (y_valid is None):
        raise InvalidInput("Give both validation rows and their labels, or none.", where="X_valid")
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InvalidInput(
            f"Expected a whole number of at least 2, found {folds!r}.", where="folds"
        )
    task = check_task(
        X, y, X if X_valid is None else X_valid, y if y_valid is None else y_valid, k=1
    )
    rows, codes, n = task.X, task.y, len(task.X)
    if X_valid is not None:
        rows, codes = np.vstack([rows, task.X_valid]), np.append(codes, task.y_valid)
    chances = held_out_chances(
        rows,
        codes,
        len(task.classes),
        folds=min(int(folds), len(rows)),
        seed=seed,
        progress=progress,
    )
    found = judge_classes(chances, codes, confidence=confidence)

    precision, low, high = found.precision, 0.0, 1.0
    if X_valid is not None:
        precision, low, high = _measured_precision(found.flagged[:n], found.flagged[n:])
    own = chances[np.arange(n), task.y]
    flagged, wrong = found.flagged[:n], found.wrong[:n]
    order = np.lexsort((own, ~flagged))
    return Suspects(
        rows=order,
        labels=task.classes[task.y][order],
        suggestions=task.classes[found.suggested[:n]][order],
        chances=own[order],
        wrong=wrong[order],
        flagged=flagged[order],
        precision=precision,
        precision_low=low,
        precision_high=high,
        assumes=ASSUMPTION if X_valid is None else None,
    )


def _measured_precision(flagged: np.ndarray, false: np.ndarray) -> tuple[float, float, float]:
    """Return the share of flagged rows that are wrong, and its 95 % interval (Clopper and Pearson,
    1934), from how many trusted rows are flagged, whose labels are all right.
    """
    from scipy.stats import beta

    alarms, trusted = int(false.sum()), len(false)
    if not flagged.any():
        return float("nan"), 0.0, 1.0
    least = float(beta.ppf(0.025, alarms, trusted - alarms + 1)) if alarms else 0.0
    most = float(beta.ppf(0.975, alarms + 1, trusted - alarms)) if alarms < trusted else 1.0

    def precision(rate: float) -> float:
        return max(0.0, 1 - rate * len(flagged) / int(flagged.sum()))

    return precision(alarms / trusted), precision(most), precision(least)

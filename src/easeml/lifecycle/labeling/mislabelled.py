"""Finding training rows whose label is probably wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import held_out_chances
from easeml.lifecycle.labeling._inputs import check_task
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
    ``suggestions`` are the labels that these find most likely; ``flagged`` marks rows whose
    suggestion is ``odds`` times as likely.
    """

    rows: np.ndarray
    labels: np.ndarray
    suggestions: np.ndarray
    chances: np.ndarray
    flagged: np.ndarray
    odds: float

    @property
    def advice(self) -> str:
        n = int(self.flagged.sum())
        if not n:
            return (
                f"None of {len(self.rows)} labels is wrong beyond doubt; "
                "the table still lists the least likely first."
            )
        return (
            f"{n} of {len(self.rows)} labels {'is' if n == 1 else 'are'} probably wrong. Check them from the top; "
            "stop when several in a row turn out to be right."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a training row, the most suspicious first."""
        import pandas as pd

        names = ("rows", "labels", "suggestions", "chances", "flagged")
        heads = ("row", "label", "suggestion", "chance", "flagged")
        return pd.DataFrame(
            {head: getattr(self, name) for head, name in zip(heads, names, strict=True)}
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
    odds: float = 5.0,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
) -> Suspects:
    """Return training rows in the order in which their labels should be checked.

    A row is judged by models that learned from the other ``folds``, and from the trusted rows if
    there are any: the less likely its own label, the earlier it comes (self-confidence: Northcutt
    et al., Confident Learning, JAIR 2021). It is flagged if they find another label ``odds`` times
    as likely. A class of under ``folds`` rows is never flagged: there is too little to learn it
    from.

    Args: X: Training rows (n, d). y: Their labels (n,), some of them wrong. X_valid: Rows with
        trusted labels, if there are any; both or none. y_valid: Their labels. odds: How much more
        likely than its own label another has to be for a row to be flagged; above 1. folds: Parts
        in which rows are judged, at least 2; as many as rows if these are fewer. seed: Seed of the
        parts and models. progress: Called with the share of the work that is done.

    Raises:
        InvalidInput: if the inputs do not fit each other, are empty or not finite.
    """
    if not odds > 1:
        raise InvalidInput(f"Expected a number above 1, found {odds!r}.", where="odds")
    if (X_valid is None) != (y_valid is None):
        raise InvalidInput("Give both validation rows and their labels, or none.", where="X_valid")
    task = check_task(
        X, y, X if X_valid is None else X_valid, y if y_valid is None else y_valid, k=1
    )
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise InvalidInput(
            f"Expected a whole number of at least 2, found {folds!r}.", where="folds"
        )
    n, classes = len(task.X), len(task.classes)
    trusted = None if X_valid is None else (task.X_valid, task.y_valid)
    chances = held_out_chances(
        task.X, task.y, classes, trusted, folds=min(int(folds), n), seed=seed, progress=progress
    )
    own, suggested = chances[np.arange(n), task.y], chances.argmax(axis=1)
    seen = np.bincount(
        task.y if trusted is None else np.append(task.y, trusted[1]), minlength=classes
    )[task.y]
    flagged = (chances.max(axis=1) >= odds * own) & (suggested != task.y) & (seen >= folds)
    order = np.lexsort((own, ~flagged))
    labels, suggestions = task.classes[task.y], task.classes[suggested]
    return Suspects(
        order, labels[order], suggestions[order], own[order], flagged[order], float(odds)
    )

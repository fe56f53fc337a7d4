"""Finding training rows whose label looks wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
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
from easeml.lifecycle.labeling.precision import by_checks, by_trusted
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.result import Progress


DRAWN = 20  # flagged rows, whose right labels tell how many of all flagged ones are wrong


@dataclass(frozen=True)
class Suspects(Result):
    """Training rows by how likely their label is wrong, the most suspicious first.

    All are arrays of equal length.

    ``chances`` are those of the row's own label, in [0, 1], by models that have not seen the row
    (for numbers: that it is right);
    ``wrong`` the probability that the label is wrong, if what is assumed is so; ``suggestions`` are
    the labels that the models find most likely; ``flagged`` marks rows to check. ``check`` numbers
    up to 20 of these, drawn at random, from 1 on (0: not drawn): the first to be checked, where it
    shall be known how many of all flagged ones are wrong. ``precision`` is that share, and
    ``precision_low`` to ``precision_high`` its 95 % interval. Only labels that somebody trusts can
    measure it: without checked or trusted rows it is NaN, and the interval all of 0 to 1.
    ``checked``: how many checked rows it rests on. ``assumes``: what ``wrong`` rests on and the
    data cannot show; None where the precision was measured.
    """

    rows: np.ndarray
    labels: np.ndarray
    suggestions: np.ndarray
    chances: np.ndarray
    wrong: np.ndarray
    flagged: np.ndarray
    check: np.ndarray
    precision: float
    precision_low: float
    precision_high: float
    checked: int
    assumes: str | None

    @property
    def advice(self) -> str:
        """What was found, and what to do next."""
        n = int(self.flagged.sum())
        if not n:
            return (
                f"None of {len(self.rows):,} labels stands out as wrong; "
                "the table still lists the least likely first."
            )
        verb = "looks" if n == 1 else "look"
        stop = "Check them from the top; stop when several in a row turn out to be right."
        return f"{n:,} of {len(self.rows):,} labels {verb} wrong{self._how_many()} {stop}"

    def _how_many(self) -> str:
        """Return what is known of how many flagged labels are wrong, as the end of a sentence."""
        if self.assumes is None:
            return self._as_measured()
        drawn = int((self.check > 0).sum())
        return (
            ". The rows alone cannot tell how many of these are: a right label that the inputs do "
            f"not decide looks the same. The {drawn:,} rows with a number in 'check' were drawn at "
            "random; their right labels would tell."
        )

    def _as_measured(self) -> str:
        n = int(self.flagged.sum())
        if self.checked == n:
            return f". All were checked: {round(self.precision * n)} of them are wrong."
        share = f"about {self.precision:.0%} of these are"
        between = f"{self.precision_low:.0%} to {self.precision_high:.0%}"
        by = ", by trusted rows, if these came as the others did"
        if self.checked:
            by = f", by the {self.checked:,} that were checked"
        return f"; {share} ({between}{by})."

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
                "check": self.check,
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
    checked: Mapping[int, Any] | None = None,
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
        checked: The right labels of rows that somebody has checked, by the numbers of these rows in
            X. Those that ``check`` numbers, from 1 on up to the first that is left out, measure
            the precision.
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
    return _suspects(found, labels, suggestions, own, ASSUMPTION, checked or {}, seed)


def find_wrong_numbers(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    confidence: float = SUSPICIOUS,
    checked: Mapping[int, Any] | None = None,
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
        checked: As of `find_mislabelled`.
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
    return _suspects(
        found, values[:n], predicted[:n], right, NUMBER_ASSUMPTION, checked or {}, seed
    )


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
    checked: Mapping[int, Any],
    seed: int,
) -> Suspects:
    """Return the training rows in order; rows of ``found`` behind them are trusted ones."""
    n = len(labels)
    flagged, trusted = found.flagged[:n], found.flagged[n:]
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(flagged))[:DRAWN]
    check = np.zeros(n, dtype=np.int64)
    check[drawn] = np.arange(1, len(drawn) + 1)

    usable = _answered(drawn, checked)
    of_checks = [checked[row] != labels[row] for row in usable]
    precision = by_checks(sum(of_checks), len(usable), int(flagged.sum()))
    if not usable:
        precision = by_trusted(int(trusted.sum()), len(trusted), int(flagged.sum()), n)
    order = np.lexsort((chances, ~flagged))
    return Suspects(
        rows=order,
        labels=labels[order],
        suggestions=suggestions[order],
        chances=chances[order],
        wrong=found.wrong[:n][order],
        flagged=flagged[order],
        check=check[order],
        precision=precision.value,
        precision_low=precision.low,
        precision_high=precision.high,
        checked=len(usable),
        assumes=None if precision.is_measured else assumption,
    )


def _answered(drawn: np.ndarray, checked: Mapping[int, Any]) -> list[int]:
    """Return the drawn rows that were checked, up to the first that was not.

    Whoever leaves one out may have chosen: those behind it are no random ones any more. Those
    before it are the first of a random order, of which `by_checks` holds however many they are.
    """
    answered = []
    for row in drawn.tolist():
        if row not in checked:
            break
        answered.append(row)
    return answered

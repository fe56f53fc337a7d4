"""How likely each label is wrong, by what models that have not seen its row say of it.

Pure functions of held-out predictions: `find_mislabelled` calls them on tables, and a task of the
service on the rows of an application.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.held_out import Unseen

SUSPICIOUS = 0.33
LEAST_OF_CLASS = 5  # a class of fewer rows cannot be learned
SUREST = 0.25
LEAST_SURE = 50
MOST_NOISE = 0.45
LEAST_SURE_OF_CLASS = 20
BELIEF = 100.0  # rows for which the noise of all classes counts in that of one
SURE_CELL = 1e-3  # a chance below this is not believed
DEGREES = (2.0, 3.0, 5.0, 10.0, 30.0)
STEPS = 100
SURE_OF_GAIN = 2.0  # standard errors by which models have to tell more than the shares of classes
FIRST_SHARE = 0.05  # of wrong numbers, from which on it is fitted
FAR = 3.0  # times the median error, from which on a number may be wrong

ASSUMPTION = (
    "wrong labels are spread evenly, and the inputs decide the label of the rows that the models "
    "are surest of"
)

NUMBER_ASSUMPTION = (
    "errors of right numbers have one scale for all rows, and wrong numbers are off by more than "
    "three times the median error, spread evenly"
)


@dataclass(frozen=True)
class LabelErrors:
    """What held-out predictions say of n labels; one entry a row.

    ``wrong``: probability that the label is wrong, in [0, 1], NaN for a class of under five rows;
    ``suggested``: the class code, or number, that the models find most likely; ``flagged``: is
    ``wrong`` at least the confidence that was asked for?
    """

    wrong: np.ndarray
    suggested: np.ndarray
    flagged: np.ndarray

    @property
    def expected_wrong(self) -> float:
        """How many of all labels are wrong, if what ``ASSUMPTION`` says is so."""
        return float(np.nansum(self.wrong))

    @property
    def supposed_precision(self) -> float:
        """Share of the flagged labels that are wrong, if what ``ASSUMPTION`` says is so.

        NaN where none is flagged. The labels themselves cannot show whether it is: where all are
        right, those that surprise are flagged, too. So it is no estimate to be shown.
        """
        if self.flagged.any():
            return float(self.wrong[self.flagged].mean())
        return float("nan")


def judge_answers(
    answers: pd.Series, unseen: Unseen, *, confidence: float = SUSPICIOUS
) -> LabelErrors:
    """Judge answers, categories or numbers, by what models say that have not seen their rows."""
    if unseen.chances is None and unseen.classes is None:
        numbers = np.asarray(unseen.values, dtype=float)
        values = answers.to_numpy(dtype=float)
        return judge_numbers(numbers, values, unseen.widths, confidence=confidence)
    categories = answers.cat.categories.astype(str)
    codes = answers.cat.codes.to_numpy().astype(np.int64)
    if unseen.chances is None:  # the model says a class only
        votes = categories.get_indexer(np.asarray(unseen.values).astype(str))
        chances = chances_of_votes(votes, codes, len(categories))
    else:
        chances = np.zeros((len(answers), len(categories)))
        names = np.asarray(unseen.classes).astype(str)
        chances[:, categories.get_indexer(names)] = unseen.chances
    return judge_classes(chances, codes, confidence=confidence)


def judge_classes(
    chances: np.ndarray, codes: np.ndarray, *, confidence: float = SUSPICIOUS
) -> LabelErrors:
    """Judge labels by the class chances that models gave which have not seen the rows.

    The chances are calibrated on the labels as they are (temperature scaling; Guo et al., ICML
    2017). The share of wrong labels is the disagreement on the quarter of the rows (50 at least)
    that the models are surest of (anchor points; Liu and Tao, TPAMI 2016): too many where the
    inputs do not decide these labels, too few where wrong labels are elsewhere. The labels of the
    surest rows of each class move its share, and where its wrong labels go, away from that of all
    classes, spread evenly. Bayes' rule then gives the probability of a wrong label. No row is
    flagged where the models surely tell no more of the labels than how frequent each is.

    Args:
        chances: held-out class chances (n, C); rows sum to 1.
        codes: labels (n,), in 0 .. C - 1.
        confidence: least probability of being wrong at which a row is flagged, in (0, 1).

    Raises:
        InvalidInput: if shapes do not fit, or the confidence is not in (0, 1).
    """
    check_confidence(confidence)
    n, classes = _shape(chances)
    if codes.shape != (n,):
        raise InvalidInput(f"{n} rows of chances and {codes.shape} labels do not fit.")
    suggested = chances.argmax(axis=1)
    if classes < 2:
        return LabelErrors(np.zeros(n), suggested, np.zeros(n, dtype=bool))

    fair = calibrated(chances, codes)
    wrong = _wrong_by_bayes(fair, codes, noise_of_classes(fair, codes))
    learned = np.bincount(codes, minlength=classes) >= LEAST_OF_CLASS
    flagged = (wrong >= confidence) & (suggested != codes) & learned[codes]
    flagged &= tell_labels(fair, codes)
    return LabelErrors(np.where(learned[codes], wrong, np.nan), suggested, flagged)


def judge_numbers(
    predicted: np.ndarray,
    values: np.ndarray,
    widths: np.ndarray | None = None,
    *,
    confidence: float = SUSPICIOUS,
) -> LabelErrors:
    """Judge numbers by predictions of models that have not seen the rows.

    Errors of right values follow Student's t (which allows for heavy tails), those of wrong ones
    are uniform over the errors above three times the median; share, scale and degrees of freedom
    are those of the greatest likelihood (expectation maximisation; McLachlan and Peel, Finite
    Mixture Models, 2000, chapter 7). Few errors are fitted better by two laws than by one whatever
    they are, so the chance that any value is wrong is weighed by the Bayesian information criterion
    (Schwarz, Annals of Statistics, 1978).

    Args:
        predicted: held-out predictions (n,).
        values: the numbers (n,) to judge.
        widths: what errors (n,) are divided by, above 0; one that is infinite judges nothing.
        confidence: as of `judge_classes`.

    Raises:
        InvalidInput: if shapes do not fit, or the confidence is not in (0, 1).
    """
    check_confidence(confidence)
    if predicted.shape != values.shape or values.ndim != 1:
        raise InvalidInput(f"Predictions {predicted.shape} and values {values.shape} do not fit.")
    errors = np.abs(values - predicted)
    if widths is not None:
        errors = errors / widths
    wrong = _outlying(errors)
    return LabelErrors(wrong, predicted, wrong >= confidence)


def chances_of_votes(votes: np.ndarray, codes: np.ndarray, classes: int) -> np.ndarray:
    """Return chances (n, classes) for a model that gives none: how often its vote was right.

    Args:
        votes: held-out class codes (n,).
        codes: labels (n,).
        classes: how many classes there are.
    """
    right = (float((votes == codes).sum()) + 1) / (len(codes) + 2)
    chances = np.full((len(codes), classes), (1 - right) / max(1, classes - 1))
    chances[np.arange(len(codes)), votes] = right
    return chances


def check_confidence(confidence: float) -> None:
    """Raise InvalidInput unless ``confidence`` is in (0, 1)."""
    if not 0 < confidence < 1:
        raise InvalidInput(
            f"Expected a number between 0 and 1, found {confidence!r}.", where="confidence"
        )


def calibrated(chances: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the chances, sharpened or flattened by one exponent so that the labels are likeliest.

    Args:
        chances: (n, C).
        codes: labels (n,).
    """
    from scipy.optimize import minimize_scalar

    logs = np.log(np.clip(chances, SURE_CELL, 1))
    rows = np.arange(len(codes))

    def loss(exponent: float) -> float:
        return -float(np.log(_softmax(logs * np.exp(exponent))[rows, codes]).mean())

    best = minimize_scalar(loss, bounds=(-1.5, 2.0), method="bounded")
    return _softmax(logs * np.exp(best.x))


def tell_labels(chances: np.ndarray, codes: np.ndarray) -> bool:
    """Tell whether chances surely say more of the labels than the shares of the classes do.

    By the mean chance of a row's own label, and its standard error over the rows.
    """
    rows = len(codes)
    shares = np.bincount(codes, minlength=chances.shape[1]) / rows
    gains = chances[np.arange(rows), codes] - shares[codes]
    return bool(gains.mean() > SURE_OF_GAIN * gains.std() / np.sqrt(rows))


def noise_rate(chances: np.ndarray, codes: np.ndarray) -> float:
    """Return the share of wrong labels among the rows that the models are surest of.

    Half an error is added, so that a clean sample is not taken for proof; at most .45.
    """
    size = min(len(codes), max(LEAST_SURE, round(SUREST * len(codes))))
    surest = np.argsort(-chances.max(axis=1), kind="stable")[:size]
    different = int((chances[surest].argmax(axis=1) != codes[surest]).sum())
    return min(MOST_NOISE, (different + 0.5) / (size + 1))


def noise_of_classes(chances: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return (C, C) how often a row of a class (first axis) is labelled as each.

    Of the rows that are taken for a class, the surest quarter (20 at least) shows it; ``noise_rate``,
    spread evenly, counts as ``BELIEF`` rows more.
    """
    classes = chances.shape[1]
    noise = noise_rate(chances, codes)
    rates = np.full((classes, classes), noise / (classes - 1))
    np.fill_diagonal(rates, 1 - noise)
    taken = chances.argmax(axis=1)
    sure = chances.max(axis=1)
    for one in range(classes):
        rows = np.flatnonzero(taken == one)
        size = max(LEAST_SURE_OF_CLASS, round(SUREST * len(rows)))
        surest = rows[np.argsort(-sure[rows], kind="stable")[:size]]
        seen = np.bincount(codes[surest], minlength=classes)
        rates[one] = (seen + BELIEF * rates[one]) / (len(surest) + BELIEF)
    return rates


def _wrong_by_bayes(chances: np.ndarray, codes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return P(wrong | row, label), where chances are those of the label as it was written.

    ``rates``: as ``noise_of_classes`` has them.
    """
    true = np.linalg.lstsq(rates.T, chances.T, rcond=None)[0].T
    true = np.clip(true, 2 * SURE_CELL, None)
    true /= true.sum(axis=1, keepdims=True)
    labelled_so = true * rates[:, codes].T
    right = labelled_so[np.arange(len(codes)), codes]
    return 1 - right / labelled_so.sum(axis=1)


def _outlying(errors: np.ndarray) -> np.ndarray:
    """Return the probability that each of n absolute errors is one of a wrong value."""
    rows = len(errors)
    widest = float(errors.max(initial=0.0))
    nearest = FAR * max(float(np.median(errors)), 1e-3 * widest) if rows else 0.0
    if widest <= nearest:
        return np.zeros(rows)
    of_right = max(_mixture(errors, nearest, degrees, 0.0)[0] for degrees in DEGREES)
    fits = [_mixture(errors, nearest, degrees, FIRST_SHARE) for degrees in DEGREES]
    likelihood, wrong = max(fits, key=itemgetter(0))
    # The share of wrong values is one more number that was fitted.
    odds = np.exp(of_right - likelihood) * np.sqrt(rows)
    return wrong / (1 + odds)


def _mixture(
    errors: np.ndarray, nearest: float, degrees: float, share: float
) -> tuple[float, np.ndarray]:
    """Return the log likelihood of the mixture with given degrees of freedom, and P(wrong).

    ``nearest``: the least error of a wrong value. ``share``: of wrong values, to begin with; 0
    stays 0.
    """
    widest = float(errors.max())
    smallest = 1e-3 * widest
    scale = max(float(np.median(errors)), smallest)
    uniform = (errors >= nearest) / (widest - nearest)
    for _ in range(STEPS):
        density = (1 - share) * _density_of_right(errors, scale, degrees)
        wrong = _part_of(share * uniform, density)
        weights = (1 - wrong) * (degrees + 1) / (degrees + (errors / scale) ** 2)
        square = float((weights * errors**2).sum() / max((1 - wrong).sum(), 1e-9))
        scale = max(np.sqrt(square), smallest)
        share = min(MOST_NOISE, float(wrong.mean()))

    density = (1 - share) * _density_of_right(errors, scale, degrees)
    amiss = share * uniform
    return float(np.log(amiss + density).sum()), _part_of(amiss, density)


def _density_of_right(errors: np.ndarray, scale: float, degrees: float) -> np.ndarray:
    from scipy.stats import t

    return 2 * t.pdf(errors / scale, degrees) / scale


def _part_of(amiss: np.ndarray, right: np.ndarray) -> np.ndarray:
    return amiss / (amiss + right)


def _softmax(logs: np.ndarray) -> np.ndarray:
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _shape(chances: np.ndarray) -> tuple[int, int]:
    if chances.ndim != 2:
        raise InvalidInput(f"Expected chances (rows, classes), found shape {chances.shape}.")
    return chances.shape[0], chances.shape[1]

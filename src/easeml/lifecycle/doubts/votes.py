"""Weak supervision: labels from the votes of functions that are wrong now and then.

``votes_of`` asks labelling functions, ``label_model`` works out how good each is and how likely
each label. (Dawid and Skene, Applied Statistics 1979; Ratner et al., VLDB 2017; triplets: Fu et
al., ICML 2020.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.labels import is_missing
from easeml.relation.expressions import parse

if TYPE_CHECKING:
    import pandas as pd

ABSTAINS = -1
"""What a function says that says nothing."""
METHODS = ("auto", "majority", "triplets", "dawid-skene")

LabelFunction = Callable[[Any], Sequence[Any]] | Mapping[str, Any]
"""A function of a frame that gives a label or None a row, or a description (``votes_of``)."""

_ROUNDS = 200  # of expectation and maximisation
_STILL = 1e-5  # change of a probability at which the rounds end
_DRAWS = 40  # of rows, for intervals
_FEWEST = 10  # rows on which two functions vote before they are compared
_LIMIT = 0.99  # accuracies are not believed beyond
_LIKE_OTHERS = 5.0  # imagined votes a class, as those of all functions
_MOSTLY = 0.9  # how likely an imagined vote is right
_SLIGHT = 1e-12  # a probability of what never comes


@dataclass(frozen=True)
class LabelModel:
    """What the votes say.

    ``probabilities`` (N, K): of each class for each row; the prior where all functions abstain.
    ``accuracies`` (L,): how often each function is right where it votes, with ``low`` and ``high``
    (L,), bounds at 90 % from rows drawn again. ``coverage`` (L,): share of rows where it votes.
    ``prior`` (K,). ``method``: one of ``METHODS``.
    """

    probabilities: np.ndarray
    accuracies: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coverage: np.ndarray
    prior: np.ndarray
    method: str


def votes_of(
    functions: Sequence[LabelFunction], frame: pd.DataFrame, classes: Sequence[Any]
) -> np.ndarray:
    """Return (N, L) what each function says: the number of a class, -1 where it abstains.

    A function takes the frame and gives a label or None for each row. A description has ``label``,
    and one of ``when`` (a condition over columns), ``pattern`` with ``column`` (a regular
    expression), or ``words`` with ``column`` (any of these, whatever their case).

    Raises:
        InvalidInput: naming the function, where it cannot be asked or names another label.
    """
    number = {label: place for place, label in enumerate(classes)}
    votes = np.full((len(frame), len(functions)), ABSTAINS)
    for place, function in enumerate(functions):
        where = f"labelling function {place}"
        said = _said(function, frame, where)
        for row, label in enumerate(said):
            if is_missing(label):
                continue
            if label not in number:
                raise InvalidInput(
                    f"says {label!r}, which is not a label.",
                    where=where,
                    remedy=f"Use {', '.join(map(repr, classes))}, or None to abstain.",
                )
            votes[row, place] = number[label]
    return votes


def label_model(
    votes: np.ndarray,
    classes: int,
    *,
    known: np.ndarray | None = None,
    method: str = "auto",
    seed: int = 0,
) -> LabelModel:
    """Work out labels and the accuracy of each function from what they say.

    Args:
        votes: (N, L) numbers of classes, -1 where a function abstains.
        classes: K, at least 2.
        known: (N,) the class of rows whose label is known, -1 elsewhere. These calibrate.
        method: "majority"; "triplets" (two classes: accuracies from the agreement of three
            functions); "dawid-skene" (confusions by expectation and maximisation); "auto": the
            last where at least three functions vote on the same rows or labels are known, else the
            first, as the accuracies of fewer cannot be known.
        seed: of the draws behind the intervals.

    Raises:
        InvalidInput: where the arguments do not fit each other.
    """
    known = np.full(len(votes), ABSTAINS) if known is None else np.asarray(known)
    _check(votes, classes, known, method)
    chosen = _chosen(votes, known) if method == "auto" else method
    # Rows with the same votes are one pattern that counts as often as it comes.
    patterns, place = np.unique(np.column_stack([votes, known]), axis=0, return_inverse=True)
    place = place.ravel()
    table, truth = patterns[:, :-1], patterns[:, -1]
    counts = np.bincount(place).astype(float)
    probabilities, prior = _fitted(chosen, table, truth, counts, classes)
    accuracies = _accuracies(table, probabilities, counts)
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(_DRAWS):
        again = generator.multinomial(len(votes), counts / counts.sum()).astype(float)
        shares, _ = _fitted(chosen, table, truth, again, classes, probabilities)
        drawn.append(_accuracies(table, shares, again))
    low, high = np.nanquantile(np.array(drawn), [0.05, 0.95], axis=0)
    return LabelModel(
        probabilities=probabilities[place],
        accuracies=accuracies,
        low=np.minimum(low, accuracies),
        high=np.maximum(high, accuracies),
        coverage=(votes != ABSTAINS).mean(axis=0),
        prior=prior,
        method=chosen,
    )


def _said(function: LabelFunction, frame: pd.DataFrame, where: str) -> Sequence[Any]:
    """Return what a function says of each row. Raises InvalidInput."""
    if callable(function):
        said = list(function(frame))
        if len(said) != len(frame):
            raise InvalidInput(f"gives {len(said)} labels for {len(frame)} rows.", where=where)
        return said
    if "label" not in function:
        raise InvalidInput("has no label.", where=where, remedy="Write label = ...")
    label = function["label"]
    return [label if meets else None for meets in _truths(function, frame, where)]


def _truths(function: Mapping[str, Any], frame: pd.DataFrame, where: str) -> list[bool]:
    """Return for each row whether a description fits."""
    if "when" in function:
        condition = parse(function["when"])
        columns = {name: pa.array(_column(frame, name, where)) for name in condition.columns}
        return condition.holds(columns, len(frame)).to_pylist()
    if "pattern" in function:
        pattern = re.compile(function["pattern"])
    elif "words" in function:
        words = "|".join(map(re.escape, function["words"]))
        pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    else:
        raise InvalidInput("says nothing.", where=where, remedy="Give when, pattern or words.")
    texts = _column(frame, function.get("column", ""), where).fillna("").astype(str)
    return [pattern.search(text) is not None for text in texts]


def _column(frame: pd.DataFrame, name: str, where: str) -> Column:
    if name not in frame:
        raise InvalidInput(f"There is no column {name!r}.", where=where)
    return frame[name]


def _check(votes: np.ndarray, classes: int, known: np.ndarray, method: str) -> None:
    if method not in METHODS:
        raise InvalidInput(f"There is no method {method!r}.", remedy=f"Use {', '.join(METHODS)}.")
    if classes < 2:
        raise InvalidInput("There are fewer than two labels.", remedy="Name all that there are.")
    if votes.ndim != 2 or votes.size == 0 or len(known) != len(votes):
        raise InvalidInput("There are no votes, or not one known label or -1 a row.", where="votes")
    outside = (votes < ABSTAINS) | (votes >= classes)
    if outside.any():
        raise InvalidInput("A vote is for no class.", where="votes")
    if method == "triplets" and (classes != 2 or votes.shape[1] < 3):
        raise InvalidInput(
            "Triplets need two classes and three functions.", remedy='Use method="auto".'
        )


def _chosen(votes: np.ndarray, known: np.ndarray) -> str:
    """Return the method for what can be known: three functions that can be compared, or labels."""
    voting = (votes != ABSTAINS).astype(int)
    together = (voting.T @ voting) >= _FEWEST
    comparable = int((together.sum(axis=1) >= 3).sum())
    calibrated = int((known != ABSTAINS).sum()) >= _FEWEST
    return "dawid-skene" if comparable >= 3 or calibrated else "majority"


Fitted = tuple[np.ndarray, np.ndarray]
"""Probabilities (P, K) of each pattern's classes, and the prior (K,)."""


def _majority(votes: np.ndarray, known: np.ndarray, counts: np.ndarray, classes: int) -> Fitted:
    """Share the vote, with one vote in all spread over the classes, so that none is certain."""
    tallies = np.full((len(votes), classes), 1.0 / classes)
    for label in range(classes):
        tallies[:, label] += (votes == label).sum(axis=1)
    silent = (votes == ABSTAINS).all(axis=1)
    shares = tallies / tallies.sum(axis=1, keepdims=True)
    prior = _prior(_clamped(shares, known), np.where(silent, 0.0, counts))
    shares[silent] = prior
    return _clamped(shares, known), prior


def _triplets(votes: np.ndarray, known: np.ndarray, counts: np.ndarray, classes: int) -> Fitted:
    """Accuracies from products of agreements: E[ab] E[ac] / E[bc] is the square of a's.

    The sign is that of functions which are better than chance.
    """
    signs = np.where(votes == ABSTAINS, 0.0, 2.0 * votes - 1.0)
    voting = (signs != 0).astype(float)
    both = (voting * counts[:, None]).T @ voting
    agree = (signs * counts[:, None]).T @ signs / np.maximum(both, 1.0)
    functions = votes.shape[1]
    strengths = np.zeros(functions)
    for one in range(functions):
        squares = _squares(agree, both, one)
        strengths[one] = np.sqrt(np.clip(np.median(squares), 0.0, 1.0)) if squares else 0.0
    right = np.clip((1 + strengths) / 2, 1 - _LIMIT, _LIMIT)
    scores = signs @ np.log(right / (1 - right))
    chance = 1 / (1 + np.exp(-scores))
    shares = np.column_stack([1 - chance, chance])
    prior = _prior(shares, np.where(scores == 0, 0.0, counts))
    return _clamped(shares, known), prior


def _squares(agree: np.ndarray, both: np.ndarray, one: int) -> list[float]:
    """Return what each pair of other functions says of the square of a function's strength."""
    others = np.delete(np.arange(len(agree)), one)
    found = []
    for third, second in combinations(others, 2):
        seen = min(both[one, second], both[one, third], both[second, third])
        if seen >= _FEWEST and abs(agree[second, third]) > 0.01:
            found.append(agree[one, second] * agree[one, third] / agree[second, third])
    return found


def _dawid_skene(
    votes: np.ndarray,
    known: np.ndarray,
    counts: np.ndarray,
    classes: int,
    start: np.ndarray | None = None,
) -> Fitted:
    """Expectation and maximisation of confusions and prior, from ``start`` or the majority."""
    shares = start
    if shares is None:
        shares, _ = _majority(votes, known, counts, classes)
    told = _one_hot(votes, classes)
    one_sided = _one_sided(votes, classes)
    prior = _prior(shares, counts)
    for _ in range(_ROUNDS):
        prior = _prior(shares, counts)
        logs = np.log(prior) + told @ np.log(_confusions(told, shares, counts, one_sided)).T
        before = shares
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares = _clamped(shares / shares.sum(axis=1, keepdims=True), known)
        if np.abs(shares - before).max() < _STILL:
            break
    return shares, prior


def _one_sided(votes: np.ndarray, classes: int) -> np.ndarray:
    """Return (L, K): whether a class is the only one that a function ever votes for."""
    votes_for = (votes[:, :, None] == np.arange(classes)).any(axis=0)
    return votes_for & (votes_for.sum(axis=1, keepdims=True) == 1)


def _one_hot(votes: np.ndarray, classes: int) -> np.ndarray:
    """Return (P, L * (K + 1)): 1 where a function votes for a class.

    What a function that votes for one class only says of a row is whether it votes at all, so its
    silence is an outcome, too: the last one. Where all are silent nothing is said.
    """
    told = np.zeros((*votes.shape, classes + 1))
    told[:, :, :classes] = votes[:, :, None] == np.arange(classes)
    one_sided = _one_sided(votes, classes).any(axis=1)
    heard = (votes != ABSTAINS).any(axis=1)
    told[:, :, classes] = (votes == ABSTAINS) & one_sided & heard[:, None]
    return told.reshape(len(votes), -1)


def _confusions(
    told: np.ndarray, shares: np.ndarray, counts: np.ndarray, one_sided: np.ndarray
) -> np.ndarray:
    """Return (K, L * (K + 1)) how likely each function says each outcome, by the true class.

    ``_LIKE_OTHERS`` imagined votes a class are added to what was seen, right as often as those of
    all functions: few votes do not tell a good function from a poor one. Functions that vote for
    one class only (``one_sided``, (L, K)) get one imagined outcome: mostly a vote where the class
    is true, mostly silence elsewhere.
    """
    classes = shares.shape[1]
    functions = len(one_sided)
    seen = ((shares * counts[:, None]).T @ told).reshape(classes, functions, classes + 1)
    imagined = np.zeros_like(seen)
    imagined[:, :, :classes] = _LIKE_OTHERS * _shared_confusion(seen, one_sided)[:, None, :]
    for function in np.flatnonzero(one_sided.any(axis=1)):
        own = int(one_sided[function].argmax())
        imagined[:, function] = 0.0
        imagined[:, function, own] = 1 - _MOSTLY
        imagined[own, function, own] = _MOSTLY
        imagined[:, function, classes] = 1 - imagined[:, function, own]
    by_function = np.maximum(seen + imagined, _SLIGHT)
    return (by_function / by_function.sum(axis=2, keepdims=True)).reshape(classes, -1)


def _shared_confusion(seen: np.ndarray, one_sided: np.ndarray) -> np.ndarray:
    """Return (K, K) how all functions that vote for several classes vote, alike for each class."""
    classes = len(seen)
    votes = seen[:, ~one_sided.any(axis=1), :classes].sum(axis=1)
    right = (np.trace(votes) + _MOSTLY * classes) / (votes.sum() + classes)
    shared = np.full((classes, classes), (1 - right) / (classes - 1))
    np.fill_diagonal(shared, right)
    return shared


def _prior(shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean of the shares, with one row in all spread over the classes."""
    total = counts @ shares + 1.0 / shares.shape[1]
    return total / total.sum()


def _clamped(shares: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the shares with known labels certain."""
    certain = known != ABSTAINS
    result = shares.copy()
    result[certain] = np.eye(shares.shape[1])[known[certain]]
    return result


def _accuracies(votes: np.ndarray, shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (L,) the expected share of right votes of each function; NaN where it never votes."""
    accuracies = np.full(votes.shape[1], np.nan)
    for function in range(votes.shape[1]):
        voting = np.flatnonzero(votes[:, function] != ABSTAINS)
        total = counts[voting].sum()
        if total > 0:
            right = shares[voting, votes[voting, function]]
            accuracies[function] = float(counts[voting] @ right / total)
    return accuracies


def _fitted(
    method: str,
    votes: np.ndarray,
    known: np.ndarray,
    counts: np.ndarray,
    classes: int,
    start: np.ndarray | None = None,
) -> Fitted:
    """Fit by a method; ``start``: an earlier fit to go on from, where that saves work."""
    if method == "majority":
        return _majority(votes, known, counts, classes)
    if method == "triplets":
        return _triplets(votes, known, counts, classes)
    return _dawid_skene(votes, known, counts, classes, start)

"""Labels from the votes of functions that are wrong now and then.

``label_model`` works out how good each function is and how likely each label. (Dawid and Skene,
Applied Statistics 1979; Ratner et al., VLDB 2017; triplets: Fu et al., ICML 2020.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.doubts.dawid_skene import (
    ABSTAINS,
    Fitted,
    Patterns,
    Posterior,
    clamped,
    dawid_skene,
    only_class,
)

METHODS = ("auto", "majority", "triplets", "dawid-skene")

_DRAWS = 40  # of rows, for intervals
_FEWEST = 10  # rows on which two functions vote before they are compared
_LIMIT = 0.99  # accuracies are not believed beyond


@dataclass(frozen=True)
class LabelModel:
    """What the votes say.

    ``probabilities`` (N, K): of each class for each row; the prior where all functions abstain.
    ``accuracies`` (L,): how often each function is right where it votes, with ``low`` and ``high``
    (L,), bounds at 90 %, from draws. ``coverage`` (L,): share of rows where it votes.
    ``prior`` (K,). ``method``: one of ``METHODS``.
    """

    probabilities: np.ndarray
    accuracies: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coverage: np.ndarray
    prior: np.ndarray
    method: str


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
            functions); "dawid-skene" (skills of functions by draws from their posterior); "auto": the
            last where at least three functions vote on the same rows or labels are known, else the
            first, as the accuracies of fewer cannot be known.
        seed: of the draws.

    Raises:
        InvalidInput: where the arguments do not fit each other.
    """
    known = np.full(len(votes), ABSTAINS) if known is None else np.asarray(known)
    _check(votes, classes, known, method)
    chosen = _chosen(votes, known) if method == "auto" else method
    # Rows with the same votes are one pattern that counts as often as it comes.
    distinct, place = np.unique(np.column_stack([votes, known]), axis=0, return_inverse=True)
    place = place.ravel()
    patterns = Patterns(distinct[:, :-1], distinct[:, -1], np.bincount(place).astype(float))
    fitted = _fitted(chosen, patterns, classes, np.random.default_rng(seed))
    accuracies = _accuracies(patterns, fitted.shares)
    low, high = np.nanquantile(fitted.accuracies, [0.05, 0.95], axis=0)
    return LabelModel(
        probabilities=fitted.shares[place],
        accuracies=accuracies,
        low=np.minimum(low, accuracies),
        high=np.maximum(high, accuracies),
        coverage=(votes != ABSTAINS).mean(axis=0),
        prior=fitted.prior,
        method=chosen,
    )


def _check(votes: np.ndarray, classes: int, known: np.ndarray, method: str) -> None:
    if method not in METHODS:
        raise InvalidInput(f"There is no method {method!r}.", remedy=f"Use {', '.join(METHODS)}.")
    if classes < 2:
        raise InvalidInput("There are fewer than two labels.", remedy="Name all that there are.")
    is_table = votes.ndim == 2 and votes.size > 0
    if not is_table or len(known) != len(votes):
        raise InvalidInput("There are no votes, or not one known label or -1 a row.", where="votes")
    outside = (votes < ABSTAINS) | (votes >= classes)
    if outside.any():
        raise InvalidInput("A vote is for no class.", where="votes")
    fits_triplets = classes == 2 and votes.shape[1] >= 3
    if method == "triplets" and not fits_triplets:
        raise InvalidInput(
            "Triplets need two classes and three functions.", remedy='Use method="auto".'
        )


def _chosen(votes: np.ndarray, known: np.ndarray) -> str:
    """Return the method for what can be known: three functions that can be compared, or labels."""
    voting = (votes != ABSTAINS).astype(int)
    together = (voting.T @ voting) >= _FEWEST
    comparable = int((together.sum(axis=1) >= 3).sum())
    calibrated = int((known != ABSTAINS).sum()) >= _FEWEST
    if comparable >= 3 or calibrated:
        return "dawid-skene"
    return "majority"


def _fitted(
    method: str, patterns: Patterns, classes: int, generator: np.random.Generator
) -> Posterior:
    if method == "majority":
        return _with_rows_drawn_again(_majority, patterns, classes, generator)
    if method == "triplets":
        return _with_rows_drawn_again(_triplets, patterns, classes, generator)
    majority = _majority(patterns, classes)
    found = dawid_skene(patterns, majority, generator)
    return replace(found, shares=_heeding(found.shares, majority[0], patterns))


def _heeding(shares: np.ndarray, majority: np.ndarray, patterns: Patterns) -> np.ndarray:
    """Return shares (P, K), half those of the majority where no vote contradicts another.

    That is where all functions that vote know the same one class. Votes alone do not tell how often
    they are right there: the class of which more functions know would win such rows, too.
    """
    votes = patterns.votes
    voting = votes != ABSTAINS
    knows_several = only_class(votes, shares.shape[1]) == ABSTAINS
    lowest = np.where(voting, votes, shares.shape[1]).min(axis=1)
    agree = patterns.heard & (lowest == votes.max(axis=1))
    alone = agree & ~(voting & knows_several).any(axis=1)
    heeded = np.where(alone[:, None], (shares + majority) / 2, shares)
    return clamped(heeded, patterns.known)


def _with_rows_drawn_again(
    fit: Callable[[Patterns, int], Fitted],
    patterns: Patterns,
    classes: int,
    generator: np.random.Generator,
) -> Posterior:
    """Fit once, and again to rows that are drawn with replacement, for the accuracies."""
    shares, prior = fit(patterns, classes)
    rows = int(patterns.counts.sum())
    drawn = []
    for _ in range(_DRAWS):
        counts = generator.multinomial(rows, patterns.counts / rows).astype(float)
        again = replace(patterns, counts=counts)
        drawn.append(_accuracies(again, fit(again, classes)[0]))
    return Posterior(shares, prior, np.array(drawn))


def _majority(patterns: Patterns, classes: int) -> Fitted:
    """Share the vote, with one vote in all spread over the classes, so that none is certain."""
    tallies = np.full((len(patterns.votes), classes), 1.0 / classes)
    for label in range(classes):
        tallies[:, label] += (patterns.votes == label).sum(axis=1)
    shares = tallies / tallies.sum(axis=1, keepdims=True)
    counts = np.where(patterns.heard, patterns.counts, 0.0)
    prior = _prior(clamped(shares, patterns.known), counts)
    shares[~patterns.heard] = prior
    return clamped(shares, patterns.known), prior


def _triplets(patterns: Patterns, _classes: int) -> Fitted:
    """Accuracies from products of agreements: E[ab] E[ac] / E[bc] is the square of a's.

    The sign is that of functions which are better than chance.
    """
    votes = patterns.votes
    counts = patterns.counts
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
    return clamped(shares, patterns.known), prior


def _squares(agree: np.ndarray, both: np.ndarray, one: int) -> list[float]:
    """Return what each pair of other functions says of the square of a function's strength."""
    others = np.delete(np.arange(len(agree)), one)
    found = []
    for third, second in combinations(others, 2):
        seen = min(both[one, second], both[one, third], both[second, third])
        if seen >= _FEWEST and abs(agree[second, third]) > 0.01:
            found.append(agree[one, second] * agree[one, third] / agree[second, third])
    return found


def _prior(shares: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean of the shares, with one row in all spread over the classes."""
    total = counts @ shares + 1.0 / shares.shape[1]
    return total / total.sum()


def _accuracies(patterns: Patterns, shares: np.ndarray) -> np.ndarray:
    """Return (L,) the expected share of right votes of each function; NaN where it never votes."""
    votes = patterns.votes
    counts = patterns.counts
    accuracies = np.full(votes.shape[1], np.nan)
    for function in range(votes.shape[1]):
        voting = np.flatnonzero(votes[:, function] != ABSTAINS)
        total = counts[voting].sum()
        if total > 0:
            right = shares[voting, votes[voting, function]]
            accuracies[function] = float(counts[voting] @ right / total)
    return accuracies

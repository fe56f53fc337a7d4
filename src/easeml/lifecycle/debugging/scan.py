"""Slices with more mistakes than elsewhere: a scan of all conjunctions, tested by permutation.

Each slice of n rows, of which m are mistakes where mu are expected, is scored by the log likelihood
ratio of a higher chance inside than outside (the scan statistic of Kulldorff, Communications in
Statistics 26, 1997; for mistakes of classifiers: Zhang and Neill, Identifying significant
predictive bias in classifiers, 2016). Conjunctions of two conditions are all looked at; of three,
those that begin with the best pairs.

The greatest score is compared with the greatest score after the mistakes were dealt out anew
(Westfall and Young, Resampling-based multiple testing, 1993): if mistakes are spread by chance, any
slice is named with at most the level's chance, however many slices were looked at, because the
whole search is done again for each permutation. Rows may be divided into strata, within which the
mistakes are dealt out: what is expected of a row is the share of mistakes of its stratum.

A slice that was named is a stratum of its own from then on. So the next one is named only if it is
worse than the ones before explain: few slices, which do not say the same twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easeml.lifecycle.debugging.candidates import Candidates
from easeml.lifecycle.debugging.conditions import Slice

_BEAM = 20  # pairs that are looked at with a third condition
_SIMPLER = 0.8  # a slice with fewer conditions is taken if it has this share of the best score


@dataclass(frozen=True, slots=True)
class Found:
    """A slice with more mistakes than expected. ``p_value``: corrected for all that were scanned."""

    slice: Slice
    p_value: float


@dataclass(frozen=True, slots=True)
class _Pairs:
    """All pairs of conditions (also each with itself): their places and their rows."""

    first: np.ndarray
    second: np.ndarray
    rows: np.ndarray


@dataclass(frozen=True, slots=True)
class _Best:
    score: float
    conditions: tuple[int, ...]


def scan(
    candidates: Candidates,
    wrong: np.ndarray,
    strata: np.ndarray,
    *,
    least: int,
    level: float,
    most: int,
    permutations: int,
    seed: int,
) -> list[Found]:
    """Return the slices that have significantly more mistakes, at most ``most``.

    Args:
        candidates: conditions, and on which of n rows they hold.
        wrong: (n,) bool, which rows are mistakes.
        strata: (n,) whole numbers; mistakes are dealt out anew within each.
        least: rows that a slice has at least.
        level: chance, in (0, 1), that any slice is named if mistakes are spread by chance.
        permutations: how often mistakes are dealt out anew; at least 1 / level - 1.
        seed: of the permutations.
    """
    if not candidates.conditions or not wrong.any():
        return []
    holds = candidates.holds.astype(np.float32)
    pairs = _pairs(candidates, holds, least)
    strata = np.unique(strata, return_inverse=True)[1]
    found: list[Found] = []
    for turn in range(most):
        random = np.random.default_rng([seed, turn])
        expected = _expected(wrong, strata)
        best, p_value = _tested(
            holds, pairs, wrong, strata, expected, least, level, permutations, random
        )
        if best is None:
            break
        chosen = tuple(candidates.conditions[place] for place in best.conditions)
        found.append(Found(Slice(chosen), p_value))
        inside = candidates.holds[list(best.conditions)].all(axis=0)
        strata = np.unique(2 * strata + inside, return_inverse=True)[1]
    return found


def _tested(
    holds: np.ndarray,
    pairs: _Pairs,
    wrong: np.ndarray,
    strata: np.ndarray,
    expected: np.ndarray,
    least: int,
    level: float,
    permutations: int,
    random: np.random.Generator,
) -> tuple[_Best | None, float]:
    """Return the best slice with its p-value; None where it is not significant.

    It stops as soon as too many permutations score as high (Besag and Clifford, Biometrika 78,
    1991).
    """
    mu = _sums(holds, expected, pairs)
    best = _best(holds, pairs, mu, wrong, expected, least)
    allowed = int(np.floor(level * (permutations + 1))) - 1
    higher = 0
    for _ in range(permutations):
        dealt = _dealt(wrong, strata, random)
        if _best(holds, pairs, mu, dealt, expected, least).score >= best.score:
            higher += 1
        if higher > allowed:
            return None, 1.0
    return best, (1 + higher) / (1 + permutations)


def _best(
    holds: np.ndarray,
    pairs: _Pairs,
    mu: np.ndarray,
    wrong: np.ndarray,
    expected: np.ndarray,
    least: int,
) -> _Best:
    """Return the slice with the greatest score, or a simpler one that is nearly as good."""
    of_wrong = holds[:, wrong]
    mistakes = (of_wrong @ of_wrong.T)[pairs.first, pairs.second]
    rows = holds.shape[1]
    total = float(wrong.sum())
    scores = likelihood_ratio(pairs.rows, mistakes, mu, rows, total)
    is_single = pairs.first == pairs.second
    single = int(np.argmax(np.where(is_single, scores, -1.0)))
    pair = int(np.argmax(scores))
    three = _third(holds, pairs, scores, wrong, expected, least)
    greatest = max(float(scores[pair]), three.score)
    for place in (single, pair):
        if scores[place] >= _SIMPLER * greatest:
            conditions = {int(pairs.first[place]), int(pairs.second[place])}
            return _Best(greatest, tuple(sorted(conditions)))
    return three


def _third(
    holds: np.ndarray,
    pairs: _Pairs,
    scores: np.ndarray,
    wrong: np.ndarray,
    expected: np.ndarray,
    least: int,
) -> _Best:
    """Return the best slice of three conditions that begins with one of the best pairs."""
    count = min(_BEAM, len(scores))
    begin = np.argpartition(-scores, count - 1)[:count]
    inside = holds[pairs.first[begin]] * holds[pairs.second[begin]]
    n = inside @ holds.T
    mu = (inside * expected.astype(np.float32)) @ holds.T
    mistakes = inside[:, wrong] @ holds[:, wrong].T
    found = likelihood_ratio(n, mistakes, mu, holds.shape[1], float(wrong.sum()))
    found[n < least] = 0.0
    place, third = np.unravel_index(int(np.argmax(found)), found.shape)
    pair = begin[place]
    conditions = {int(pairs.first[pair]), int(pairs.second[pair]), int(third)}
    return _Best(float(found[place, third]), tuple(sorted(conditions)))


def likelihood_ratio(
    n: np.ndarray, mistakes: np.ndarray, mu: np.ndarray, rows: float, total: float
) -> np.ndarray:
    """Return the log likelihood ratio of slices; 0 where there are no more mistakes than expected.

    Args:
        n: rows of each slice.
        mistakes: of them.
        mu: mistakes that are expected of them.
        rows: of all.
        total: mistakes of all; as many are expected.
    """
    inside = _divergence(n, mistakes, mu)
    outside = _divergence(rows - n, total - mistakes, total - mu)
    return np.where(mistakes > mu, inside + outside, 0.0)


def _divergence(n: np.ndarray, found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return n times the Kullback-Leibler divergence of two chances, found / n and expected / n."""
    tiny = 1e-9
    right = np.maximum(n - found, 0.0)
    right_expected = np.maximum(n - expected, tiny)
    of_wrong = found * np.log(np.maximum(found, tiny) / np.maximum(expected, tiny))
    of_right = right * np.log(np.maximum(right, tiny) / right_expected)
    return of_wrong + of_right


def _pairs(candidates: Candidates, holds: np.ndarray, least: int) -> _Pairs:
    """Return each condition, and all pairs on different columns, with enough rows."""
    n = holds @ holds.T
    first, second = np.triu_indices(len(holds))
    differ = candidates.column[first] != candidates.column[second]
    usable = ((first == second) | differ) & (n[first, second] >= least)
    first, second = first[usable], second[usable]
    return _Pairs(first, second, n[first, second])


def _sums(holds: np.ndarray, values: np.ndarray, pairs: _Pairs) -> np.ndarray:
    """Return the sum of a number a row over the rows of each pair."""
    return ((holds * values.astype(np.float32)) @ holds.T)[pairs.first, pairs.second]


def _expected(wrong: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Return the share of mistakes of each row's stratum."""
    rows = np.bincount(strata)
    mistakes = np.bincount(strata, weights=wrong)
    return (mistakes / np.maximum(rows, 1))[strata]


def _dealt(wrong: np.ndarray, strata: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the mistakes, dealt out anew within each stratum."""
    shuffled = np.lexsort((random.random(len(wrong)), strata))
    ordered = np.argsort(strata, kind="stable")
    dealt = np.empty_like(wrong)
    dealt[shuffled] = wrong[ordered]
    return dealt

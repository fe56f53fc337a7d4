"""Dawid and Skene's model of functions that vote, by draws from its posterior.

Each function has a skill, how likely its vote is for the true class, and may be better at one class
than at another. How far skills differ is drawn as well: functions that the votes do not tell apart
count alike, as in a majority vote. (Dawid and Skene, Applied Statistics 1979; Kim and Ghahramani,
AISTATS 2012, whose Gibbs sampler this is, with skills that share a mean.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

ABSTAINS = -1
"""What a function says that says nothing."""

_SWEEPS = 240
_UNUSED = 60  # first sweeps, which still depend on where they began
# How many votes of its own a function needs before its skill is more its own than that of all. With
# the last all are alike.
_STRENGTHS = np.array([2.0, 6.0, 20.0, 60.0, 200.0, 1000.0])
_SKILLS_ALIKE = (
    0.4  # chance of the last strength before votes are seen, for the skills of functions
)
_CLASSES_ALIKE = 0.9  # likewise for what one function knows of each class
_IMAGINED = (3.0, 1.0)  # right and wrong votes of all functions before any is seen
_SKILLED = 0.99  # no skill is believed beyond
_BETTER = 0.02  # all functions together are better than chance by this at least
_MOST_FIRING = 0.95  # share of a class for which a function of one class is expected to vote
# Imagined rows for each real one, with the class shares of the majority: votes that say little would
# go well with one class for all rows, too.
_LIKE_MAJORITY = 0.15
_REPEATS = 0.95  # share of their votes at which two functions count as one
_SLIGHT = 1e-9  # a probability of what never comes


Fitted = tuple[np.ndarray, np.ndarray]
"""Probabilities (P, K) of each pattern's classes, and the prior (K,)."""


@dataclass(frozen=True)
class Posterior:
    """What the draws say: of P patterns of votes, K classes, L functions.

    ``shares`` (P, K): how likely each class is. ``prior`` (K,): of a row on which nobody votes.
    ``accuracies`` (draws, L): how often each function is right where it votes; NaN where never.
    """

    shares: np.ndarray
    prior: np.ndarray
    accuracies: np.ndarray


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of votes.

    ``votes`` (P, L): the class that each function says, or -1. ``known`` (P,): the class, or -1.
    ``counts`` (P,): how many rows are like that.
    """

    votes: np.ndarray
    known: np.ndarray
    counts: np.ndarray

    @property
    def heard(self) -> np.ndarray:
        """(P,) whether any function votes."""
        return (self.votes != ABSTAINS).any(axis=1)


def dawid_skene(patterns: Patterns, start: Fitted, generator: np.random.Generator) -> Posterior:
    """Draw labels, skills and the prior in turn, and return their means.

    Args:
        patterns: of votes.
        start: shares (P, K) and prior (K,) of the majority.
        generator: of the draws.
    """
    shares, majority_prior = start
    classes = len(majority_prior)
    own = only_class(patterns.votes, classes)
    told = _one_hot(patterns, classes, own)
    weights = 1 / repeats(patterns)
    # Silence says how often a function votes, and nothing of the row: rows of a class are of several
    # kinds, each with functions of its own, so silences come together and would outweigh any vote.
    voted = told[:, :, :classes] * weights[None, :, None]
    weighted = voted.reshape(len(told), -1)
    rows = np.where(patterns.heard | (patterns.known != ABSTAINS), patterns.counts, 0).astype(int)
    imagined = _LIKE_MAJORITY * rows.sum() * majority_prior
    skills = _Skills(own, classes, generator)
    total, priors, accuracies = np.zeros_like(shares), [], []
    for sweep in range(_SWEEPS):
        drawn = generator.multinomial(rows, shares).astype(float)
        prior = _dirichlet(drawn.sum(axis=0) + imagined, generator)
        seen = np.einsum("pk,plc->klc", drawn, told)
        likely = skills.draw(seen)[:, :, :classes]
        logs = np.log(prior) + weighted @ np.log(likely).reshape(classes, -1).T
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares = clamped(shares / shares.sum(axis=1, keepdims=True), patterns.known)
        if sweep >= _UNUSED:
            total += shares
            priors.append(prior)
            accuracies.append(_accuracy(seen, generator))
    return Posterior(total / len(priors), np.mean(priors, axis=0), np.array(accuracies))


def repeats(patterns: Patterns) -> np.ndarray:
    """Return (L,) how many functions say the same as each, itself among them.

    Two that agree in nearly all of their votes tell no more than one does, whoever copied whom.
    """
    votes = patterns.votes
    counts = patterns.counts
    functions = votes.shape[1]
    found = np.ones(functions)
    for one in range(functions):
        for other in range(one):
            either = (votes[:, one] != ABSTAINS) | (votes[:, other] != ABSTAINS)
            same = either & (votes[:, one] == votes[:, other])
            if counts[same].sum() > _REPEATS * counts[either].sum():
                found[[one, other]] += 1
    return found


def clamped(shares: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return shares (P, K) with the labels that are known (P,) certain."""
    certain = known != ABSTAINS
    result = shares.copy()
    result[certain] = np.eye(shares.shape[1])[known[certain]]
    return result


class _Skills:
    """Draws how functions vote, by the true class; how far they are alike goes from draw to draw.

    ``own`` (L,): the only class that a function ever votes for, or -1. What such a function knows
    is how much more often it votes where its class is the true one, so its silences are counted.
    """

    def __init__(self, own: np.ndarray, classes: int, generator: np.random.Generator) -> None:
        self._own, self._classes, self._generator = own, classes, generator
        self._choosing = own == ABSTAINS
        self._alike = self._alike_firing = float(_STRENGTHS[2])

    def draw(self, seen: np.ndarray) -> np.ndarray:
        """Return (K, L, K + 1) how likely each outcome is; the last one is silence.

        ``seen`` (K, L, K + 1): how often each came, by the drawn class.
        """
        likely = np.full_like(seen, _SLIGHT)
        if self._choosing.any():
            votes = seen[:, self._choosing, :-1].transpose(1, 0, 2)
            likely[:, self._choosing, :-1] = self._choices(votes).transpose(1, 0, 2)
        single = np.flatnonzero(~self._choosing)
        if len(single):
            own = self._own[single]
            rates = self._firing(seen[:, single, own].T, seen[:, single, -1].T, own)
            likely[:, single, own] = rates.T
            likely[:, single, -1] = 1 - rates.T
        return np.maximum(likely, _SLIGHT)

    def _choices(self, votes: np.ndarray) -> np.ndarray:
        """Return (T, K, K) how T functions vote that know several classes; ``votes``: likewise."""
        random = self._generator
        right = np.trace(votes, axis1=1, axis2=2)
        of = votes.sum(axis=(1, 2))
        wrong = of - right
        shared = self._shared_skill(right / np.maximum(of, 1), of, self._alike)
        by_function = np.stack([right, wrong], axis=-1)
        center = np.array([shared, 1 - shared])
        self._alike = self._strength(by_function[None], center, _SKILLS_ALIKE)[0]
        skills = random.beta(self._alike * shared + right, self._alike * (1 - shared) + wrong)
        expected = _spread(np.clip(skills, 1e-3, 1 - 1e-3), self._classes)
        alike = self._strength(votes, expected, _CLASSES_ALIKE)
        return _dirichlet(alike[:, None, None] * expected + votes, random)

    def _firing(self, fired: np.ndarray, silent: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return (S, K) how often S functions vote that know one class, by the true class.

        A skill s stands for s / (1 - s) times as many votes where their class is the true one.
        """
        place = np.arange(len(own))
        rows = (fired + silent)[0] + 0.5
        at_home = rows[own] / rows.sum()
        hits = fired[place, own]
        hit_rate = (hits + 0.1) / rows[own]
        miss_rate = (fired.sum(axis=1) - hits + 0.1) / (rows.sum() - rows[own])
        votes = fired.sum(axis=1)
        shared = self._shared_skill(hit_rate / (hit_rate + miss_rate), votes, self._alike_firing)
        odds = shared / (1 - shared)
        elsewhere = (votes + 0.5) / (rows.sum() * (at_home * odds + 1 - at_home))
        expected = np.repeat(elsewhere[:, None], self._classes, axis=1)
        expected[place, own] *= odds
        expected = np.minimum(expected, _MOST_FIRING)
        outcomes = np.stack([fired, silent], axis=-1)
        likely = np.stack([expected, 1 - expected], axis=-1)
        flat = outcomes.reshape(1, -1, 2)
        alike = self._strength(flat, likely.reshape(-1, 2), 1 / len(_STRENGTHS))[0]
        self._alike_firing = alike
        return _dirichlet(alike * likely + outcomes, self._generator)[..., 0]

    def _shared_skill(self, skills: np.ndarray, votes: np.ndarray, strength: float) -> float:
        """Draw the mean skill. A function counts by its votes, up to about the strength."""
        heard = votes * (strength + 1) / (strength + votes)
        right, wrong = (skills * heard).sum(), ((1 - skills) * heard).sum()
        drawn = self._generator.beta(right + _IMAGINED[0], wrong + _IMAGINED[1])
        return float(np.clip(drawn, 1 / self._classes + _BETTER, _SKILLED))

    def _strength(self, seen: np.ndarray, expected: np.ndarray, alike: float) -> np.ndarray:
        """Draw for each of the first axis how firmly outcomes follow what is expected of them.

        ``seen`` (A, B, C), ``expected`` broadcastable to it; ``alike``: chance of the last strength.
        """
        others = len(_STRENGTHS) - 1
        before = np.log([(1 - alike) / others] * others + [alike])
        fits = [_log_chance(seen, strength * expected).sum(axis=-1) for strength in _STRENGTHS]
        logs = np.stack(fits, axis=-1) + before
        return _STRENGTHS[(logs + self._generator.gumbel(size=logs.shape)).argmax(axis=-1)]


def only_class(votes: np.ndarray, classes: int) -> np.ndarray:
    """Return (L,) the class that is the only one a function ever votes for, or -1."""
    votes_for = (votes[:, :, None] == np.arange(classes)).any(axis=0)
    return np.where(votes_for.sum(axis=1) == 1, votes_for.argmax(axis=1), ABSTAINS)


def _one_hot(patterns: Patterns, classes: int, own: np.ndarray) -> np.ndarray:
    """Return (P, L, K + 1): 1 at the class for which a function votes.

    The last is 1 where it is silent and another votes, if it only ever votes for one class.
    """
    votes = patterns.votes
    told = np.zeros((*votes.shape, classes + 1))
    told[:, :, :classes] = votes[:, :, None] == np.arange(classes)
    told[:, :, classes] = (votes == ABSTAINS) & (own != ABSTAINS) & patterns.heard[:, None]
    return told


def _spread(skills: np.ndarray, classes: int) -> np.ndarray:
    """Return (T, K, K): votes for the true class as likely as the skill, others equally likely."""
    wrong = ((1 - skills) / (classes - 1))[:, None, None]
    return np.where(np.eye(classes, dtype=bool), skills[:, None, None], wrong)


def _log_chance(seen: np.ndarray, imagined: np.ndarray) -> np.ndarray:
    """Return the log probability of counts (..., C) whose chances are Dirichlet distributed."""
    outcomes = (gammaln(imagined + seen) - gammaln(imagined)).sum(axis=-1)
    total = imagined.sum(axis=-1)
    return gammaln(total) - gammaln(total + seen.sum(axis=-1)) + outcomes


def _dirichlet(counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw chances (..., C) that belong to counts (..., C)."""
    drawn = np.maximum(generator.standard_gamma(counts), _SLIGHT)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def _accuracy(seen: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw (L,) how often each function is right where it votes; NaN where it never does."""
    votes = seen[:, :, :-1]
    right = np.trace(votes, axis1=0, axis2=2)
    total = votes.sum(axis=(0, 2))
    drawn = generator.beta(right + 0.5, total - right + 0.5)
    return np.where(total > 0, drawn, np.nan)

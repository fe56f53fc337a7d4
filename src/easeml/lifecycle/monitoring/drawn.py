"""Rows that somebody says were drawn at random: do they look so, and what do their truths show?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import exp, log, log1p, pi

import numpy as np

from easeml.lifecycle.monitoring.cohorts import Cohort
from easeml.lifecycle.monitoring.drift import covariate_test
from easeml.lifecycle.monitoring.sequential import bet_on

CLAIM_ALPHA = 0.05
"""Chance that any claim that holds is ever doubted."""
FEWEST = 10
"""Rows of a claim that are compared with others: fewer tell nothing."""
BEYOND = 10.0
"""How far beyond what an alarm takes the stakes may rise, so that an alarm can end."""

_NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Drawn:
    """Rows with a truth of which ``by`` says that they were drawn at random from their looks.

    ``newer``: their places among the rows of a batch; ``late``: among its late ones.
    """

    by: str
    newer: np.ndarray = field(default_factory=_NOBODY.copy)
    late: np.ndarray = field(default_factory=_NOBODY.copy)


@dataclass(frozen=True)
class Claim:
    """What became of a claim that rows were drawn at random.

    ``p_value``: of the rows' difference from the others of their looks, by what ``where`` says;
    None where there was nothing to compare. ``is_credible`` if it is greater than ``level``: then
    alarms and estimates may rest on the claim. Otherwise its truths are such as come as they come.
    """

    by: str
    rows: int
    p_value: float | None
    level: float
    where: str

    @property
    def is_credible(self) -> bool:
        """Whether the data leave the claim standing."""
        return self.p_value is None or self.p_value > self.level


@dataclass(frozen=True)
class Pool:
    """Rows of looks that a claim can be held against.

    ``features``: as of `Rows` (n, d); ``chances`` (n,): to be right, as the error model has it;
    ``looks`` (n,); ``right`` (n,): NaN without a truth;
    ``is_other`` (n,): rows that represent all rows of their look, whatever is known of them.
    """

    features: np.ndarray
    chances: np.ndarray
    looks: np.ndarray
    right: np.ndarray
    is_other: np.ndarray


@dataclass(frozen=True)
class DrawnTest:
    """What is staked on the model having become worse, by truths of rows drawn at random.

    One bet a label, against the least quality that the inputs of its whole look let expect. A
    look's rows may be labelled in several parts, ``claims`` counts them. If each part was drawn at
    random, what is won is a supermartingale in the order in which they came (draws without
    replacement stray less than those with; Hoeffding, 1963). A change may begin with any part: the
    j-th is staked on with 6 / (pi j)**2. A part that was not credible wins nothing, and may lose.
    """

    claims: int = 0
    stake: float = 0.0
    aside: float = 1.0

    @property
    def p_value(self) -> float:
        """1 / evidence, at most 1."""
        return 1 / max(1.0, self.stake + self.aside)

    @property
    def level(self) -> float:
        """The level at which the next claim is doubted; those of all sum to `CLAIM_ALPHA`."""
        return CLAIM_ALPHA * 6 / (pi * (self.claims + 1)) ** 2

    def told(self, gain: float, most: float) -> DrawnTest:
        """Return the test after a part won ``gain``, a logarithm; stakes rise to ``most`` only."""
        number = self.claims + 1
        begun = min(self.aside, 6 / (pi * number) ** 2)
        stake = self.stake + begun
        if stake > 0:
            stake = exp(min(log(most), log(stake) + gain))
        return DrawnTest(number, stake, self.aside - begun)


def judged(
    claim: Drawn,
    places: np.ndarray,
    pool: Pool,
    cohorts: Iterable[Cohort],
    names: list[str],
    level: float,
) -> Claim:
    """Hold a claim against what is known: do its rows look like the others of their looks?

    ``places``: of its rows in the pool. Three things are compared: each feature, as drift is
    (Kolmogorov-Smirnov); the chance to be right, in which picked mistakes differ most
    (Mann-Whitney); and the share of right answers with what truths of the same looks allow, whoever
    told them (hypergeometric). P-values are corrected by Bonferroni.
    """
    from scipy.stats import mannwhitneyu

    found = [(_by_truths(places, pool, cohorts), "truths of the other rows")]
    drawn, others = _alike_in_looks(places, pool)
    is_compared = min(len(drawn), len(others)) >= FEWEST
    if is_compared:
        test = covariate_test(pool.features[others], pool.features[drawn], names, level)
        found.append((1.0 if test.p_value is None else test.p_value, test.where))
        chances = pool.chances[drawn], pool.chances[others]
        found.append((float(mannwhitneyu(*chances).pvalue), "chance to be right"))
    least, where = min(found)
    p_value = min(1.0, len(found) * least)
    if p_value == 1.0 and not is_compared:
        return Claim(claim.by, len(places), None, level, "")
    return Claim(claim.by, len(places), p_value, level, where)


def gain(places: np.ndarray, pool: Pool, cohorts: Iterable[Cohort]) -> float:
    """Return the logarithm of what bets on these labels win; on looks that are settled, nothing."""
    won = 0.0
    for cohort in cohorts:
        right = _of_look(cohort.look, places, pool)
        bet, least = bet_on(cohort.least, cohort.drop)
        wrong = float((right == 0).sum())
        won += wrong * log1p(bet * least) + (len(right) - wrong) * log1p(-bet * (1 - least))
    return won


def with_drawn(cohort: Cohort, places: np.ndarray, pool: Pool) -> Cohort:
    """Return a cohort that counts which of its rows were drawn at random."""
    number = len(_of_look(cohort.look, places, pool))
    return replace(cohort, drawn=min(cohort.rows, cohort.drawn + number))


def _by_truths(places: np.ndarray, pool: Pool, cohorts: Iterable[Cohort]) -> float:
    """Return the least p-value of any look: too many of the drawn are wrong, or too few.

    As many of a look's rows are wrong as are known to be, and at most those not known to be right.
    """
    from scipy.stats import hypergeom

    found: list[float] = []
    for cohort in cohorts:
        right = _of_look(cohort.look, places, pool)
        number, wrong = min(len(right), cohort.rows), int((right == 0).sum())
        most = hypergeom(cohort.rows, cohort.rows - cohort.right, number)
        fewest = hypergeom(cohort.rows, cohort.wrong, number)
        tails = float(most.sf(wrong - 1)), float(fewest.cdf(wrong))
        found += tails if number else ()
    return min([1.0, *np.multiply(found, len(found))])


def _of_look(look: int, places: np.ndarray, pool: Pool) -> np.ndarray:
    """Return which of the drawn rows of a look are right."""
    return pool.right[places[pool.looks[places] == look]]


def _alike_in_looks(places: np.ndarray, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a claim, and others of which each look has as large a share.

    Looks may differ, so that a sample of many rows of one looks unlike one of many of another.
    """
    is_drawn = np.zeros(len(pool.looks), dtype=bool)
    is_drawn[places] = True
    beside = {}
    for look in np.unique(pool.looks[places]):
        others = np.flatnonzero((pool.looks == look) & pool.is_other & ~is_drawn)
        if len(others):
            beside[look] = places[pool.looks[places] == look], others
    if not beside:
        return _NOBODY, _NOBODY
    times = min(len(others) / len(drawn) for drawn, others in beside.values())
    shuffled = np.random.default_rng(0).permutation
    chosen = []
    for drawn, others in beside.values():
        chosen.append(shuffled(others)[: round(times * len(drawn))])
    return np.concatenate([drawn for drawn, _ in beside.values()]), np.concatenate(chosen)

"""The Gaussian process over finitely many arms; its cost does not grow with the observations.

Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), equations 2.25 and 2.26:
with prior mean m, covariance V and noise s2, an observation y of arm a changes the mean by k (y -
m[a]) / (k[a] + s2) and the covariance by - k k^T / (k[a] + s2), where k is the current column a of
the covariance. The covariance is kept as V - F^T F with one row of F for a change, so an
observation costs O(t K) for t rows. Repeats of an arm add rows too; when there are more than twice
as many rows as distinct arms, F is built anew from the count and sum of each arm, which are
sufficient, so t stays below twice the number of distinct arms (and K^2 bounds the work) and errors
of rounding do not add up.

Tenants differ in how much their arms differ. A prior may therefore hold several ``Scales``: a
tenant of scale s has qualities level + s z, where z has mean m, covariance V and noise s2. All
scales share one F, and the conditional mean of every scale is a combination of the same three rows
(what the qualities, m and 1 become by conditioning), so that exact inference over the scale (a
finite mixture; Bishop, Pattern Recognition and Machine Learning, 2006, section 2.3.7 has the
continuous one, the Student t) costs no more than one scale. What is said of the scales uses the
mean quality of each arm, so that many repeats of one arm do not decide how much arms differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from easeml.search.checks import require
from easeml.search.links import IDENTITY, Link
from easeml.search.surrogates.scales import Scales, frozen

_SPARE_ROWS = 8  # rows of repeats kept before the first refresh
_NO_DEVIATION = 1e-12  # standard deviation that stands for none
_NEGLIGIBLE = 1e-3  # weight below which a scale is not looked at


@dataclass(frozen=True, eq=False)
class Prior:
    """Belief before any observation.

    Mean (K,) and covariance (K, K) of the arms, and the variance ``noise`` of an observation.

    They are on the scale of ``link``; with the one default of ``scales`` as they are, else a tenant
    of scale s has level + s times them. ``clip``: a value that lies more than so many standard
    deviations below its expectation counts as just so low, since a model that broke down says
    little of the others (Huber, Robust Statistics, 1981, section 1.2). ``doubt`` in [0, 1): how
    likely it is that a tenant is unlike all that was learned from, so that its runs say nothing of
    the arms it has not tried; expected improvements count that in, and so no tenant is given up.
    ``groups`` (K,): arms of one number are alike (configurations of one model), so that a run does
    say something of the others, whatever the tenant; None: no two are.
    Raises ``InvalidInput`` where shapes do not agree, a number is not finite or out of range, or
    the covariance is not symmetric or has a negative variance. That it is positive semi-definite is
    up to the caller.
    """

    mean: np.ndarray
    covariance: np.ndarray
    noise: float
    scales: Scales = field(default_factory=Scales)
    clip: float = np.inf
    doubt: float = 0.0
    link: Link = IDENTITY
    groups: np.ndarray | None = None

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=float)
        covariance = np.array(self.covariance, dtype=float)
        require(
            mean.ndim == 1 and covariance.shape == (mean.size, mean.size),
            f"The mean has shape {mean.shape}, the covariance {covariance.shape}.",
            where="prior",
            remedy="Give K means and a K x K covariance.",
        )
        require(
            np.isfinite(mean).all() and np.isfinite(covariance).all(),
            "Mean and covariance must be finite.",
            where="prior",
        )
        require(
            np.allclose(covariance, covariance.T) and (np.diagonal(covariance) >= 0).all(),
            "The covariance must be symmetric with variances of at least 0.",
            where="prior",
        )
        require(
            0 < self.noise < np.inf,
            f"The noise variance {self.noise} is not above 0.",
            where="prior",
        )
        require(
            self.clip > 0,
            f"The clip {self.clip} is not above 0.",
            where="prior",
        )
        require(
            0 <= self.doubt < 1,
            f"The doubt {self.doubt} is not in [0, 1).",
            where="prior",
        )
        if self.groups is not None:
            require(
                self.groups.shape == mean.shape,
                f"There are {self.groups.size} groups of {mean.size} arms.",
                where="prior.groups",
                remedy="Give each arm the number of its group.",
            )
        object.__setattr__(self, "mean", frozen(mean))
        object.__setattr__(self, "covariance", frozen(covariance))

    def continues(self, other: "Prior") -> bool:
        """Is this ``other`` with more arms at its end?"""
        size = other.mean.size
        rest = (self.noise, self.scales, self.clip, self.doubt, self.link)
        return (
            rest == (other.noise, other.scales, other.clip, other.doubt, other.link)
            and np.array_equal(self.mean[:size], other.mean)
            and np.array_equal(self.covariance[:size, :size], other.covariance)
            and self._groups_continue(other)
        )

    def _groups_continue(self, other: "Prior") -> bool:
        if self.groups is None or other.groups is None:
            return self.groups is other.groups
        return np.array_equal(self.groups[: other.groups.size], other.groups)

    @cached_property
    def marginals(self) -> tuple[np.ndarray, np.ndarray]:
        """Latent mean and variance (K,) of each arm before any observation, over all scales."""
        first = Posterior.of(self)
        return first.latent_mean, first.latent_variance

    @cached_property
    def combinations(self) -> np.ndarray:
        """The mean of each scale as a combination (G, 3) of the rows of ``Posterior.rows``."""
        return np.column_stack(
            [np.ones_like(self.scales.factors), self.scales.factors, self.scales.levels]
        )


@dataclass(frozen=True, eq=False)
class Posterior:
    """Belief after observations; every change makes a new one.

    All but ``mean``, ``variance``, ``observe`` and ``improvement`` is on the scale of the prior's
    link, on which the belief is normal. ``rows`` (3, K): what the observed values, the prior mean
    and 1 become by conditioning; ``spread`` (K,): variance of each arm at scale 1; ``factor`` (t,
    K), see the module; ``counts``, ``sums`` (K,) of the observations of each arm; ``misfit`` (3,
    3): inner products of the innovations of the rows, without the scatter of repeats. ``pivots``,
    ``deviations`` (t,) and ``innovations`` (3, t): the arm that each row of ``factor`` came from,
    its predictive standard deviation then, and the standardised surprise: what is needed to add
    arms.
    """

    prior: Prior
    rows: np.ndarray
    spread: np.ndarray
    factor: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    misfit: np.ndarray
    pivots: np.ndarray
    deviations: np.ndarray
    innovations: np.ndarray

    @classmethod
    def of(cls, prior: Prior) -> "Posterior":
        """Return the belief without observations."""
        none = frozen(np.zeros(prior.mean.size))
        spread = frozen(np.diagonal(prior.covariance).copy())
        factor = frozen(np.zeros((0, prior.mean.size)))
        misfit = frozen(np.zeros((3, 3)))
        path = (np.zeros(0, dtype=int), np.zeros(0), np.zeros((3, 0)))
        return cls(
            prior,
            frozen(_first_rows(prior)),
            spread,
            factor,
            none,
            none,
            misfit,
            *map(frozen, path),
        )

    @cached_property
    def weights(self) -> np.ndarray:
        """Probability (G,) of each scale."""
        scales = self.prior.scales
        if scales.factors.size == 1:
            return scales.weights
        combined = np.einsum(
            "gi,ij,gj->g", self.prior.combinations, self.misfit, self.prior.combinations
        )
        with np.errstate(divide="ignore"):
            logs = np.log(scales.weights) - np.count_nonzero(self.counts) * np.log(scales.factors)
        logs = logs - combined / (2 * scales.factors**2)
        likely = np.exp(logs - logs.max())
        return frozen(likely / likely.sum())

    @cached_property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Probabilities (P,), means (P, K) and factors (P,) of the scales that matter.

        Variances are factor^2 ``spread``.
        """
        likely = np.flatnonzero(self.weights >= _NEGLIGIBLE)
        weights = self.weights[likely] / self.weights[likely].sum()
        means = self.prior.combinations[likely] @ self.rows
        return weights, means, self.prior.scales.factors[likely]

    @cached_property
    def mean(self) -> np.ndarray:
        """Quality (K,) at the latent mean of each arm: its median.

        With the identity as link that is its mean.
        """
        return frozen(self.about(slice(None))[0])

    @cached_property
    def variance(self) -> np.ndarray:
        """Variance (K,) of the quality of each arm, over all scales.

        It is to first order of the link (delta method).
        """
        return frozen(self.about(slice(None))[1])

    def about(self, arms: np.ndarray | slice) -> tuple[np.ndarray, np.ndarray]:
        """Return ``mean`` and ``variance`` of some arms only."""
        latent, link = self.latent_mean[arms], self.prior.link
        return link.quality(latent), link.slope(latent) ** 2 * self.latent_variance[arms]

    @cached_property
    def latent_mean(self) -> np.ndarray:
        """Expected latent value (K,) of each arm."""
        return frozen((self.weights @ self.prior.combinations) @ self.rows)

    @cached_property
    def latent_variance(self) -> np.ndarray:
        """Variance (K,) of the latent value of each arm, over all scales."""
        within = float(self.weights @ self.prior.scales.factors**2) * self.spread
        if self.weights.size == 1:
            return frozen(within)
        apart = self.prior.combinations @ self.rows - self.latent_mean
        return frozen(within + self.weights @ (apart * apart))

    def observe(self, arm: int, quality: float) -> "Posterior":
        """Condition on one noisy observation of ``arm``: O(t K), amortised over refreshes."""
        value = max(float(self.prior.link.latent(np.array(quality))), self._least_credible(arm))
        counts, sums = self.counts.copy(), self.sums.copy()
        counts[arm] += 1
        sums[arm] += value
        if len(self.factor) >= 2 * np.count_nonzero(counts) + _SPARE_ROWS:
            return exact(self.prior, counts, sums)
        row, deviation = self._change(arm)
        innovation = (np.array([value, 0.0, 0.0]) - self.rows[:, arm]) / deviation
        misfit = self.misfit + np.outer(innovation, innovation)
        before = self.counts[arm]
        if before:
            apart = value - self.sums[arm] / before
            misfit[0, 0] -= apart * apart * before / (before + 1) / self.prior.noise
        return Posterior(
            prior=self.prior,
            rows=frozen(self.rows + innovation[:, None] * row),
            spread=frozen(np.maximum(self.spread - row * row, 0.0)),
            factor=frozen(np.vstack([self.factor, row])),
            counts=frozen(counts),
            sums=frozen(sums),
            misfit=frozen(misfit),
            pivots=frozen(np.append(self.pivots, arm)),
            deviations=frozen(np.append(self.deviations, deviation)),
            innovations=frozen(np.column_stack([self.innovations, innovation])),
        )

    def believe(self, arms: Sequence[int]) -> "Posterior":
        """Pretend that ``arms`` came out at their means: less variance around them, the same means.

        It costs O(t K k).

        The kriging believer for runs under way (Ginsbourger, Le Riche, Carraro 2010), for all k of
        them at once.
        """
        at = np.array(arms, dtype=int)
        columns = self.prior.covariance[at] - self.factor[:, at].T @ self.factor
        lower = np.linalg.cholesky(columns[:, at] + self.prior.noise * np.eye(at.size))
        added = np.linalg.solve(lower, columns)
        believed = replace(
            self,
            spread=frozen(np.maximum(self.spread - np.einsum("ik,ik->k", added, added), 0.0)),
            factor=frozen(np.vstack([self.factor, added])),
            pivots=frozen(np.append(self.pivots, at)),
            deviations=frozen(np.append(self.deviations, np.diagonal(lower))),
            innovations=frozen(np.hstack([self.innovations, np.zeros((3, at.size))])),
        )
        for name in (
            "weights",
            "parts",
            "latent_mean",
        ):  # stay as they are, and are not computed again
            vars(believed)[name] = getattr(self, name)
        return believed

    def covariance(self, arms: np.ndarray) -> np.ndarray:
        """Return the covariance at scale 1 among some ``arms`` (indices)."""
        rows = self.factor[:, arms]
        return self.prior.covariance[np.ix_(arms, arms)] - rows.T @ rows

    def improvement(self, best: float) -> np.ndarray:
        """Return the expected improvement (K,) in quality of each arm over ``best``.

        It is over all scales.
        """
        total = self.hope(slice(None), best)
        if self.prior.doubt:
            unlike = self.prior.link.improvement(*self.prior.marginals, best)
            unlike = np.where(self._is_known, total, unlike)
            total = (1 - self.prior.doubt) * total + self.prior.doubt * unlike
        return frozen(total)

    @property
    def _is_known(self) -> np.ndarray:
        """Whether an arm (K,) was tried, or is under way, or one of its group."""
        if self.prior.groups is None:
            return np.zeros(self.counts.size, dtype=bool)
        return np.isin(self.prior.groups, self.prior.groups[self.pivots])

    def hope(self, arms: np.ndarray | slice, best: float | np.ndarray) -> np.ndarray:
        """Return the expected improvement (k,) in quality of some ``arms``, without doubt.

        It is over ``best``, one or (k,).
        """
        weights, means, factors = self.parts
        return weights @ self.prior.link.improvement(
            means[:, arms], np.outer(factors**2, self.spread[arms]), best
        )

    def chance(self, arms: np.ndarray | slice, best: float | np.ndarray) -> np.ndarray:
        """Return the probability (k,) that some ``arms`` are better than the quality ``best``.

        ``best`` is one, or (k,).
        """
        from scipy.special import ndtr

        weights, means, factors = self.parts
        deviations = np.maximum(np.outer(factors, np.sqrt(self.spread[arms])), _NO_DEVIATION)
        return weights @ ndtr(
            (means[:, arms] - self.prior.link.latent(np.asarray(best))) / deviations
        )

    def under(self, prior: Prior) -> "Posterior":
        """Return the belief from the same observations under another prior.

        It may hold more arms at its end.

        O(t^3 + t^2 K) for t distinct arms; where the prior only grew by m arms, O(t^2 m + t K).
        Raises ``InvalidInput`` if ``prior`` holds fewer arms or has another link.
        """
        require(
            prior.link == self.prior.link,
            "The new prior has another link than the observations.",
            where="prior.link",
        )
        more = prior.mean.size - self.counts.size
        require(more >= 0, f"The new prior lacks {-more} arms.", where="prior")
        if self.pivots.size and prior.continues(self.prior):
            return self._continued(prior)
        return exact(prior, np.pad(self.counts, (0, more)), np.pad(self.sums, (0, more)))

    def _least_credible(self, arm: int) -> float:
        if self.prior.clip == np.inf:
            return -np.inf
        scale = float(self.weights @ self.prior.scales.factors)
        deviation = scale * float(np.sqrt(self.spread[arm] + self.prior.noise))
        return float(self.latent_mean[arm]) - self.prior.clip * deviation

    def _change(self, arm: int) -> tuple[np.ndarray, float]:
        column = self.prior.covariance[arm] - self.factor[:, arm] @ self.factor
        deviation = float(np.sqrt(max(column[arm], 0.0) + self.prior.noise))
        return column / deviation, deviation

    def _continued(self, prior: Prior) -> "Posterior":
        """Return the belief under a ``prior`` that holds more arms at its end.

        It is the same on those before.

        The rows of the factor are continued by forward substitution: O(t^2 m + t K) for m more
        arms.
        """
        from scipy.linalg import solve_triangular

        old = self.counts.size
        lower = np.tril(self.factor[:, self.pivots].T, -1) + np.diag(self.deviations)
        added = solve_triangular(lower, prior.covariance[self.pivots, old:], lower=True)
        spread = np.maximum(
            np.diagonal(prior.covariance)[old:] - np.einsum("ik,ik->k", added, added), 0.0
        )
        none = np.zeros(prior.mean.size - old)
        return replace(
            self,
            prior=prior,
            rows=frozen(
                np.hstack([self.rows, _first_rows(prior)[:, old:] + self.innovations @ added])
            ),
            spread=frozen(np.append(self.spread, spread)),
            factor=frozen(np.hstack([self.factor, added])),
            counts=frozen(np.append(self.counts, none)),
            sums=frozen(np.append(self.sums, none)),
        )


def exact(prior: Prior, counts: np.ndarray, sums: np.ndarray) -> Posterior:
    """Return the posterior from the number and sum of observations of each arm.

    It costs O(t^3 + t^2 K) for t distinct arms.

    n observations of an arm are one of their mean with noise s2 / n.
    """
    from scipy.linalg import cholesky, solve_triangular

    seen = np.flatnonzero(counts)
    if not seen.size:
        return Posterior.of(prior)
    first = _first_rows(prior)
    gram = prior.covariance[np.ix_(seen, seen)] + np.diag(prior.noise / counts[seen])
    lower = cholesky(gram, lower=True)
    factor = np.ascontiguousarray(solve_triangular(lower, prior.covariance[seen], lower=True))
    targets = np.vstack([sums[seen] / counts[seen], np.zeros((2, seen.size))])
    innovations = solve_triangular(lower, (targets - first[:, seen]).T, lower=True)
    rows = first + innovations.T @ factor
    spread = np.maximum(np.diagonal(prior.covariance) - np.sum(factor * factor, axis=0), 0.0)
    misfit = innovations.T @ innovations
    path = (seen, np.diagonal(lower).copy(), innovations.T.copy())
    return Posterior(
        prior, *map(frozen, (rows, spread, factor, counts.copy(), sums.copy(), misfit, *path))
    )


def _first_rows(prior: Prior) -> np.ndarray:
    return np.vstack([np.zeros_like(prior.mean), prior.mean, np.ones_like(prior.mean)])

"""One job's part of the search, and the terms that jobs and tenants search under."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from easeml.search.arms import Arm
from easeml.search.checks import require
from easeml.search.surrogates import Posterior

_NO_ARMS = np.zeros(0, dtype=int)
_BELIEVED = 4  # results, up to which expected improvements are taken as they are


@dataclass(frozen=True, slots=True)
class Budget:
    """What a job may use up: ``tasks`` (runs), ``seconds`` (of devices) and ``cost``.

    The cost is what the seconds are charged at. None is no limit. Runs under way count, with the
    cost predicted for them; the run that reaches a limit may end above it. Raises ``InvalidInput``
    for a limit that is negative or not a number.
    """

    tasks: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        _check("limit", self.tasks, "budget.tasks")
        _check("limit", self.seconds, "budget.seconds")
        _check("limit", self.cost, "budget.cost")


@dataclass(frozen=True, slots=True)
class Terms:
    """A tenant's share.

    ``priority`` above 0 weighs its gains and its turns; ``devices``: most runs at once;
    ``seconds``: most device seconds in all (None: no quota). Raises ``InvalidInput``.
    """

    priority: float = 1.0
    devices: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        require(
            0 < self.priority < math.inf,
            f"The priority {self.priority} is not a number above 0.",
            where="terms.priority",
        )
        _check("quota", self.devices, "terms.devices")
        _check("quota", self.seconds, "terms.seconds")


def _check(what: str, limit: float | None, where: str) -> None:
    is_limit = limit is None or limit >= 0  # NaN is none
    require(is_limit, f"The {what} {limit} is not a number of at least 0.", where=where)


def is_reached(limit: float | None, used: float) -> bool:
    """Return whether as much was used as may be; never without a limit."""
    return limit is not None and used >= limit


_NO_LIMITS = Budget()


@dataclass(frozen=True, eq=False)
class SearchJob:
    """One job's part of the state.

    Arms are indices into ``arms``; ``costs`` (K,) in device seconds. ``active``: the provider lets
    it take part; ``resting``: it has converged. ``deadline``: moment by which runs must be expected
    to end; ``now``: the present moment, kept for jobs with a deadline. ``spent``: device seconds,
    ``charged``: what they were charged at. ``overhead``: seconds that starting and keeping any run
    costs beside its own. ``chances``: that each of the first arms keeps the rules
    of the job, 1 for those after them; ``best`` is the best of those that kept them.
    """

    name: str
    tenant: str
    arms: tuple[Arm, ...]
    costs: np.ndarray
    posterior: Posterior
    active: bool = True
    running: tuple[int, ...] = ()
    finished: frozenset[int] = frozenset()
    failed: frozenset[int] = frozenset()
    best: float | None = None
    spent: float = 0.0
    charged: float = 0.0
    budget: Budget = Budget()
    deadline: float = math.inf
    now: float = 0.0
    resting: bool = False
    chances: tuple[float, ...] = ()
    overhead: float = 0.0

    @cached_property
    def startable(self) -> np.ndarray:
        """Indices of arms that may be started now, in order."""
        if not self.active or self.resting or not self.within_budget:
            return _NO_ARMS

        free = self._without([*self.running, *self.finished, *self.failed])
        if self.deadline == math.inf:
            return free
        ends = self.now + self.costs[free]
        return free[ends <= self.deadline]

    @cached_property
    def untried(self) -> np.ndarray:
        """Indices of arms without a result yet, those under way included."""
        return self._without([*self.finished, *self.failed])

    @cached_property
    def highest_cost(self) -> float:
        """The most that a run of any arm is predicted to take, in device seconds."""
        return float(self.costs.max())

    @cached_property
    def within_budget(self) -> bool:
        """May another run start?"""
        budget = self.budget
        if budget == _NO_LIMITS:
            return True
        return not (
            is_reached(budget.tasks, self.runs)
            or is_reached(budget.seconds, self.spent + self.ahead)
            or is_reached(budget.cost, self.charged + self.ahead)
        )

    @property
    def runs(self) -> int:
        """How many runs there were, with those under way."""
        return len(self.running) + len(self.finished) + len(self.failed)

    @cached_property
    def ahead(self) -> float:
        """Device seconds that the runs under way are predicted to take."""
        return float(self.costs[list(self.running)].sum())

    @cached_property
    def believed(self) -> Posterior:
        """The belief as if every arm under way came out at its mean."""
        if not self.running:
            return self.posterior
        return self.posterior.believe(self.running)

    @cached_property
    def incumbent(self) -> float | None:
        """The best quality found, or believed of an arm under way; None before the first run."""
        means, *_ = self.posterior.about(np.array(self.running, dtype=int))
        qualities = means.tolist()
        if self.best is not None:
            qualities.append(self.best)
        return max(qualities, default=None)

    @cached_property
    def improvement(self) -> np.ndarray:
        """Expected improvement (K,) of each arm over the incumbent; without any run over 0.

        An arm that may break the rules of the job counts with the chance that it does not.
        """
        return self.believed.improvement(self.reached) * self.all_chances

    @cached_property
    def gains(self) -> np.ndarray:
        """What each arm (K,) may be expected to add, of its ``improvement``, after so many results.

        The qualities of a job pile up below one that nothing on its data exceeds, which a normal
        belief does not know, and those of one model's configurations do so among themselves. Were
        they even below it, the next of n + 1 would add (n + 1) (n + 2) times less than their range
        (David and Nagaraja, Order Statistics, 2003, section 2.2: the means of the highest of n and
        of n + 1). So it is with the expected improvements of live searches: up to the third result
        they come true in the mean, and then a share of them that falls with the square of the
        results (decision 0137).
        """
        found = self.improvement * (self.share_of_all * self.share_of_all)
        groups = self.posterior.prior.groups
        if groups is None:
            return found
        results = np.bincount(groups[list(self.finished)], minlength=groups.max() + 1)
        return found * (_share_that_comes_true(results) ** 2)[groups]

    @property
    def share_of_all(self) -> float:
        """Which share comes true of what all untried arms together are believed to add.

        Of qualities that lie evenly below an end the highest of n is on average one (n + 1)th of
        their range away from it: what is left falls with the results, where the gain of the next
        one falls with their square (see ``gains``).
        """
        return share_of_all(len(self.finished))

    @property
    def reached(self) -> float:
        """The quality of the incumbent; 0 before the first run."""
        return self.incumbent or 0.0

    @cached_property
    def all_chances(self) -> np.ndarray:
        """That each arm (K,) keeps the rules of the job."""
        found = np.ones(len(self.arms))
        found[: len(self.chances)] = self.chances
        return found

    @cached_property
    def rates(self) -> np.ndarray:
        """Expected improvement per device second of the ``startable`` arms."""
        return self.improvement[self.startable] / self.costs[self.startable]

    @cached_property
    def best_rate(self) -> float:
        """The highest of the ``rates``; 0 where nothing may be started."""
        return float(self.rates.max(initial=0.0))

    @cached_property
    def gain_rates(self) -> np.ndarray:
        """The ``gains`` per second of the ``startable`` arms, ``overhead`` included."""
        return self.gains[self.startable] / (self.costs[self.startable] + self.overhead)

    @cached_property
    def best_gain_rate(self) -> float:
        """The highest of the ``gain_rates``; 0 where nothing may be started."""
        return float(self.gain_rates.max(initial=0.0))

    def with_result(
        self, arm: int, quality: float | None, seconds: float, charge: float
    ) -> "SearchJob":
        """Return the job after a run of ``arm`` ended.

        Without quality the run failed, and the arm is excluded.
        """
        ended = replace(
            self,
            running=tuple(a for a in self.running if a != arm),
            spent=self.spent + seconds,
            charged=self.charged + charge,
        )
        if quality is None:
            return replace(ended, failed=self.failed | {arm})

        best = quality if self.best is None else max(self.best, quality)
        return replace(
            ended,
            posterior=self.posterior.observe(arm, quality),
            finished=self.finished | {arm},
            best=best,
        )

    def _without(self, taken: list[int]) -> np.ndarray:
        free = np.ones(len(self.arms), dtype=bool)
        free[taken] = False
        return np.flatnonzero(free)


def share_of_all(results: int) -> float:
    """Return ``SearchJob.share_of_all`` after so many results."""
    return float(_share_that_comes_true(np.array(results)))


def _share_that_comes_true(results: np.ndarray) -> np.ndarray:
    """Return the share of what is believed to be left that is, after so many ``results``."""
    return np.minimum(1.0, _BELIEVED / (results + 1))

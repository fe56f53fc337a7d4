"""What policies would have done with the searches of a log of decisions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from easeml.errors import NotReady
from easeml.search.arms import Arm
from easeml.search.decision_log import Change, FinishedRun, Values, arms_of
from easeml.search.evidence import learned_beside
from easeml.search.jobs import Terms
from easeml.search.prior import PastRun
from easeml.search.simulator.compare import Comparison, Setting, rivals
from easeml.search.simulator.curves import Curve, clairvoyant, curve
from easeml.search.simulator.events import Entry, Scenario, simulate_jobs
from easeml.search.simulator.workload import Workload
from easeml.search.surrogates import Prior

_LEAST_SECONDS = 0.01  # that a run is said to have taken
_NO_ARM = 1e-12  # seconds of an arm that a search has not, in a table with an arm a column


@dataclass
class _Search:
    """A search as the log tells it. ``results``: arm -> quality (None: it failed) and seconds."""

    tenant: str
    arrived: float
    arms: list[Arm]
    overhead: float = 0.0
    results: dict[int, tuple[float | None, float]] = field(default_factory=dict)

    @property
    def has_result(self) -> bool:
        """Whether any run reached a quality."""
        return any(quality is not None for quality, _ in self.results.values())


@dataclass(frozen=True, eq=False)
class Recorded:
    """The searches of a log that had a result, with the arms that were run.

    ``arrivals``: seconds from the first to each, in the order of the entries; ``before``: finished
    runs of other searches; ``terms``: the shares of tenants, by entry; ``order``: (entry, arm) as
    the runs ended, at the seconds ``ends`` from the first arrival.
    """

    entries: list[Entry]
    arrivals: dict[int, float]
    before: list[PastRun]
    terms: dict[int, Terms]
    order: list[tuple[int, int]]
    ends: list[float]

    @property
    def workload(self) -> Workload:
        """Qualities and costs as tables, a search a row; an arm that it has not costs nothing."""
        widest = max(len(entry.arms) for entry in self.entries)
        quality = np.full((len(self.entries), widest), np.nan)
        cost = np.full(quality.shape, _NO_ARM)
        for place, entry in enumerate(self.entries):
            quality[place, : len(entry.arms)] = entry.quality
            cost[place, : len(entry.arms)] = entry.seconds
        names = _numbered("search", len(self.entries))
        return Workload(np.clip(quality, 0.0, 1.0), cost, names, _numbered("arm", widest))

    @property
    def happened(self) -> Curve:
        """The losses as they were, against the seconds that were spent; see ``since_arrival``."""
        work = self.workload
        entries, arms = np.array(self.order).T
        steps = np.arange(1, len(self.order) + 1)
        reached = np.zeros((len(self.order) + 1, len(self.entries)))
        # A run that failed reached nothing.
        reached[steps, entries] = np.nan_to_num(work.quality[entries, arms])
        spent = np.cumsum([0.0, *work.cost[entries, arms]])
        loss = work.best - np.maximum.accumulate(reached, axis=0)
        times = np.array([0.0, *self.ends])
        return self.since_arrival(Curve(spent / float(work.cost.sum()), times, loss))

    def since_arrival(self, found: Curve) -> Curve:
        """Return a curve in which a search that has not come yet loses nothing."""
        arrivals = np.array(list(self.arrivals.values()))
        is_there = found.time[:, None] >= arrivals
        return found._replace(loss=np.where(is_there, found.loss, 0.0))


def recorded(logs: Iterable[Iterable[Change]]) -> Recorded:
    """Return the searches of the logs of one scheduler after the other.

    Raises ``NotReady`` where no search has a result.
    """
    reading = _Reading()
    for change in chain.from_iterable(logs):
        reading.take(change.kind, change.values)
    return reading.found()


def compare_recorded(
    found: Recorded,
    policies: Sequence[str],
    devices: int,
    *,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Let every policy search what was recorded, on so many devices, as this easeml would have.

    Every run takes as long and reaches what it did; what is believed of costs is what was believed.
    The clairvoyant has all searches from the start.
    ``progress`` is called with the share that is done. Raises ``InvalidInput`` for an unknown
    policy.
    """
    chosen = rivals(policies)
    work = found.workload
    scenario = Scenario((1.0,) * devices, found.arrivals, terms=found.terms)

    def learn(arms: Sequence[Arm], runs: Sequence[PastRun]) -> Prior:
        return learned_beside(arms, found.before, runs).over(arms)

    curves = {}
    for place, (name, policy) in enumerate(chosen.items(), start=1):
        trace = simulate_jobs(found.entries, policy, scenario, learn=learn)
        curves[name] = [found.since_arrival(curve(trace, work))]
        if progress:
            progress(place / len(chosen))
    setting = Setting(tenants=len(found.entries), devices=devices, seeds=1)
    return Comparison(setting, curves, [clairvoyant(work)])


class _Reading:
    """Collects from the changes of logs what is needed to search again."""

    def __init__(self) -> None:
        self._now = 0.0
        self._searches: dict[str, _Search] = {}
        self._runs: dict[str, FinishedRun] = {}
        self._terms: dict[str, Terms] = {}
        self._ended: list[tuple[tuple[str, int], float]] = []  # job and arm, moment

    def take(self, kind: str, values: Values) -> None:
        """Take one change; those that are not of use are left out."""
        act = {
            "add_arms": self._add_arms,
            "add_job": self._add_job,
            "observed": self._observed,
            "set_now": self._set_now,
            "set_runs": self._set_runs,
            "set_terms": self._set_terms,
        }.get(kind)
        if act is not None:
            act(**values)

    def found(self) -> Recorded:
        """Return what was collected."""
        told = {name: one for name, one in self._searches.items() if one.has_result}
        if not told:
            raise NotReady(
                "No search of the log has a result yet.",
                remedy="Come back when the first tasks are done.",
            )
        searches = list(told.values())
        first = min(one.arrived for one in searches)
        before = [run.lesson for run in self._runs.values() if run.job not in self._searches]
        places = _places(told)
        ended = [(places[run], moment) for run, moment in self._ended if run in places]
        order, moments = zip(*ended, strict=True)
        return Recorded(
            [_entry(one, before) for one in searches],
            arrivals={place: one.arrived - first for place, one in enumerate(searches)},
            before=before,
            terms=self._terms_of(searches),
            order=list(order),
            ends=[moment - first for moment in moments],
        )

    def _terms_of(self, searches: Sequence[_Search]) -> dict[int, Terms]:
        """Return the shares; who may use how much has been counted already in what was run."""
        shares = {}
        for place, one in enumerate(searches):
            if one.tenant in self._terms:
                shares[place] = replace(self._terms[one.tenant], seconds=None)
        return shares

    def _set_now(self, now: float) -> None:
        self._now = now

    def _add_job(self, job: str, tenant: str, arms: Sequence[Values], **rest: Any) -> None:
        # A later leader takes over a search that is there already.
        search = self._searches.setdefault(job, _Search(tenant, self._now, []))
        search.arms = arms_of(arms)
        search.overhead = rest.get("overhead", 0.0)  # earlier logs name none

    def _add_arms(self, job: str, arms: Sequence[Values], since: float | None) -> None:
        self._searches[job].arms += arms_of(arms)

    def _observed(self, job: str, arm: int, quality: float | None, cost: float) -> None:
        search = self._searches[job]
        if arm not in search.results:
            self._ended.append(((job, arm), self._now))
        search.results[arm] = (quality, max(cost, _LEAST_SECONDS))

    def _set_runs(self, runs: dict[str, Sequence[Any] | None]) -> None:
        for id, run in runs.items():
            if run is not None:
                self._runs[id] = FinishedRun.of(*run)

    def _set_terms(self, tenant: str, **terms: Any) -> None:
        self._terms[tenant] = Terms(**terms)


def _numbered(what: str, count: int) -> tuple[str, ...]:
    return tuple(f"{what} {number}" for number in range(1, count + 1))


def _places(searches: Mapping[str, _Search]) -> dict[tuple[str, int], tuple[int, int]]:
    """Return (entry, place among its arms that ran) by search and arm."""
    places = {}
    for entry, (name, search) in enumerate(searches.items()):
        for column, arm in enumerate(sorted(search.results)):
            places[name, arm] = (entry, column)
    return places


def _entry(search: _Search, before: Sequence[PastRun]) -> Entry:
    ran = sorted(search.results)
    arms = tuple(search.arms[arm] for arm in ran)
    qualities, seconds = zip(*(search.results[arm] for arm in ran), strict=True)
    return Entry(
        search.tenant,
        arms,
        learned_beside(arms, before, []).over(arms),
        np.array(qualities, dtype=float),  # NaN of a run that failed
        np.array(seconds),
        overhead=search.overhead,
    )

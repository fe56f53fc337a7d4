"""Policies beside each other on one workload: the same draws of tenants, costs and past for all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from easeml.search.arms import Arm
from easeml.search.checks import require
from easeml.search.costs import CostBelief, Work
from easeml.search.evidence import is_contradicted
from easeml.search.policies import Policy, policy_named
from easeml.search.prior import PastRun, default_prior, learned_prior
from easeml.search.simulator.curves import LEVELS, Curve, clairvoyant, curve
from easeml.search.simulator.events import Learn, Scenario, simulate
from easeml.search.simulator.workload import Workload, split, uniform_costs
from easeml.search.surrogates import Prior
from easeml.search.table_priors import angular_prior, empirical_prior

GRID = np.unique(np.concatenate([[0.0], np.geomspace(1e-5, 1, 301), np.linspace(0, 1, 201)]))
COSTS = ("learned", "measured", "uniform")
HISTORIES = ("given", "none", "misleading")


@dataclass(frozen=True)
class Setting:
    """How to compare: number of ``tenants`` under test, ``devices`` and ``seeds``.

    ``costs``: ``measured``, ``uniform`` (drawn anew for each seed), or ``learned``: the measured
    ones, of which policies know only what past runs and their own have taught; ``history``:
    ``given`` (the other tenants' qualities), ``none``, or ``misleading`` (the same, with the
    columns' names mixed up). ``first_seed``: of them. Raises ``InvalidInput``.
    """

    tenants: int = 10
    devices: int = 1
    seeds: int = 30
    costs: str = "measured"
    history: str = "given"
    first_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("tenants", "devices", "seeds"):
            count = getattr(self, name)
            require(count >= 1, f"{count} is not a number of at least 1.", where=name)
        require(
            self.first_seed >= 0,
            f"The seed {self.first_seed} is below 0.",
            where="first_seed",
        )
        require(
            self.costs in COSTS,
            f"There are no costs {self.costs!r}.",
            where="costs",
            remedy=f"Use {COSTS}.",
        )
        require(
            self.history in HISTORIES,
            f"There is no history {self.history!r}.",
            where="history",
            remedy=f"Use {HISTORIES}.",
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """The curves of all policies.

    ``curves``: policy -> one ``Curve`` a seed; ``limit``: those of the clairvoyant on one device.
    """

    setting: Setting
    curves: dict[str, list[Curve]]
    limit: list[Curve]

    def to_json(self) -> dict[str, Any]:
        """Return lists over a grid of cost shares for every policy, and figures of its quality."""
        limit = _told(self.limit)
        policies = {}
        for name, curves in self.curves.items():
            policies[name] = {**_told(curves), "clairvoyant": limit["mean_loss"]}
        return {
            "tenants": self.setting.tenants,
            "devices": self.setting.devices,
            "seeds": self.setting.seeds,
            "costs": self.setting.costs,
            "history": self.setting.history,
            "levels": list(LEVELS),
            "policies": {**policies, "clairvoyant": limit},
            "clairvoyant": limit,
        }


def compare(
    workload: Workload,
    policies: Sequence[str],
    setting: Setting,
    *,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Simulate every policy on the same draws of tenants, costs and past, one for each seed.

    easeml's policies learn from the tenants under test while these search, if there is no past, or
    they contradict it.

    ``progress`` is called with the share that is done. Raises ``InvalidInput`` for an unknown
    policy, or more tenants than the workload has.
    """
    found = rivals(policies)
    curves: dict[str, list[Curve]] = {name: [] for name in found}
    limit = []
    for number in range(setting.seeds):
        seed = setting.first_seed + number
        past, work = draw(workload, setting, seed)
        costs = past_costs(workload, setting, seed) if setting.costs == "learned" else None
        limit.append(clairvoyant(work))
        knowledge = _Knowledge(past, work.models)
        for place, (name, policy) in enumerate(found.items(), start=1):
            prior, learn = knowledge.of(policy)
            ran = one_run(work, policy, prior, setting.devices, seed, learn, costs)
            curves[name].append(ran)
            if progress:
                progress((number + place / len(found)) / setting.seeds)
    return Comparison(setting, curves, limit)


def rivals(names: Sequence[str]) -> dict[str, Policy]:
    """Return the policies of some names, each once; the clairvoyant is none, and always there.

    Raises ``InvalidInput`` for an unknown policy.
    """
    return {name: policy_named(name) for name in names if name != "clairvoyant"}


class _Knowledge:
    """What the past of one draw teaches policies, learned once for all that learn alike."""

    def __init__(self, past: np.ndarray, models: Sequence[str]):
        self._past = past
        self._models = models

    def of(self, policy: Policy) -> tuple[Prior, Learn | None]:
        """Return what a policy believes at first, and how it learns from tenants beside it."""
        if not policy.own_prior:
            return self._published, None
        return self._own, lessons(self._past, self._models, self._own)

    @cached_property
    def _own(self) -> Prior:
        return belief(self._past, self._models, own=True)

    @cached_property
    def _published(self) -> Prior:
        return belief(self._past, self._models, own=False)


def draw(workload: Workload, setting: Setting, seed: int) -> tuple[np.ndarray, Workload]:
    """Return the past qualities, perhaps none, and the workload of the tenants under test."""
    generator = np.random.default_rng(seed)
    past, work = split(workload, setting.tenants, generator)
    if setting.costs == "uniform":
        work = uniform_costs(work, generator)
    if setting.history == "misleading":
        past = past[:, generator.permutation(past.shape[1])]
    if setting.history == "none":
        past = past[:0]
    return past, work


def past_costs(workload: Workload, setting: Setting, seed: int) -> CostBelief:
    """Return what the past of ``draw`` teaches of the costs of models; nothing without history."""
    if setting.history == "none":
        return CostBelief.of(())
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(workload.tenants))
    columns = np.arange(len(workload.models))
    if setting.history == "misleading":
        columns = generator.permutation(columns.size)
    runs = []
    for tenant in order[setting.tenants :].tolist():
        for model, column in zip(workload.models, columns.tolist(), strict=True):
            work = Work(model, job=f"past {tenant}")
            runs.append((work, float(workload.cost[tenant, column])))
    return CostBelief.of(runs)


def belief(past: np.ndarray, models: Sequence[str], *, own: bool) -> Prior:
    """Return easeml's ``own`` prior from past qualities, or that of the published policies.

    Without any past it is ``default_prior``. A model that no past tenant ran is expected to be like
    the average of all.
    """
    known = past[~np.isnan(past).all(axis=1)]
    if not len(known):
        return default_prior([Arm(model, model, 1.0) for model in models])
    unknown = np.isnan(known).all(axis=0)
    known = np.where(unknown, np.nanmean(known, axis=1, keepdims=True), known)
    return angular_prior(known) if own else empirical_prior(known)


def lessons(past: np.ndarray, models: Sequence[str], prior: Prior) -> Learn:
    """Return how easeml learns from tenants that search beside each other.

    ``prior``: what the past taught.
    """
    if not len(past):
        return learned_prior
    places = {model: place for place, model in enumerate(models)}
    return partial(_lesson, prior, places)


def _lesson(
    prior: Prior, places: Mapping[str, int], arms: Sequence[Arm], runs: Sequence[PastRun]
) -> Prior:
    """Return the prior that the past taught, unless ``runs`` of today contradict it."""
    if is_contradicted(prior, places, runs):
        return learned_prior(arms, runs)
    return prior


def one_run(
    work: Workload,
    policy: Policy,
    prior: Prior,
    devices: int,
    seed: int,
    learn: Learn | None = None,
    costs: CostBelief | None = None,
) -> Curve:
    """Return the curve of one policy on one draw, to where nobody has anything to gain.

    ``learn``, ``costs``: as ``simulate``.
    """
    scenario = Scenario(speeds=(1.0,) * devices, until_best=True)
    trace = simulate(work, policy, prior, scenario, seed=seed, learn=learn, costs=costs)
    return curve(trace, work)


def curve_json(one: Curve) -> dict[str, Any]:
    """Return what ``Comparison.to_json`` tells of a policy, of one curve."""
    return _told([one])


def half_width(values: np.ndarray, comparisons: int = 1) -> np.ndarray:
    """Return half the width of the 95 % interval of the mean over the first axis (Student t).

    ``comparisons``: how many intervals must hold at once (Bonferroni).
    """
    from scipy.stats import t as student  # here: it is slow to import

    count = len(values)
    if count < 2:
        return np.full(values.shape[1:], np.inf)
    quantile = student.ppf(1 - 0.025 / comparisons, count - 1)
    return quantile * values.std(axis=0, ddof=1) / np.sqrt(count)


def _told(curves: list[Curve]) -> dict[str, Any]:
    losses = np.array([each.at(GRID) for each in curves])
    means = losses.mean(axis=2)
    middle = means.mean(axis=0)
    half = half_width(means)
    half = np.where(np.isfinite(half), half, 0.0)  # of one seed there is none
    interval = np.column_stack([np.maximum(middle - half, 0.0), middle + half])

    return {
        "cost_share": GRID.tolist(),
        "mean_loss": middle.tolist(),
        "interval": interval.tolist(),
        "worst_loss": losses.max(axis=2).mean(axis=0).tolist(),
        "area": _mean(attrgetter("area"), curves),
        "share_to_level": [_mean(methodcaller("share_to", level), curves) for level in LEVELS],
        "share_to_most": _mean(attrgetter("share_to_most"), curves),
        "seconds_to_level": [_mean_time(curves, level) for level in LEVELS],
    }


def _mean(figure: Callable[[Curve], float], curves: list[Curve]) -> float:
    return float(np.mean(list(map(figure, curves))))


def _mean_time(curves: list[Curve], level: float) -> float | None:
    times = [each.time_to(level) for each in curves]
    if not np.isfinite(times).all():
        return None
    return float(np.mean(times))

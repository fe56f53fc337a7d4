"""A search for models within processor seconds, in this process.

The same policy, beliefs of costs, optimizer and ensembles as a service has. Fits run one after
another; what they may take is told by the seconds that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from easeml.data.errors import did_you_mean
from easeml.estimators.outcome import Trial
from easeml.estimators.problem import Clock, Found, Problem
from easeml.modules import Module, Predictions, Registry
from easeml.modules.calibration import calibrated, floored
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.joined import joined
from easeml.modules.pipeline import Context, TrainedPipeline, fit
from easeml.modules.selection import choose, seconds_to_choose
from easeml.modules.weights import of_rows
from easeml.search import (
    Arm,
    CostBelief,
    Observation,
    SearchState,
    Work,
    add_arms,
    add_job,
    default_prior,
    models_to_extend,
    observed,
    policy_named,
    set_costs,
    set_deadline,
    set_now,
    spaces,
)
from easeml.search.optimizers import Tried, optimizer_named

_JOB = "search"
_CONFIGURATIONS = 4  # of each model at first, as a service's searches begin
_EACH = 2  # configurations at once, of a model that gets more
_LEASH = 4.0  # times what a fit is believed to take; a fit of steps ends then with what it has
_MEMBERS = 6  # models of an ensemble, at most
_KEPT = 16  # models from which it may be chosen
_REFIT = 1.4  # times the seconds of a fit on the train rows: the others are a quarter of all
_LATE = 0.03  # of the seconds: by so much a last fit may be late
_SLACK = 0.01  # of the seconds, for what nobody foresees
_LAST_SHARE = 0.3  # of the seconds, at most, for the last fits on all rows


class Search:
    """The trials of a problem, chosen one after another by easeml's default policy."""

    def __init__(self, registry: Registry, problem: Problem, clock: Clock):
        self._registry = registry
        self._problem = problem
        self._clock = clock
        self._classes = problem.classes
        self._costs = CostBelief.of((), overhead=0.0)  # nothing is read or written beside a fit
        self._modules: list[Module] = []
        self._transforms: dict[str, list[Module]] = {}  # by model
        self._configs: list[dict[str, Any]] = []
        self._arms: list[Arm] = []
        self._firsts = 0  # of the arms: those that the caller wants first
        self._tried: dict[int, Trial] = {}
        self._last_fits: float | None = None  # seconds, where it is known what these are
        self._seconds_to_choose = 0.0  # for each model that is chosen among
        self._state = SearchState()

    def run(self, tell: Callable[[Trial], None]) -> list[Trial]:
        """Try models until the time or their number is over; ``tell`` hears of each."""
        self._begin()
        while len(self._tried) < self._problem.trials:
            self._propose()
            latest = self._problem.limit - self._reserve()
            self._state = set_deadline(self._state, _JOB, latest)
            self._state = set_now(self._state, self._clock.used())
            arm = self._next(latest)
            if arm is None:
                if self._settles():
                    continue
                break
            trial = self._try(arm, latest)
            self._learn(arm, trial)
            tell(trial)
        return list(self._tried.values())

    def _next(self, latest: float) -> int | None:
        """Return what to try now; None where the time is over. One model is tried whatever it takes.

        ``latest``: the second in which a fit has to end.
        """
        known = self._next_of_the_first(latest)
        if known is not None:
            return known
        decisions = policy_named("default").decide(self._state, 1)
        if decisions:
            return decisions[0].arm
        if self._tried:
            return None
        return self._cheapest()

    def _next_of_the_first(self, latest: float) -> int | None:
        """Return the next of those that the caller wants first and that should end in time."""
        left = latest - self._clock.used()
        costs = self._state.job(_JOB).costs
        for arm in range(self._firsts):
            if arm not in self._tried and costs[arm] <= left:
                return arm
        return None

    def _begin(self) -> None:
        """Add what the caller wants first, and some configurations of all models that may be tried."""
        table = self._problem.table
        matches = self._registry.models_for(table.schema_in, table.schema_out)
        self._check_names([match.module.name for match in matches])
        fitting = [match.module for match in matches if match.fits]
        modules = {module.name: module for module in fitting if self._may_be_tried(module)}
        for choice in self._problem.first:
            if choice["module"] in modules:
                self._add(modules[choice["module"]], [choice["config"]])
        self._firsts = len(self._arms)
        for module in modules.values():
            wanted = list(map(attrgetter("config"), self._tried_of(module.name)))
            space = module.space_on(*self._size())
            configs = spaces.suggest(space, _CONFIGURATIONS, seed=0)
            self._add(module, [config for config in configs if config not in wanted])
        if not self._arms:
            raise ValueError(self._why_none())
        self._state = add_job(self._state, _JOB, "me", self._arms, default_prior(self._arms))

    def _why_none(self) -> str:
        """Return why nothing can be tried, in a sentence."""
        weights = "" if self._problem.weights is None else " and learns from weights"
        return f"No model fits these columns{weights}, or those that may be tried do not."

    def _may_be_tried(self, module: Module) -> bool:
        """Tell whether the caller lets a model be tried; without any name, all may be that learn from
        weights, where there are any.
        """
        named = self._problem.models
        is_wanted = not named or module.name in named
        return is_wanted and (self._problem.weights is None or module.weights)

    def _check_names(self, known: list[str]) -> None:
        """Raise ``ValueError`` where the caller names a model that there is not."""
        unknown = [name for name in self._problem.models if name not in known]
        if unknown:
            name = unknown[0]
            raise ValueError(f"There is no model {name!r}. {did_you_mean(name, known)}")

    def _add(self, module: Module, configs: Sequence[dict[str, Any]]) -> list[Arm]:
        """Add configurations of a model to those that may be tried."""
        added = []
        for config in configs:
            work = self._work(module, config)
            cost = float(self._costs.predict([work]).seconds[0])
            name = f"{module.name} {len(self._arms)}"
            arm = Arm(name, module.name, cost, work.features)
            self._modules.append(module)
            self._configs.append(config)
            self._arms.append(arm)
            added.append(arm)
        return added

    def _work(self, module: Module, config: Mapping[str, Any]) -> Work:
        rows, columns = self._size()
        return Work(
            module.name,
            rows,
            columns,
            tuple(spaces.features(module.space, config)),
            job=_JOB,
            hinted=module.hinted_cost(rows, columns, self._classes, config),
            classes=self._classes,
        )

    def _size(self) -> tuple[int, int]:
        """Return how many rows a model is trained on, and how many columns they have."""
        columns = self._problem.table.frame.shape[1] - 1
        return len(self._problem.splits[0][0]), columns

    def _propose(self) -> None:
        """Add configurations of the most promising models of which few are untried."""
        added: list[Arm] = []
        for name in models_to_extend(self._state.job(_JOB), self._can_vary):
            module = self._registry.get(name)
            space = module.space_on(*self._size())
            configs = optimizer_named().propose(space, self._tried_of(name), _EACH, seed=0)
            added += self._add(module, configs)
        if added:
            self._state = add_arms(self._state, _JOB, added, default_prior(self._arms))

    def _tried_of(self, name: str) -> list[Tried]:
        """Return the configurations of a model, with their quality as far as it is known."""
        tried = []
        for arm, module in enumerate(self._modules):
            if module.name == name:
                tried.append(Tried(self._configs[arm], self._quality(arm)))
        return tried

    def _can_vary(self, name: str) -> bool:
        space = self._registry.get(name).space
        return bool(spaces.parse(space).unused())

    def _quality(self, arm: int) -> float | None:
        if arm not in self._tried:
            return None
        return self._tried[arm].quality

    def _settles(self) -> bool:
        """Tell whether time is left for more, since the last fits need less than was kept for them.

        Before, as much is kept as the best models would need together; which of them will predict
        is known when they are chosen. That is not done where it would take what it can win.
        """
        kept, slack = self._reserve(), _SLACK * self._problem.limit
        fitted = _fitted_best_first(self._tried.values())
        if not fitted or kept - 2 * self._choosing(len(fitted)) < 2 * slack:
            return False
        began = self._clock.used()
        members, _ = _chosen(self._problem, fitted)
        self._seconds_to_choose = (self._clock.used() - began) / len(fitted)
        self._last_fits = sum(seconds_of_a_fit(self._problem, trial) for trial, _ in members)
        return kept - self._reserve() > slack

    def _choosing(self, models: int) -> float:
        """Return the seconds that it takes to choose among so many models."""
        return self._seconds_to_choose * min(models, _KEPT)

    def _reserve(self) -> float:
        """Return the seconds to keep for choosing models and for the last fits, on all rows."""
        fits = self._last_fits
        if fits is None:
            best = _best_first(self._tried.values())[:_MEMBERS]
            expected = sum(seconds_of_a_fit(self._problem, trial) for trial in best)
            fits = min(expected, _LAST_SHARE * self._problem.limit)
        return fits + self._choosing(len(self._tried)) + _SLACK * self._problem.limit

    def _cheapest(self) -> int:
        return int(np.argmin(self._state.job(_JOB).costs))

    def _try(self, arm: int, latest: float) -> Trial:
        problem, module, config = self._problem, self._modules[arm], self._configs[arm]
        began = self._clock.used()
        leash = min(latest - began, _LEASH * max(self._arms[arm].cost, 1.0))
        pipeline = self._pipeline(module, config)
        trained, said = [], []
        try:
            for number, (train, held) in enumerate(problem.splits, start=1):
                ends = began + leash * number / len(problem.splits)
                trained.append(fit_on(problem, pipeline, train, self._clock, ends))
                said.append(trained[-1].predict(problem.table.frame.iloc[held]))
            temperature, together = calibrated(
                problem.actual, floored(joined(said)), problem.held_weights
            )
            quality = problem.quality(together)
        except Exception as error:  # whatever a module raises ends its own trial alone
            spent = self._clock.used() - began
            return Trial(module.name, pipeline, spent, error=str(error))
        spent = self._clock.used() - began
        fitted = tuple(one.at_temperature(temperature) for one in trained)
        return Trial(module.name, pipeline, spent, quality, "", fitted, together, temperature)

    def _pipeline(self, module: Module, config: dict[str, Any]) -> dict[str, Any]:
        """Return the pipeline of a model with the transforms that the columns need before it."""
        if module.name not in self._transforms:
            chain = self._registry.candidates(module, self._problem.table.schema_in)
            self._transforms[module.name] = chain
        chain = self._transforms[module.name]
        transforms = [{"module": one.name, "config": {}} for one in chain]
        return {"transforms": transforms, "model": {"module": module.name, "config": config}}

    def _learn(self, arm: int, trial: Trial) -> None:
        """Take in a trial: what it reached, and what it says of the costs of the others."""
        self._tried[arm] = trial
        if self._last_fits is not None:  # it may come to be one of those that predict
            self._last_fits += seconds_of_a_fit(self._problem, trial)
        if trial.predictions is not None and not self._seconds_to_choose:
            problem = self._problem
            self._seconds_to_choose = seconds_to_choose(
                problem.objective, problem.actual, trial.predictions, problem.held_weights
            )
        self._forget_the_worst()
        result = Observation(_JOB, arm, trial.quality, trial.seconds)
        self._state = observed(self._state, result)
        work = self._work(self._modules[arm], self._configs[arm])
        self._costs = self._costs.after(work, max(trial.seconds, 1e-3))
        untried = self._state.job(_JOB).untried.tolist()
        if not untried:
            return
        works = [self._work(self._modules[one], self._configs[one]) for one in untried]
        seconds = self._costs.predict(works).seconds.tolist()
        self._state = set_costs(self._state, _JOB, list(zip(untried, seconds, strict=True)))

    def _forget_the_worst(self) -> None:
        """Let go of fitted models that no ensemble will have: they may be large."""
        fitted = [arm for arm, trial in self._tried.items() if trial.trained]
        fitted.sort(key=lambda arm: (self._tried[arm].merit, arm), reverse=True)
        for arm in fitted[_KEPT:]:
            self._tried[arm] = replace(self._tried[arm], trained=(), predictions=None)


def finish(problem: Problem, trials: list[Trial], clock: Clock) -> Found:
    """Choose the model, or the models that together predict best, and fit them on all rows.

    That is left out where it would take more than the seconds that are left. Raises ``ValueError``
    where no model could be fitted.
    """
    fitted = _fitted_best_first(trials)
    if not fitted:
        raise ValueError(f"No model could be fitted. The first reason: {_first_reason(trials)}")
    members, unseen = _chosen(problem, fitted)
    model, refitted = _last_fits(problem, members, clock)
    if isinstance(model, TrainedEnsemble):
        temperature, unseen = calibrated(problem.actual, unseen, problem.held_weights)
        model = replace(model, temperature=temperature)
    quality = problem.quality(unseen)
    return Found(model, members, unseen, quality, refitted, trials)


def _best_first(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that have a quality, the best first."""
    measured = [trial for trial in trials if trial.quality is not None]
    return sorted(measured, key=lambda trial: -trial.merit)


def _fitted_best_first(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials whose models are kept, the best first."""
    return [trial for trial in _best_first(trials) if trial.predictions is not None]


def _first_reason(trials: Sequence[Trial]) -> str:
    """Say why the first of all trials failed, or that there was none."""
    if not trials:
        return "none fits the columns"
    return f"{trials[0].name}: {trials[0].error}"


def _last_fits(
    problem: Problem, members: Sequence[tuple[Trial, float]], clock: Clock
) -> tuple[TrainedPipeline | TrainedEnsemble, bool]:
    """Return the model that members make, and whether all of them were fitted on all rows."""
    fitted: list[TrainedPipeline] = []
    weights: list[float] = []
    refitted = True
    # What counts most is fitted first, before the time is over.
    for trial, weight in sorted(members, key=lambda member: -member[1]):
        own = _on_all_rows(problem, trial, clock)
        refitted = refitted and len(own) == 1
        fitted += own
        weights += [weight / len(own)] * len(own)
    if len(fitted) == 1:
        return fitted[0], refitted
    return TrainedEnsemble(tuple(fitted), tuple(weights)), refitted


def _chosen(
    problem: Problem, good: Sequence[Trial]
) -> tuple[list[tuple[Trial, float]], Predictions]:
    """Return the members with their weights, and what they say of rows that did not choose them."""
    predictions = [trial.predictions for trial in good if trial.predictions is not None]
    alone = ([(good[0], 1.0)], predictions[0])
    if len(good) == 1 or _lacks_probabilities(predictions):
        return alone
    choice = choose(
        problem.objective,
        problem.actual,
        predictions,
        lambda places: len(places) <= _MEMBERS,
        problem.seed,
        problem.held_weights,
    )
    if problem.quality(choice.unseen) <= problem.quality(choice.best):
        return alone
    places = np.flatnonzero(choice.weights).tolist()
    members = [(good[place], float(choice.weights[place])) for place in places]
    return members, choice.unseen


def _lacks_probabilities(predictions: Sequence[Predictions]) -> bool:
    """Tell whether a model names classes without saying how likely they are."""
    if predictions[0].classes is None:
        return False
    return any(one.probabilities is None for one in predictions)


def _on_all_rows(problem: Problem, trial: Trial, clock: Clock) -> tuple[TrainedPipeline, ...]:
    """Return a member fitted on all rows; where there is no time for that, those of the splits."""
    if clock.used() + seconds_of_a_fit(problem, trial) > (1 + _LATE) * problem.limit:
        return trial.trained
    every = np.arange(len(problem.table.frame))
    whole = fit_on(problem, trial.pipeline, every, clock, problem.limit)
    return (whole.at_temperature(trial.temperature),)


def seconds_of_a_fit(problem: Problem, trial: Trial) -> float:
    """Return the seconds that a fit of a trial's pipeline on all rows should take."""
    return _REFIT * trial.seconds / len(problem.splits)


def fit_on(
    problem: Problem, pipeline: Mapping[str, Any], places: np.ndarray, clock: Clock, ends: float
) -> TrainedPipeline:
    """Fit a pipeline on the rows at some places; at the second ``ends`` of the clock it keeps what
    it has. Raises whatever its modules raise.
    """
    context = Context(
        seed=problem.seed,
        threads=problem.threads,
        enough=lambda: clock.used() >= ends,
        objective=problem.objective,
        weights=of_rows(problem.weights, places),
    )
    table = problem.table
    schemas = table.schema_in.to_json(), table.schema_out.to_json()
    return fit(pipeline, table.frame.iloc[places], *schemas, context)

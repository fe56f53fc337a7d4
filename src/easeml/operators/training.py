"""The operator ``search``: easeml's own search over the models that fit, in this process.

Its answer holds recipes: each model is a pipeline with its configuration, and is fitted anew, the
same, by whatever asks for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from easeml.data.errors import did_you_mean
from easeml.errors import InvalidInput
from easeml.lineage import Operator
from easeml.modules import Module, Registry, interval, load_registry
from easeml.modules.pipeline import Context, TrainedPipeline, fit
from easeml.objective_names import meant
from easeml.operators.typed import Rows, columns_of, rows_in
from easeml.relation import Relation
from easeml.schema import Schema
from easeml.search import (
    Arm,
    Observation,
    SearchState,
    add_job,
    default_prior,
    observed,
    policy_named,
    spaces,
)

_CONFIGURATIONS = 4  # of each model: the default and three more, as the service's searches begin
_RESAMPLES = 200  # for the intervals of qualities
_SHOWN = 5  # models of an answer
_JOB = "search"


@dataclass(frozen=True)
class Problem:
    """What is searched: typed rows to learn from and to choose by, and how quality is measured."""

    schemas: tuple[Schema, Schema]
    train: Rows
    validation: Rows
    objective: str
    seed: int

    def fitted(self, pipeline: Mapping[str, Any]) -> TrainedPipeline:
        """Return a model, always the same for the same pipeline."""
        source, target = self.schemas
        frame = self.train.with_answers()
        return fit(pipeline, frame, source.to_json(), target.to_json(), Context(seed=self.seed))


def search(
    relation: Relation,
    trials: int = 20,
    goal: float | None = None,
    objective: str = "",
    models: Sequence[str] = (),
    exclude: Sequence[str] = (),
    roles: Sequence[str] = ("train", "pool"),
    sure: float = 0.9,
    seed: int = 0,
) -> dict[str, Any]:
    """Train models on rows of some roles, and choose one by the validation rows.

    easeml's default policy decides what to try next, with the costs that modules state of
    themselves, so that the same relation gives the same answer. Doubts count as they are likeliest;
    validation rows whose label is in doubt choose nothing.

    Args:
        relation: with a target, and rows of train and validation.
        trials: models to train, at least 1.
        goal: a quality in (0, 1]; the search ends when it is reached, and ``verdict`` says whether.
        objective: by default that of the target's type.
        models: names of those that may be tried; by default all that fit.
        exclude: names of those that may not.
        roles: of the rows to learn from.
        sure: in (0, 1]; labels that are less likely are not learned from.
        seed: of models.

    Returns: JSON values. ``verdict`` (reached, missed, or found without a goal), ``model``,
        ``quality`` with ``low`` and ``high`` (95 %), ``trained``, ``failed``; ``models``: the best,
        each with its pipeline; ``notes``: on inputs that may know the answers, of which it warns,
        too.

    Raises:
        InvalidInput: where rows or labels are missing, no model fits or succeeds, or there is no
            model or objective of a name.
    """
    if trials < 1:
        raise InvalidInput(f"trials is {trials}; it takes at least one.")
    registry = load_registry()
    columns = columns_of(relation)
    schemas = columns.schema_in, columns.schema_out
    for note in columns.leak_notes:
        warnings.warn(note, stacklevel=1)
    measure = _objective(registry, schemas[1], objective)
    problem = _problem(relation, schemas, measure, roles, sure, seed)
    arms, pipelines = _candidates(registry, problem, models, exclude)
    found, failed = _searched(problem, arms, pipelines, trials, goal)
    if not found:
        raise InvalidInput(f"All {len(failed)} models failed. The first: {failed[0]}")
    best = found[0]
    source, target = problem.schemas
    return {
        "verdict": _verdict(best["quality"], goal),
        "model": best["name"],
        "quality": best["quality"],
        "low": best["low"],
        "high": best["high"],
        "objective": problem.objective,
        "trained": len(found),
        "failed": len(failed),
        "roles": list(roles),
        "sure": sure,
        "seed": seed,
        "notes": list(columns.leak_notes),
        "schema_in": source.to_json(),
        "schema_out": target.to_json(),
        "models": found[:_SHOWN],
    }


def problem_again(relation: Relation, searched: Mapping[str, Any]) -> Problem:
    """Return the problem that a search had, so that its models can be fitted anew.

    Raises InvalidInput where that was no search, or the relation is another one.
    """
    if "schema_in" not in searched:
        raise InvalidInput("is no answer of a search.", remedy="Name a step that does a search.")
    schemas = (
        Schema.from_json(searched["schema_in"]),
        Schema.from_json(searched["schema_out"]),
    )
    settings = (searched["objective"], searched["roles"], searched["sure"], searched["seed"])
    return _problem(relation, schemas, *settings)


def _problem(
    relation: Relation,
    schemas: tuple[Schema, Schema],
    objective: str,
    roles: Sequence[str],
    sure: float,
    seed: int,
) -> Problem:
    train = rows_in(relation, schemas, *roles, sure=sure).known
    validation = rows_in(relation, schemas, "validation").known
    if not len(train) or not len(validation):
        raise InvalidInput("No row to learn from, or no row to choose by, has a label.")
    return Problem(schemas, train, validation, objective, seed)


def _candidates(
    registry: Registry, problem: Problem, models: Sequence[str], exclude: Sequence[str]
) -> tuple[list[Arm], list[dict[str, Any]]]:
    """Return what can be tried, with what it is believed to cost. Raises InvalidInput."""
    arms, pipelines = [], []
    matches = registry.models_for(*problem.schemas)
    known = [match.module.name for match in matches]
    _check_names("models", models, known)
    _check_names("exclude", exclude, known)
    for match in matches:
        module = match.module
        is_named = not models or module.name in models
        is_allowed = is_named and module.name not in exclude
        if match.fits and is_allowed:
            space = module.space_on(*problem.train.inputs.shape)
            for config in spaces.suggest(space, _CONFIGURATIONS, seed=0):
                arms.append(_arm(module, config, problem))
                pipelines.append(_pipeline(registry, module, config, problem))
    if not arms:
        raise InvalidInput("No model fits.", remedy="Allow other models, or change the columns.")
    return arms, pipelines


def _objective(registry: Registry, schema_out: Schema, name: str) -> str:
    """Return the objective that is asked for, or the first that fits. Raises InvalidInput."""
    fitting = list(map(attrgetter("name"), registry.objectives_for(schema_out)))
    if not name:
        return fitting[0]
    objective = meant(name)
    if objective not in fitting:
        raise InvalidInput(
            f"There is no objective {name!r} for these answers.",
            where="objective",
            remedy=did_you_mean(name, fitting),
        )
    return objective


def _check_names(where: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise InvalidInput for the name of a model that there is not."""
    if isinstance(names, str):
        raise InvalidInput("is a name, not a list.", where=where, remedy=f"Write [{names!r}].")
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise InvalidInput(
            f"There is no model {unknown[0]!r}.",
            where=where,
            remedy=did_you_mean(unknown[0], known),
        )


def _arm(module: Module, config: dict[str, Any], problem: Problem) -> Arm:
    rows, columns = problem.train.inputs.shape
    cost = module.hinted_cost(rows, columns, config=config)
    features = tuple(spaces.features(module.space, config))
    return Arm(module.name, module.name, cost, features)


def _pipeline(
    registry: Registry, module: Module, config: dict[str, Any], problem: Problem
) -> dict[str, Any]:
    chain = registry.candidates(module, problem.schemas[0])
    transforms = [{"module": one.name, "config": {}} for one in chain]
    return {"transforms": transforms, "model": {"module": module.name, "config": config}}


def _searched(
    problem: Problem,
    arms: Sequence[Arm],
    pipelines: Sequence[dict[str, Any]],
    trials: int,
    goal: float | None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the models that were trained, best first, and why others failed."""
    policy = policy_named("default")
    state = add_job(SearchState(), _JOB, "flow", arms, default_prior(arms))
    found: list[dict[str, Any]] = []
    failed: list[str] = []
    while len(found) + len(failed) < trials:
        decisions = policy.decide(state, 1)
        if not decisions:
            break
        arm = decisions[0].arm
        quality = None
        try:
            found.append(_tried(problem, pipelines[arm]))
            quality = found[-1]["quality"]
        except Exception as error:  # whatever a module raises ends its own trial alone
            failed.append(f"{arms[arm].name}: {error}")
        state = observed(state, Observation(_JOB, arm, quality, arms[arm].cost))
        if goal is not None and quality is not None and quality >= goal:
            break
    found.sort(key=lambda one: -one["quality"])
    return found, failed


def _tried(problem: Problem, pipeline: dict[str, Any]) -> dict[str, Any]:
    """Return a model's pipeline, with its quality on the validation rows."""
    said = problem.fitted(pipeline).predict(problem.validation.inputs)
    quality, low, high = interval(
        problem.objective, problem.validation.answers, said, resamples=_RESAMPLES
    )
    name = pipeline["model"]["module"]
    return {"name": name, "quality": quality, "low": low, "high": high, "pipeline": pipeline}


def _verdict(quality: float, goal: float | None) -> str:
    if goal is None:
        return "found"
    if quality >= goal:
        return "reached"
    return "missed"


OPERATORS = (Operator("search", "1", search),)

"""Candidates of a job: every model that fits, in several configurations.

They are the default, and some that are spread over the model's space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from easeml.contract.states import JobState, TaskGroup, TaskState
from easeml.ids import new_id
from easeml.modules import Module, Registry
from easeml.search import CostBelief, spaces
from easeml.service.knowledge.rules import allowed_models, matching, space_of
from easeml.service.knowledge.trials import cost_belief, finished_trials, work_of
from easeml.store import Tables, Transaction
from easeml.store.records import Application, Candidate, DatasetVersion, Job, Json
from easeml.store.shapes import CandidatePipeline, ModuleConfig, Rules

_TRIED_AGAIN = 3  # candidates of the search on the version before
CONFIGURATIONS = 4  # of each model: the default and three more


def make_candidates(
    registry: Registry,
    application: Application,
    job: Job,
    version: DatasetVersion,
    costs: CostBelief,
    before: Sequence[Candidate] = (),
    told: Sequence[ModuleConfig] = (),
) -> list[Candidate]:
    """Return the arms of ``job`` in a fixed order, with what they are believed to cost.

    ``before``: what did best on the version before; it is tried again. ``told``: models with
    configurations that did best elsewhere. Modules that are private to other tenants are none of
    them.
    """
    registry = registry.seen_by(job.tenant_id)
    rules = application.rules
    matches = matching(registry, version.schema_in, version.schema_out, rules)
    found: list[Candidate] = []
    for match in allowed_models(matches, rules):
        found += _of_model(match.module, match.transforms, rules, job, len(found))
    for one in before:
        again = replace(one, pipeline=replace(one.pipeline, monotonic=rules.monotonic))
        is_open = any(other.model == again.model for other in found)
        if not is_open or not _can_be_tried(registry, again):
            continue
        same = [other for other in found if other.variant == again.variant]
        if again.pipeline in [other.pipeline for other in same]:
            continue
        number = len(same) + 1
        arm = len(found)
        candidate = make_candidate(job, arm, again.model, number, again.pipeline, again.variant)
        found.append(candidate)
    for one in told:
        same = [other for other in found if other.variant == one.module]
        is_known = any(other.pipeline.model.config == one.config for other in same)
        if not same or is_known:
            continue
        pipeline = replace(same[0].pipeline, model=one)
        number = len(same) + 1
        found.append(make_candidate(job, len(found), one.module, number, pipeline))
    return with_costs(registry, found, version, costs)


def _can_be_tried(registry: Registry, candidate: Candidate) -> bool:
    """Whether the transform of a variant is still there for new searches.

    Nothing is known of how its features rise with columns.
    """
    if candidate.variant == candidate.model:
        return True
    if candidate.pipeline.monotonic:
        return False
    transforms = {one.name for one in registry.of_kind("transform")} - registry.archived
    return candidate.pipeline.transforms[-1].module in transforms


def best_before(tables: Tables, job: Job) -> list[Candidate]:
    """Return the best candidates of the application's search before ``job``, the best first."""
    earlier = tables.jobs.list(
        application_id=job.application_id, newest_first=True, after=job.id, limit=1
    )
    if not earlier:
        return []
    done = tables.tasks.list(
        job_id=earlier[0].id, kind=TaskGroup.TRAIN, state=TaskState.DONE, limit=None
    )
    best = sorted(done, key=lambda task: (-(task.quality or 0.0), task.id))[:_TRIED_AGAIN]
    ids = [task.candidate_id for task in best]
    found = {one.id: one for one in tables.candidates.list(id=ids, limit=None)}
    return [found[id] for id in ids]


def add_model(
    tx: Transaction,
    registry: Registry,
    application: Application,
    job: Job,
    model: str,
    costs: CostBelief | None = None,
) -> None:
    """Give ``job`` the arms of a model that it does not have yet.

    A job that prepares its data makes them when it starts.

    ``costs``: what is believed of costs, if it is at hand. Raises ``NotFound`` for a model that is
    private to another tenant.
    """
    registry = registry.seen_by(job.tenant_id)
    tables = tx.scoped(job.tenant_id)
    if job.state == JobState.PREPARING or tables.candidates.find(job_id=job.id, model=model):
        return
    version = tables.versions.get(job.version_id)
    first = tables.candidates.count(job_id=job.id)
    module = registry.get(model)
    chain = registry.candidates(module, version.schema_in)
    found = _of_model(module, chain, application.rules, job, first)
    believed = costs or cost_belief(registry, finished_trials(tx))
    tables.candidates.add_all(with_costs(registry, found, version, believed))
    data = {"added": len(found), "model": model, "application_id": application.id}
    tx.events.append("job.candidates", job.id, data, job.tenant_id)


def extend(
    tx: Transaction,
    registry: Registry,
    job: Job,
    configs: Mapping[str, Sequence[Json]],
    costs: CostBelief,
) -> list[Candidate]:
    """Add configurations of models and variants that ``job`` has already, by their names.

    They stand behind the same transforms as the others of the same name; those that the job has are
    left out. Returns what was added.
    """
    tables = tx.scoped(job.tenant_id)
    candidates = sorted(tables.candidates.list(job_id=job.id, limit=None), key=lambda one: one.arm)
    added: list[Candidate] = []
    for variant, proposed in configs.items():
        own = [one for one in candidates if one.variant == variant]
        known = [one.pipeline.model.config for one in own]
        new = [config for config in proposed if config not in known]
        for number, config in enumerate(new, start=len(own) + 1):
            arm = len(candidates) + len(added)
            model = own[0].model
            pipeline = replace(own[0].pipeline, model=ModuleConfig(model, config))
            added.append(make_candidate(job, arm, model, number, pipeline, variant))
    return keep_added(tx, registry, job, added, costs)


def keep_added(
    tx: Transaction, registry: Registry, job: Job, added: list[Candidate], costs: CostBelief
) -> list[Candidate]:
    """Write candidates that join a search, and tell of them; return them with their costs."""
    if not added:
        return []
    tables = tx.scoped(job.tenant_id)
    version = tables.versions.get(job.version_id)
    priced = with_costs(registry, added, version, costs)
    tables.candidates.add_all(priced)
    tx.events.append("job.candidates", job.id, {"added": len(priced)}, job.tenant_id)
    return priced


def _of_model(
    model: Module, chain: Sequence[Module], rules: Rules, job: Job, first: int
) -> list[Candidate]:
    """Return the first arms of a model behind a chain of transforms, numbered from ``first``."""
    space = space_of(model, rules)
    if space is None:
        return []
    transforms = [ModuleConfig(one.name) for one in chain]
    configs = spaces.suggest(space, CONFIGURATIONS, seed=0)
    found = []
    for place, config in enumerate(configs):
        chosen = ModuleConfig(model.name, config)
        pipeline = CandidatePipeline(transforms, chosen, rules.monotonic)
        found.append(make_candidate(job, first + place, model.name, place + 1, pipeline))
    return found


def make_candidate(
    job: Job,
    arm: int,
    model: str,
    number: int,
    pipeline: CandidatePipeline,
    variant: str = "",
) -> Candidate:
    """Return a candidate whose cost is not predicted yet.

    ``number``: which configuration of its model, or ``variant``, it is, from 1.
    """
    has_no_number = number == 1 and variant in ("", model)
    return Candidate(
        id=new_id("cand"),
        tenant_id=job.tenant_id,
        job_id=job.id,
        arm=arm,
        name=model if has_no_number else f"{variant or model}-{number}",
        model=model,
        pipeline=pipeline,
        predicted_cost=0.0,
    )


def with_costs(
    registry: Registry, candidates: list[Candidate], version: DatasetVersion, costs: CostBelief
) -> list[Candidate]:
    """Return candidates of one job with what they are believed to cost."""
    predicted = costs.predict([work_of(registry, one, version) for one in candidates]).expected
    return [
        replace(candidate, predicted_cost=cost)
        for candidate, cost in zip(candidates, predicted.tolist(), strict=True)
    ]


def write_costs(tx: Transaction, costs: Mapping[str, float]) -> None:
    """Write what candidates, by id, are believed to cost by now; those that are gone stay so."""
    tx.unscoped().candidates.set_each("predicted_cost", costs)

"""Candidates of a job: every model that fits, in several configurations.

They are the default, and some that are spread over the model's space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from easeml.contract.states import JobState, TaskGroup, TaskState
from easeml.modules import Module, Registry
from easeml.search import CostBelief, spaces
from easeml.service.knowledge.rules import allowed_models, matching, space_of
from easeml.service.knowledge.trials import cost_belief, finished_trials, work_of
from easeml.service.search.arms import Arms
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
    there: Sequence[Candidate] = (),
) -> list[Candidate]:
    """Return the arms of ``job`` in a fixed order, with what they are believed to cost.

    Those that are ``there`` it has already.

    ``before``: what did best on the version before; it is tried again. ``told``: models with
    configurations that did best elsewhere. Modules that are private to other tenants are none of
    them.
    """
    registry = registry.seen_by(job.tenant_id)
    rules = application.rules
    arms = Arms(job, there)
    matches = matching(registry, version.schema_in, version.schema_out, rules)
    for match in allowed_models(matches, rules):
        _add_configurations(arms, match.module, match.transforms, rules, version)
    for earlier in before:
        if arms.of(earlier.model) and _can_be_tried(registry, earlier, rules):
            pipeline = replace(earlier.pipeline, monotonic=rules.monotonic, forecast=rules.forecast)
            arms.add(earlier.model, pipeline, earlier.variant)
    for model in told:
        arms.add_config(model.module, model.config)
    return with_costs(registry, arms.added, version, costs)


def _can_be_tried(registry: Registry, candidate: Candidate, rules: Rules) -> bool:
    """Whether the transform of a variant is still there for new searches.

    Nothing is known of how its features rise with columns.
    """
    if candidate.variant == candidate.model:
        return True
    if rules.monotonic:
        return False
    transforms = {one.name for one in registry.of_kind("transform")} - registry.archived
    return candidate.pipeline.transforms[-1].module in transforms


def best_before(tables: Tables, job: Job) -> list[Candidate]:
    """Return the best candidates of the application's search before ``job``, the best first."""
    earlier = tables.jobs.newest(application_id=job.application_id, after=job.id)
    if earlier is None:
        return []
    done = tables.tasks.list(
        job_id=earlier.id, kind=TaskGroup.TRAIN, state=TaskState.DONE, limit=None
    )
    done.sort(key=lambda task: (-(task.quality or 0.0), task.id))
    return [tables.candidates.get(task.candidate_id) for task in done[:_TRIED_AGAIN]]


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
    module = registry.get(model)
    chain = registry.candidates(module, version.schema_in)
    arms = Arms(job, tables.candidates.list(job_id=job.id, limit=None))
    _add_configurations(arms, module, chain, application.rules, version)
    believed = costs or cost_belief(registry, finished_trials(tx))
    tables.candidates.add_all(with_costs(registry, arms.added, version, believed))
    tables.jobs.update(job.id, settled=False)  # a new leader looks at it at once
    data = {"added": len(arms.added), "model": model, "application_id": application.id}
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
    arms = Arms(job, tables.candidates.list(job_id=job.id, limit=None))
    for variant, proposed in configs.items():
        for config in proposed:
            arms.add_config(variant, config)
    return keep_added(tx, registry, job, arms.added, costs)


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
    tables.jobs.update(job.id, settled=False)  # a new leader looks at it at once
    tx.events.append("job.candidates", job.id, {"added": len(priced)}, job.tenant_id)
    return priced


def _add_configurations(
    arms: Arms, model: Module, chain: Sequence[Module], rules: Rules, version: DatasetVersion
) -> None:
    """Add the first configurations of a model behind a chain of transforms."""
    space = space_of(model, rules, version)
    if space is None:
        return
    transforms = [ModuleConfig(one.name) for one in chain]
    for config in spaces.suggest(space, CONFIGURATIONS, seed=0):
        chosen = ModuleConfig(model.name, config)
        pipeline = CandidatePipeline(transforms, chosen, rules.monotonic, rules.forecast)
        arms.add(model.name, pipeline, model.name)


def with_costs(
    registry: Registry, candidates: list[Candidate], version: DatasetVersion, costs: CostBelief
) -> list[Candidate]:
    """Return candidates of one job with what they are believed to cost."""
    work = [work_of(registry, one, version) for one in candidates]
    expected = costs.predict(work).expected.tolist()
    pairs = zip(candidates, expected, strict=True)
    return [replace(candidate, predicted_cost=cost) for candidate, cost in pairs]


def write_costs(tx: Transaction, costs: Mapping[str, float]) -> None:
    """Write what candidates, by id, are believed to cost by now; those that are gone stay so."""
    tx.unscoped().candidates.set_each("predicted_cost", costs)

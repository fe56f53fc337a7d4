"""More configurations for a search that has tried most of what it began with."""

from collections import defaultdict

from easeml.contract.states import JobState, TaskGroup, TaskState
from easeml.errors import InvalidInput
from easeml.modules import Module, Registry
from easeml.search import CostBelief, SearchJob, SearchState, models_to_extend, spaces
from easeml.search.optimizers import Optimizer, Tried, fresh, optimizer_named
from easeml.service.knowledge.optimizers import optimizer_of
from easeml.service.knowledge.rules import space_of
from easeml.service.search import suggesting, variants
from easeml.service.search.candidates import extend
from easeml.service.search.suggesting import EACH, Wanted
from easeml.service.search.training_tasks import within_limits
from easeml.store import Transaction
from easeml.store.records import Candidate, DatasetVersion, Job, Json, Task
from easeml.store.shapes import Rules

_MOST = 1000  # candidates of a job
_FRUITLESS = 30  # tasks in a row without a better model, after which a job gets no more candidates


def add_proposals(
    tx: Transaction,
    registry: Registry,
    optimizer: Optimizer | Module,
    job_id: str,
    state: SearchState,
    costs: CostBelief,
) -> list[Candidate]:
    """Add proposed configurations of the most promising models of a running job.

    First each of them is tried behind every transform that was added. Then ``optimizer`` proposes,
    or what the application names in its place, for those of which few are untried, unless many tasks
    in a row brought nothing. A module is
    asked by a task, which adds them when it ends. Whether to train what was added is then for the
    search to say, which rests when it expects too little of it. Returns what was added: none where
    the spaces are used up or the limits of the job are.
    """
    job = tx.unscoped().jobs.get(job_id)
    rules = tx.scoped(job.tenant_id).applications.get(job.application_id).rules
    wanted = _wanted(tx, registry, job, state, rules)
    if not wanted:
        return []
    models = [one.model for one in wanted if one.model == variants.model_of(one.model)]
    added = variants.add_variants(tx, registry, job, models, costs)
    if added:
        return added

    optimizer = of_application(registry, job, rules, optimizer)
    if isinstance(optimizer, Module):
        if _is_left_to(tx, job, optimizer, wanted):
            return []
        optimizer = optimizer_named()
    proposed = {}
    for one in wanted:
        proposed[one.model] = optimizer.propose(one.space, one.tried, EACH, seed=0)
    return extend(tx, registry, job, proposed, costs)


def _is_left_to(tx: Transaction, job: Job, optimizer: Module, wanted: list[Wanted]) -> bool:
    """Have a module asked once at a time; False where the search has given it up."""
    if suggesting.is_under_way(tx, job):
        return True
    if suggesting.is_given_up(tx, job, optimizer):
        return False
    _ask(tx, job, optimizer, wanted)
    return True


def of_application(
    registry: Registry, job: Job, rules: Rules, usual: Optimizer | Module
) -> Optimizer | Module:
    """Return the optimizer that an application names, or the usual one where that is gone."""
    if not rules.optimizer:
        return usual
    try:
        return optimizer_of(registry, rules.optimizer, job.tenant_id)
    except InvalidInput:  # it was archived
        return usual


def _ask(tx: Transaction, job: Job, optimizer: Module, wanted: list[Wanted]) -> None:
    """Have a module asked for models whose spaces have anything left."""
    left = [one for one in wanted if fresh(spaces.draws(one.space, 0), one.tried, 1)]
    if left:
        suggesting.request(tx, job, optimizer, left)


def _wanted(
    tx: Transaction, registry: Registry, job: Job, state: SearchState, rules: Rules
) -> list[Wanted]:
    """Return the models and variants of a job that are to get more configurations, best first."""
    searched = state.job(job.id)
    if not _may_grow(tx, job, searched):
        return []

    tables = tx.scoped(job.tenant_id)
    version = tables.versions.get(job.version_id)

    def space(variant: str) -> Json:
        return _space(registry, variant, rules, version)

    short = models_to_extend(searched, lambda variant: _can_vary(space(variant)))
    if not short:
        return []
    candidates = tables.candidates.list(job_id=job.id, limit=None)
    if len(candidates) > len(searched.arms):
        return []  # the search does not know of all yet
    done = tables.tasks.list(job_id=job.id, kind=TaskGroup.TRAIN, state=TaskState.DONE, limit=None)
    if _fruitless(done):
        return []
    tried = _tried(candidates, done)
    return [Wanted(variant, space(variant), tried[variant]) for variant in short]


def _may_grow(tx: Transaction, job: Job, searched: SearchJob) -> bool:
    """Whether a job runs, has a result to go on from, and may have more candidates."""
    is_searching = job.state == JobState.RUNNING and searched.best is not None
    has_room = len(searched.arms) < _MOST
    return is_searching and has_room and within_limits(tx, job)


def _space(registry: Registry, variant: str, rules: Rules, version: DatasetVersion) -> Json:
    """Return the space of a variant's model; empty where the rules leave nothing of it."""
    model = registry.get(variants.model_of(variant))
    return space_of(model, rules, version) or {}


def _can_vary(space: Json) -> bool:
    return bool(space) and bool(spaces.parse(space).unused())


def _tried(candidates: list[Candidate], done: list[Task]) -> dict[str, list[Tried]]:
    """Return the configurations of each variant, in order, with what came of them."""
    qualities = {task.candidate_id: task.quality for task in done}
    tried: defaultdict[str, list[Tried]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: one.arm):
        tried[one.variant].append(Tried(one.pipeline.model.config, qualities.get(one.id)))
    return tried


def _fruitless(done: list[Task]) -> bool:
    """Whether many tasks in a row brought no better model, whatever is expected of more."""
    if not done:
        return False
    in_order = sorted(done, key=lambda task: task.finished or 0.0)
    best = max(in_order, key=lambda task: task.quality or 0.0)
    tasks_since_best = len(in_order) - 1 - in_order.index(best)
    return tasks_since_best >= _FRUITLESS

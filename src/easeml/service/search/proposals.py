"""More configurations for a search that has tried most of what it began with."""

from easeml.contract.states import JobState, TaskGroup, TaskState
from easeml.modules import Registry
from easeml.search import CostBelief, SearchState, models_to_extend, spaces
from easeml.search.optimizers import Optimizer, Tried
from easeml.service.knowledge.rules import space_of
from easeml.service.search.candidates import make_candidate, with_costs
from easeml.service.search.training_tasks import within_limits
from easeml.store import Transaction
from easeml.store.records import Candidate, Json, Task

_EACH = 2  # configurations at once, of a model that gets more
_MOST = 1000  # candidates of a job
_FRUITLESS = 30  # tasks in a row without a better model, after which a job gets no more candidates


def add_proposals(
    tx: Transaction,
    registry: Registry,
    optimizer: Optimizer,
    job_id: str,
    state: SearchState,
    costs: CostBelief,
) -> list[Candidate]:
    """Add proposed configurations of the most promising models of a running job.

    ``optimizer`` proposes them, for each of these models of which few are untried, unless many
    tasks in a row brought nothing. Whether to train what was added is then for the search to say,
    which rests when it expects too little of it. Returns what was added: none where the spaces are
    used up or the limits of the job are.
    """
    job, searched = tx.unscoped().jobs.get(job_id), state.job(job_id)
    if (
        job.state != JobState.RUNNING
        or searched.best is None
        or len(searched.arms) >= _MOST
        or not within_limits(tx, job)
    ):
        return []
    tables = tx.scoped(job.tenant_id)
    rules = tables.applications.get(job.application_id).rules

    def space(model: str) -> Json | None:
        return space_of(registry.get(model), rules)

    short = models_to_extend(searched, lambda model: _can_vary(space(model)))
    if not short:
        return []
    candidates = sorted(tables.candidates.list(job_id=job.id, limit=None), key=lambda one: one.arm)
    done = tables.tasks.list(job_id=job.id, kind=TaskGroup.TRAIN, state=TaskState.DONE, limit=None)
    if len(candidates) > len(searched.arms) or _fruitless(
        done
    ):  # or: the state has not followed yet
        return []
    qualities = {task.candidate_id: task.quality for task in done}
    added: list[Candidate] = []
    for model in short:
        own = [one for one in candidates if one.model == model]
        tried = [Tried(one.pipeline.model.config, qualities.get(one.id)) for one in own]
        configs = optimizer.propose(space(model) or {}, tried, _EACH, seed=0)
        for number, config in enumerate(configs, start=len(own) + 1):
            arm, transforms = len(candidates) + len(added), own[0].pipeline.transforms
            added.append(make_candidate(job, arm, model, number, transforms, config))
    if added:
        added = with_costs(registry, added, tables.versions.get(job.version_id), costs)
        tables.candidates.add_all(added)
        tx.events.append("job.candidates", job.id, {"added": len(added)}, job.tenant_id)
    return added


def _can_vary(space: Json | None) -> bool:
    return bool(space) and bool(spaces.parse(space).unused())


def _fruitless(done: list[Task]) -> bool:
    """Whether many tasks in a row brought no better model, whatever is expected of more."""
    qualities = [
        task.quality or 0.0 for task in sorted(done, key=lambda task: task.finished or 0.0)
    ]
    return bool(qualities) and len(qualities) - 1 - qualities.index(max(qualities)) >= _FRUITLESS

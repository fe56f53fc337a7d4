"""What the rows of the store say of searches: their tasks, models, and the jobs beside each other."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

from easeml.contract.states import JobState, TaskGroup, TaskState
from easeml.store import Tables, Transaction
from easeml.store.records import Candidate, Job, Task, TrainedModel

_MOST_BESIDE = 1000  # jobs


def candidates_of(tables: Tables, job: Job) -> list[Candidate]:
    """Return the candidates of a job by their arms."""
    return sorted(tables.candidates.list(job_id=job.id, limit=None), key=attrgetter("arm"))


def arms_by_candidate(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Return the arms of candidates by their ids."""
    return {candidate.id: candidate.arm for candidate in candidates}


def best_that_may_serve(
    models: Sequence[TrainedModel], arms: Mapping[str, int], chances: Sequence[float]
) -> float | None:
    """Return the best quality of the models that keep the rules; without ``chances``, of all.

    ``arms``: by candidate id. None where there is no such model.
    """
    qualities = [model.quality for model in models if _may_serve(model, arms, chances)]
    return max(qualities, default=None)


def _may_serve(model: TrainedModel, arms: Mapping[str, int], chances: Sequence[float]) -> bool:
    arm = arms.get(model.candidate_id)
    if arm is None:
        return False
    return not chances or chances[arm] == 1


def state_seen(state: TaskState) -> TaskState:
    """Return what the search sees of a task's state: whether it runs or waits is all one to it."""
    return TaskState.WAITING if state == TaskState.RUNNING else state


def changed_tasks(tables: Tables, job: Job, known: Mapping[str, TaskState]) -> list[Task]:
    """Return the training tasks of a job that are not in the ``known`` states, oldest first.

    Whole rows are read of these alone: a search has hundreds that have not changed.
    """
    states = tables.tasks.pick("id", "state", job_id=job.id, kind=TaskGroup.TRAIN)
    changed = [id for id, state in states if known.get(id) != state_seen(state)]
    return tables.tasks.list(id=changed, limit=None)


def oldest_beside(tx: Transaction, job: Job) -> Job:
    """Return the oldest job that still runs, or this one: all since are searched beside it."""
    running = tx.unscoped().jobs.list(state=JobState.RUNNING, limit=1)
    return min((job, *running), key=lambda one: one.created)


def done_beside(tx: Transaction, job: Job) -> int:
    """Return how many tasks the jobs that are searched beside this one have done.

    Of these the newest are looked at: thousands may have come and gone since the oldest began.
    """
    tables = tx.unscoped()
    oldest = oldest_beside(tx, job)
    newest = tables.jobs.newest_ids(_MOST_BESIDE, {})
    later = {id for id in newest if id > oldest.id}
    beside = (later | {oldest.id}) - {job.id}
    if not beside:
        return 0
    return tables.tasks.count(
        job_id=list(beside),
        kind=TaskGroup.TRAIN,
        state=TaskState.DONE,
    )

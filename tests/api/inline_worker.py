"""The work of a service, done here and now by the real bodies: what a worker would do, without its
processes.
"""

from pathlib import Path

from easeml.engine import task_main
from easeml.modules import load_registry
from easeml.search import CostBelief
from easeml.search import Decision as Choice
from easeml.service.models import promotion
from easeml.service.search import job_states, training_tasks
from easeml.service.tasks import results
from easeml.store import Store
from easeml.store.records import Attempt, Task


def claim(store: Store, lane: str = "short") -> tuple[Task, Attempt] | None:
    """Take the next task as a worker does."""
    with store.write() as tx:
        return tx.queue.claim("proc_inline", lane, 600.0)


def do(store: Store, folder: Path, task: Task, attempt: Attempt) -> Task:
    """Run a claimed task in ``folder`` and bring what it found."""
    with store.read() as tx:
        spec = results.task_spec(tx, task)
    place = folder / attempt.id
    place.mkdir(parents=True)
    task_main.prepare(place, spec)
    for name, digest in spec.inputs.items():
        store.artefacts.fetch(task.tenant_id, digest, place / task_main.INPUTS / name)
    result = task_main.run(place)
    digests = {
        name: store.artefacts.put(task.tenant_id, place / task_main.OUTPUTS / name)
        for name in result.outputs
    }
    with store.write() as tx:
        return results.accept(tx, attempt, result, digests)


def work_off(store: Store, folder: Path, lane: str = "short") -> list[Task]:
    """Do all that waits in a lane; returns the tasks as they ended."""
    ended = []
    while claimed := claim(store, lane):
        ended.append(do(store, folder, *claimed))
    return ended


def train(store: Store, folder: Path, job_id: str, arm: int = 0) -> Task:
    """Choose, train and consider a promotion, as scheduler and worker do."""
    with store.write() as tx:
        job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(()))
    with store.write() as tx:
        assert training_tasks.write_decision(
            tx, load_registry(), Choice(job_id, arm, "test", dict), "test", 1
        )
    (task,) = work_off(store, folder, "search")
    consider(store, job_id)
    return task


def consider(store: Store, job_id: str) -> None:
    """Consider a promotion, as the scheduler does when a task of the job has ended."""
    with store.write() as tx:
        promotion.consider(tx, tx.unscoped().jobs.get(job_id).application_id)

"""Models that ask for a GPU: which worker takes them, and what a search says while none has one."""

from pathlib import Path

import pytest

from easeml.contract.knowledge import NewModule
from easeml.contract.states import Lane, ModuleState, ProcessKind
from easeml.engine.membership import register
from easeml.engine.scheduler import Scheduler
from easeml.engine.search_mirror import SearchMirror
from easeml.errors import Conflict
from easeml.modules import load_registry, packed, skeletons
from easeml.search import policy_named
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.knowledge import gpus, knowledge_base
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.modules import adding
from easeml.service.search import candidates, training_tasks
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Candidate, Job, ModuleMark, Process, Task

from .test_scheduling import searched


def source(tmp_path: Path) -> str:
    """The text of a model in an image of the machine, which asks for a GPU."""
    folder = tmp_path / "deep"
    skeletons.make(folder, "model", "shell")
    text = (folder / "module.toml").read_text()
    runs = 'kind = "container"\nimage = "localhost/deep:1"\ngpu = true'
    (folder / "module.toml").write_text(text.replace('kind = "process"', runs))
    return packed.pack(folder)


@pytest.fixture
def job(store: Store, ann: Caller, tmp_path: Path) -> Job:
    """A search that goes on with such a model, and a scheduler that is there."""
    mark = ModuleMark("deep", source=source(tmp_path), state=ModuleState.READY)
    application_id = searched(store, ann)
    register(store, ProcessKind.SCHEDULER)
    with store.write() as tx:
        tx.module_marks.add(mark)
        (job,) = tx.unscoped().jobs.list(application_id=application_id, limit=None)
        costs = cost_belief(load_registry(), finished_trials(tx))
        application = tx.unscoped().applications.get(application_id)
        registry = knowledge_base.current(tx)
        candidates.add_model(tx, registry, application, job, "deep", costs)
    return job


def deep(store: Store, job: Job) -> Candidate:
    with store.read() as tx:
        found = tx.unscoped().candidates.list(job_id=job.id, model="deep", limit=None)
    return found[0]


def request(store: Store, job: Job) -> Task:
    """Have it trained, as if somebody had chosen it."""
    with store.write() as tx:
        for task in tx.unscoped().tasks.list(state="waiting", lane="search", limit=None):
            tx.unscoped().tasks.update(task.id, state="cancelled")
        registry = knowledge_base.current(tx)
        return training_tasks.request_training(tx, registry, job, deep(store, job))


def claimed(store: Store, worker: Process) -> str:
    with store.write() as tx:
        found = tx.queue.claim(worker.id, Lane.SEARCH, 10.0)
    return found[0].id if found else ""


def test_only_a_worker_with_a_gpu_takes_what_needs_one(store: Store, job: Job) -> None:
    plain = register(store, ProcessKind.WORKER)
    task = request(store, job)
    assert task.gpu
    assert claimed(store, plain) == ""
    assert claimed(store, register(store, ProcessKind.WORKER, gpu=True)) == task.id


def test_a_search_waits_for_a_gpu_and_says_so(store: Store, ann: Caller, job: Job) -> None:
    mirror = SearchMirror(policy_named(), load_registry())

    def chances() -> list[float]:
        with store.read() as tx:
            mirror.follow_registry(knowledge_base.current(tx))
            mirror.sync(tx, tx.unscoped().jobs.get(job.id))
        arms = mirror.state.job(job.id).arms
        known = mirror.state.job(job.id).chances or [1.0] * len(arms)
        return [known[place] for place, arm in enumerate(arms) if arm.model == "deep"]

    def reason() -> str:
        shown = applications.get(store, ann, job.application_id).job
        assert shown is not None
        return shown.waiting_reason

    register(store, ProcessKind.WORKER)
    assert set(chances()) == {0.0}
    assert "deep is left, which needs a GPU, and no worker has one." in reason()
    assert mirror.follow_gpus(False) == []

    register(store, ProcessKind.WORKER, gpu=True)
    assert mirror.follow_gpus(True) == [job.id]
    assert set(chances()) == {1.0}
    assert "GPU" not in reason()


def test_no_more_wait_for_a_gpu_than_it_soon_has_time_for(store: Store, job: Job) -> None:
    def has_room() -> bool:
        with store.read() as tx:
            return gpus.has_room(tx)

    assert not has_room()
    register(store, ProcessKind.WORKER, gpu=True)
    assert has_room()
    task = request(store, job)
    assert has_room()
    with store.write() as tx:
        tx.unscoped().tasks.update(task.id, state="running")
    request(store, job)
    assert not has_room()


def test_a_model_is_refused_where_no_worker_could_check_it(
    store: Store, admin: Caller, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path / "home", isolation="process")
    source(tmp_path)
    files = {name: (tmp_path / "deep" / name).read_text() for name in ("train", "predict")}
    toml = (tmp_path / "deep" / "module.toml").read_text()
    wish = NewModule(toml=toml, files=files)
    with pytest.raises(Conflict, match="no worker has one") as refused:
        adding.add(store, settings, admin, wish)
    assert "nvidia-ctk" in refused.value.remedy
    register(store, ProcessKind.WORKER, gpu=True)
    added = adding.add(store, settings, admin, wish)
    with store.read() as tx:
        assert tx.unscoped().tasks.get(added.task_id).gpu


def test_what_waits_for_a_gpu_keeps_no_other_device_busy(store: Store, job: Job) -> None:
    register(store, ProcessKind.WORKER)
    scheduler = Scheduler(store, load_registry(), policy_named(), lease_seconds=60.0)
    waiting = request(store, job)
    scheduler.step()
    with store.read() as tx:
        under_way = tx.unscoped().tasks.column("id", lane="search", state="waiting")
    assert len(under_way) == 3  # two for the worker, and the one that nobody takes
    assert waiting.id in under_way

"""Programs that pass their checks and do wrong in searches: who is told, and what becomes of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from easeml.contract.states import ModuleState
from easeml.contract.tasks import TaskResult
from easeml.engine.search_mirror import SearchMirror
from easeml.modules import load_registry, packed, parse, skeletons
from easeml.search import policy_named
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.modules import catalogue, faults
from easeml.service.search import candidates, training_tasks
from easeml.store import Store
from easeml.store.records import Job, ModuleMark, Task

from .test_scheduling import searched
from .world import bring, claim

FAULT = "predict was ended: it ran longer than 20 s."
FAILED = TaskResult(ok=False, error=f"{FAULT}\nsecret of the table", value={"fault": FAULT})
CANNOT_LEARN = TaskResult(ok=False, error="Too few rows to learn from.")
WELL = TaskResult(
    ok=True, value={"quality": 0.9, "low": 0.8, "high": 1.0}, outputs=["model", "predictions"]
)


@pytest.fixture
def job(store: Store, ann: Caller, tmp_path: Path, request: pytest.FixtureRequest) -> Job:
    """A search of Ann's that goes on with a module of programs, private or everybody's."""
    skeletons.make(tmp_path / "sly", "model", "shell")
    source = packed.pack(tmp_path / "sly")
    module = replace(parse(source, "module.toml"), source=source)
    owner = ann.tenant_id if getattr(request, "param", "") == "private" else ""
    application = searched(store, ann)
    with store.write() as tx:
        mark = ModuleMark("sly", source=source, state=ModuleState.READY, tenant_id=owner)
        tx.module_marks.add(mark)
        tables = tx.unscoped()
        (job,) = tables.jobs.list(application_id=application, limit=None)
        registry = knowledge_base.current(tx)
        costs = cost_belief(load_registry(), finished_trials(tx))
        application = tables.applications.get(application)
        candidates.add_model(tx, registry, application, job, module.name, costs)
    return job


def ran(store: Store, job: Job, *ends: TaskResult) -> list[Task]:
    """Have the module trained again and again, and end each run so."""
    ended = []
    for end in ends:
        with store.write() as tx:
            tables = tx.unscoped()
            for other in tables.tasks.list(state="waiting", lane="search", limit=None):
                tables.tasks.update(other.id, state="cancelled")
            (candidate,) = tables.candidates.list(job_id=job.id, model="sly", limit=None)
            registry = knowledge_base.current(tx)
            training_tasks.request_training(tx, registry, job, candidate)
        ended.append(bring(store, claim(store, "search")[1], end))
    return ended


def told(store: Store, caller: Caller) -> str:
    with store.read() as tx:
        return faults.known(tx, caller).get("sly", "")


def is_archived(store: Store) -> bool:
    with store.read() as tx:
        return tx.module_marks.get("sly").archived


def test_a_fault_is_told_once_and_three_from_the_beginning_archive_it(
    store: Store, ann: Caller, bob: Caller, admin: Caller, job: Job
) -> None:
    (first,) = ran(store, job, FAILED)
    assert first.state == "failed"
    assert told(store, admin) == FAULT  # and nothing of what it printed about the table
    assert (told(store, ann), told(store, bob)) == ("", "")
    ran(store, job, CANNOT_LEARN, FAILED)  # the first is no fault
    assert not is_archived(store)
    ran(store, job, FAILED)
    assert is_archived(store)
    assert "first 3 runs failed, so it is archived" in told(store, admin)
    mirror = SearchMirror(policy_named(), load_registry())
    with store.write() as tx:
        mirror.follow_registry(knowledge_base.current(tx))
        mirror.sync(tx, job)
    arms = mirror.state.job(job.id).arms
    chances = dict(zip([arm.name for arm in arms], mirror.state.job(job.id).chances, strict=True))
    assert {chance for name, chance in chances.items() if name.startswith("sly")} == {0.0}
    assert {chance for name, chance in chances.items() if name.startswith("logistic")} == {1.0}
    catalogue.restore(store, admin, "sly")
    with store.write() as tx:
        mirror.follow_registry(knowledge_base.current(tx))
        mirror.sync(tx, job)
    assert set(mirror.state.job(job.id).chances) <= {1.0}


def test_one_run_that_went_well_keeps_it(store: Store, admin: Caller, job: Job) -> None:
    ran(store, job, WELL, FAILED, FAILED, FAILED)
    assert told(store, admin) == FAULT
    assert not is_archived(store)


@pytest.mark.parametrize("job", ["private"], indirect=True)
def test_of_a_private_module_its_tenant_hears(
    store: Store, ann: Caller, admin: Caller, job: Job
) -> None:
    ran(store, job, FAILED)
    assert told(store, ann) == FAULT
    assert told(store, admin) == ""

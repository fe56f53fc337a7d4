"""A kind of task is one file: found by name, run in a child, recorded, and refused where unknown."""

import json
import subprocess
import sys
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import ValidationError
from warm_bodies import WARM

from easeml.contract.states import Lane
from easeml.contract.tasks import Limits, TaskResult
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor, Outcome
from easeml.engine.membership import register
from easeml.engine.slot import Slot, SlotContext
from easeml.errors import InvalidInput
from easeml.ids import begin_request, new_id
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.tasks import kinds, requests, results, task_views
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Task, Tenant

LIMITS = Limits(seconds=60, memory=2**30, threads=1)


@pytest.fixture
def with_test_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "PACKAGES", [*kinds.PACKAGES, "kinds_for_tests"])


@pytest.fixture
def caller(store: Store) -> Caller:
    tenant = Tenant(new_id("ten"), "lab")
    with store.write() as tx:
        tx.tenants.add(tenant)
    return Caller("usr_1", tenant.id)


def uploaded(store: Store, caller: Caller) -> str:
    """Return the id of a version of three words; its own task has ended."""
    made = datasets.upload(store, caller, None, "a.csv", [b"one two three"], None, 10**6)
    with store.write() as tx:
        for task in tx.unscoped().tasks.list(limit=None):
            tx.queue.cancel(task.id)
    return made.version.id


def asked(store: Store, caller: Caller, kind: str = "count-words", **spec: object) -> Task:
    version = uploaded(store, caller)
    with store.write() as tx:
        return requests.request(tx, caller.tenant_id, kind, version, max_attempts=1, **spec)


def asked_by_request(store: Store, caller: Caller) -> Task:
    begin_request("req_1")
    return asked(store, caller, longest=9)


def run_one(store: Store, folder: Path) -> None:
    executor = LocalExecutor(LIMITS, task_main.run, preload=WARM)
    try:
        process = register(store, "worker")
        context = SlotContext(store, executor, LIMITS, process.id, folder / "work", 10.0)
        Slot("short", context).step()
    finally:
        executor.close()


def test_what_a_task_logs_has_its_id_and_that_of_the_request(
    store: Store, caller: Caller, tmp_path: Path, with_test_kinds: None
) -> None:
    task = copy_context().run(asked_by_request, store, caller)
    run_one(store, tmp_path)
    with store.read() as tx:
        (attempt,) = tx.unscoped().attempts.list(task_id=task.id)
    log = store.artefacts.fetch(caller.tenant_id, attempt.log, tmp_path / "log")
    printed, library, own = log.read_text().splitlines()
    assert printed == "plain words"
    ids = {"task": task.id, "request": "req_1"}
    expected = {"event": "3 words", "logger": "a.library", "level": "warning", **ids}
    assert expected.items() <= json.loads(library).items()
    expected = {"event": "counted", "id": task.id, "process": "task", **ids}
    assert expected.items() <= json.loads(own).items()


def test_what_is_read_holds_up_other_uploads_for_minutes_at_most() -> None:
    names = ("ingest-upload", "ingest-declare", "ingest-feed", "ingest-refine")
    for name in names:
        kind = kinds.find_kind(name)
        assert kind is not None
        assert kind.seconds == kinds.INGEST_SECONDS <= 300


@dataclass
class Noted:
    """An executor that notes how long a body may run, and says that it took too long."""

    seconds: list[float] = field(default_factory=list)

    def start(self, folder: Path, limits: Limits) -> "Noted":
        self.seconds.append(limits.seconds)
        return self

    def wait(self) -> Outcome:
        return Outcome("timed-out", TaskResult(ok=False, error="It took too long."), 1.0)


def test_a_long_file_holds_up_no_upload_and_may_take_hours(
    store: Store, caller: Caller, tmp_path: Path
) -> None:
    with store.write() as tx:
        long = requests.request(
            tx, caller.tenant_id, "predict-file", "mod_1", filename="long.csv", source="d" * 64
        )
    datasets.upload(store, caller, None, "a.csv", [b"a\n1\n"], None, 10**6)
    with store.write() as tx:
        claimed = tx.queue.claim("proc_1", Lane.SHORT, 10.0)
    assert claimed is not None
    assert claimed[0].spec_kind == "ingest-upload"
    assert long.lane == Lane.LONG


def test_the_limit_of_a_lane_is_its_own(
    store: Store, caller: Caller, tmp_path: Path, with_test_kinds: None
) -> None:
    process = register(store, "worker")
    settings = Settings(home=tmp_path, long_task_seconds=10)
    noted = Noted()
    folder = tmp_path / "work"
    context = SlotContext(store, noted, LIMITS, process.id, folder, 10.0, settings=settings)
    for lane in (Lane.SHORT, Lane.LONG):
        task = asked(store, caller, longest=10_000)
        with store.write() as tx:
            tx.scoped(caller.tenant_id).tasks.update(task.id, lane=lane)
        Slot(lane, context).step()
    assert noted.seconds == [20, 10], "20: what the kind allows"


def test_a_kind_of_one_file_runs_from_claim_to_record(
    store: Store, caller: Caller, tmp_path: Path, with_test_kinds: None
) -> None:
    task = asked(store, caller, longest=5)
    with store.read() as tx:
        assert results.task_spec(tx, task).seconds == 20.0
    run_one(store, tmp_path)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        ended, report = tables.tasks.get(task.id), tables.reports.find(kind="count-words")
    assert (ended.state, ended.result["words"]) == ("done", 3)
    assert report is not None
    kept = store.artefacts.path(caller.tenant_id, report.value["artefact"]).read_text()
    assert kept.split() == ["one", "two", "three"]


def test_people_read_the_title_of_a_kind(
    store: Store, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(kinds, "PACKAGES", [*kinds.PACKAGES, "kinds_for_tests"])
        task = asked(store, caller, longest=5)
        assert task_views.get(store, caller, task.id).name == "Count words"
    assert task_views.get(store, caller, task.id).name == "count-words"  # the kind is gone
    told = {"kind": "advise", "tool": "importance"}
    assert kinds.called(told) == "What does the model look at?"
    assert kinds.called({**told, "tool": "gone"}) == "gone"


def test_its_failure_reaches_what_it_was_for(
    store: Store, caller: Caller, tmp_path: Path, with_test_kinds: None
) -> None:
    task = asked(store, caller, longest=3)
    run_one(store, tmp_path)
    with store.read() as tx:
        ended = tx.unscoped().tasks.get(task.id)
        told = {event.kind: event for event in tx.events.after(0, limit=100)}
    assert (ended.state, ended.error) == ("failed", "A word is too long.")
    assert told["words.failed"].data == {"error": ended.error}


def test_a_kind_that_is_gone_fails_its_tasks_clearly(
    store: Store, caller: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(kinds, "PACKAGES", [*kinds.PACKAGES, "kinds_for_tests"])
        task = asked(store, caller, longest=5)
    run_one(store, tmp_path)
    with store.read() as tx:
        ended = tx.unscoped().tasks.get(task.id)
    assert ended.state == "failed"
    assert "no kind of task named 'count-words'" in ended.error
    assert "ingest-upload" in ended.error


@pytest.mark.parametrize("name", ["", "shared", "no-such", "../train", "Train"])
def test_an_unknown_kind_is_refused(store: Store, caller: Caller, name: str) -> None:
    assert kinds.find_kind(name) is None
    with pytest.raises(InvalidInput, match="no kind of task"):
        asked(store, caller, name)


def test_a_spec_that_is_not_the_kinds_is_refused(
    store: Store, caller: Caller, with_test_kinds: None
) -> None:
    with pytest.raises(ValidationError, match="shortest"):
        asked(store, caller, longest=3, shortest=1)


def test_every_kind_is_named_after_its_file_and_says_what_it_does() -> None:
    found = kinds.all_kinds()
    assert len(found) >= 9
    for kind in found:
        assert kind.module == f"easeml.kinds.{kind.name.replace('-', '_')}"
        assert kind.spec.model_fields["kind"].default == kind.name
        assert kind.title
        assert kind.about.endswith(".")


def test_rows_of_the_releases_before_are_still_understood() -> None:
    pipeline = {"transforms": [], "model": {"module": "m", "config": {"a": 1}, "source": ""}}
    schemas = {"schema_in": {}, "schema_out": {}}
    payloads = [
        {"kind": "ingest-upload", "filename": "a.csv", "header": None},
        {"kind": "ingest-declare", "target": "y", "set": {}, "drop": [], "keep": [], "seed": 0,
         "split": "random"},
        {"kind": "ingest-feed", "filename": "a.csv", "role": None},
        {"kind": "ingest-refine", "off": [1], "on": []},
        {"kind": "train", "pipeline": pipeline, "objective": "accuracy", **schemas, "seed": 0},
        {"kind": "test-quality", "objective": "accuracy", "schema_out": {}},
        {"kind": "rescore", "objective": "accuracy", "version_id": "ver_1"},
        {"kind": "check-module", "source": "", "trusted": ["sklearn"]},
    ]  # fmt: skip
    for payload in payloads:
        spec = kinds.kind_named(payload["kind"]).spec
        assert spec.model_validate(payload).model_dump(exclude_unset=True) == payload


def test_a_child_knows_no_database() -> None:
    code = (
        "import sys; from easeml.service.tasks.kinds import all_kinds; all_kinds();"
        "print(*{'sqlalchemy', 'easeml.store', 'pandas', 'sklearn'} & set(sys.modules))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == []


def test_an_upload_of_before_finds_out_whether_there_is_a_header() -> None:
    spec = kinds.kind_named("ingest-upload").spec
    assert spec.model_validate({"kind": "ingest-upload", "filename": "a.csv"}).header is None

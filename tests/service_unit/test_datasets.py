"""Uploads, and what the first task makes of them."""

from pathlib import Path

import pytest

from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, Fenced, InvalidInput, NotFound, TooLarge
from easeml.kinds.ingest_upload import UploadSpec, read_upload
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.tasks import results
from easeml.store import Store

from .world import CSV, UPLOAD, bring, claim, events, ingested, upload


def test_an_upload_is_a_version_that_a_task_reads(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    assert (dataset.name, dataset.version.number, dataset.version.state) == ("toys", 1, "ingesting")
    task, _ = claim(store)
    assert (task.kind, task.lane, task.subject) == ("ingest", "short", dataset.version.id)
    with store.read() as tx:
        spec = results.task_spec(tx, task)
    asked = {"kind": "ingest-upload", "filename": "toys.csv", "header": None, "table": None}
    assert spec.body == asked
    assert store.artefacts.path(ann.tenant_id, spec.inputs["source"]).read_bytes() == CSV


def test_the_same_key_and_bytes_make_one_dataset(store: Store, ann: Caller, bob: Caller) -> None:
    first, again = upload(store, ann, key="k"), upload(store, ann, key="k")
    assert first == again
    assert len(datasets.list_page(store, ann).items) == 1
    with pytest.raises(Conflict, match="another request"):
        upload(store, ann, "other", key="k")
    assert upload(store, bob, key="k").id != first.id


def test_a_read_upload_has_its_columns(store: Store, ann: Caller) -> None:
    dataset = ingested(store, ann)
    assert dataset.version.state == "ready"
    assert [column.name for column in dataset.version.columns] == ["size", "colour", "price"]
    assert dataset.version.summary == {"rows": 60, "target": "colour", "notes": []}
    assert ("dataset.ready", dataset.version.id) in events(store, ann)


def test_an_unreadable_file_fails_its_version_with_the_message(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    task, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=False, error="toys.csv: row 3 has 4 values, not 3."))
    version = datasets.get_version(store, ann, dataset.version.id)
    assert (version.state, version.error) == ("failed", "toys.csv: row 3 has 4 values, not 3.")
    assert {("dataset.failed", version.id), ("task.failed", task.id)} <= set(events(store, ann))


def test_a_failure_worth_a_retry_is_no_failure_yet(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    _, attempt = claim(store)
    assert (
        bring(store, attempt, TaskResult(ok=False, error="no memory", retry=True)).state
        == "waiting"
    )
    assert datasets.get(store, ann, dataset.id).version.state == "ingesting"
    _, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=True, value=UPLOAD, outputs=["table"]))
    assert datasets.get(store, ann, dataset.id).version.state == "ready"


def test_a_lost_attempt_changes_nothing(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    _, lost = claim(store)
    with store.write() as tx:
        tx.queue.release("proc_1")
    _, current = claim(store)
    with pytest.raises(Fenced):
        bring(store, lost, TaskResult(ok=True, value=UPLOAD, outputs=["table"]))
    assert datasets.get(store, ann, dataset.id).version.state == "ingesting"
    bring(store, current, TaskResult(ok=True, value=UPLOAD, outputs=["table"]))
    assert datasets.get(store, ann, dataset.id).version.state == "ready"


def test_a_result_that_lacks_its_output_is_a_failure(store: Store, ann: Caller) -> None:
    upload(store, ann)
    _, attempt = claim(store)
    task = bring(store, attempt, TaskResult(ok=True, value=UPLOAD))
    assert (task.state, task.error) == (
        "failed",
        "The ingest-upload task did not bring: output table.",
    )


def test_what_was_given_up_fails_its_version_too(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    task, _ = claim(store)
    with store.write() as tx:
        while (task := tx.queue.release("proc_1")[0]).state == "waiting":
            tx.queue.claim("proc_1", "short", 10.0)
        results.after_failure(tx, task)
    version = datasets.get(store, ann, dataset.id).version
    assert (version.state, version.error) == ("failed", "The worker ended.")


def test_bad_uploads_are_refused_and_leave_nothing(store: Store, ann: Caller) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        datasets.upload(store, ann, None, "a.csv", [], None, 100)
    with pytest.raises(TooLarge):
        datasets.upload(store, ann, None, "a.csv", [b"x" * 60, b"x" * 60], None, 100)
    with pytest.raises(InvalidInput, match="name"):
        datasets.upload(store, ann, "a\nb", "a.csv", [b"x"], None, 100)
    assert datasets.list_page(store, ann).items == []


def test_a_path_in_the_filename_is_cut_off(store: Store, ann: Caller) -> None:
    dataset = datasets.upload(store, ann, None, "..\\..\\etc/wine.csv", [b"x"], None, 100)
    assert (dataset.name, dataset.version.operation["filename"]) == ("wine", "wine.csv")


def test_another_tenant_sees_nothing(store: Store, admin: Caller, ann: Caller, bob: Caller) -> None:
    dataset = upload(store, ann)
    for other in (bob, admin):
        with pytest.raises(NotFound):
            datasets.get(store, other, dataset.id)
        with pytest.raises(NotFound):
            datasets.get_version(store, other, dataset.version.id)
        assert datasets.list_page(store, other).items == []
        assert events(store, other) == []


@pytest.mark.parametrize(("header", "names", "rows"), [(None, ["1", "2"], 1), (False, None, 2)])
def test_who_uploads_says_whether_there_are_names(
    store: Store, ann: Caller, tmp_path: Path, header: bool | None, names: list | None, rows: int
) -> None:
    body = b"1,2\n3,4\n"
    datasets.upload(store, ann, None, "a.csv", [body], None, 100, header)
    task, _ = claim(store)
    spec = UploadSpec.model_validate(task.payload)
    assert spec.header is header
    told = spec.model_copy(update={"header": header is not False})
    (tmp_path / "source").write_bytes(body)
    (tmp_path / "out").mkdir()
    result = read_upload(told, tmp_path, tmp_path / "out")
    assert result.value["rows"] == rows
    assert names is None or [one["name"] for one in result.value["columns"]] == names

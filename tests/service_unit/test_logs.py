"""What attempts print can be read while they run and afterwards, by their owner only."""

from pathlib import Path

import pytest

from easeml.contract.tasks import TaskResult
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.models import evaluation
from easeml.service.tasks import logs, results
from easeml.store import Store

from .world import claim, upload


def test_a_log_is_read_as_it_grows_and_kept(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path
) -> None:
    upload(store, ann)
    task, attempt = claim(store)
    assert logs.log(store, tmp_path, ann, task.id).text == ""
    path = tmp_path / attempt.process_id / attempt.id / "log.txt"
    path.parent.mkdir(parents=True)
    path.write_text("step 1\n")
    first = logs.log(store, tmp_path, ann, task.id)
    assert (first.text, first.next, first.ended) == ("step 1\n", 7, False)
    path.write_text("step 1\nstep 2\n")
    assert logs.log(store, tmp_path, ann, task.id, offset=first.next).text == "step 2\n"
    with pytest.raises(NotFound):
        logs.log(store, tmp_path, bob, task.id)
    with pytest.raises(NotFound):
        logs.log(store, tmp_path, ann, task.id, attempt=2)

    kept = store.artefacts.put_stream(ann.tenant_id, [b"step 1\nthe end\n"], 100)
    with store.write() as tx:
        result = TaskResult(ok=False, error="no table")
        results.accept(tx, attempt, result, {results.LOG: kept[0]}, {results.LOG: kept[1]})
    last = logs.log(store, tmp_path, ann, task.id)
    assert (last.text, last.ended) == ("step 1\nthe end\n", True)


def test_what_is_no_plain_file_is_no_log(store: Store, ann: Caller, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of somebody else")
    upload(store, ann)
    task, attempt = claim(store)
    folder = tmp_path / attempt.process_id / attempt.id
    folder.mkdir(parents=True)
    (folder / "log.txt").symlink_to(tmp_path / "secret")
    assert logs.log(store, tmp_path, ann, task.id).text == ""
    (folder / "log.txt").unlink()
    (folder / "log.txt").mkdir()
    assert logs.log(store, tmp_path, ann, task.id).text == ""


def test_a_task_without_a_model_has_an_empty_report(store: Store, ann: Caller, bob: Caller) -> None:
    upload(store, ann)
    task, _ = claim(store)
    assert evaluation.report(store, ann, task.id).evaluation is None
    assert tools.list_task_page(store, ann, task.id).items == []
    with pytest.raises(NotFound):
        evaluation.report(store, bob, task.id)
    with pytest.raises(NotFound):
        tools.list_task_page(store, bob, task.id)

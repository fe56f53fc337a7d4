"""Data that came from elsewhere is fetched again: what is new joins, what is wrong changes nothing."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml import data
from easeml.contract.states import Lane, RetrievalState, VersionState
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, NotFound
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.service.applications import deleting
from easeml.service.datasets import datasets
from easeml.service.sources import following, forgetting, refreshing, retrievals
from easeml.service.tasks import steering
from easeml.service.versions import changes
from easeml.settings import Settings
from easeml.store import Store
from postgres_cluster import cluster, database

from .fetched import Fetched, made, rows


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store on each kind of database."""
    if request.param == "sqlite":
        store = Store.open(f"sqlite:///{tmp_path / 'either.db'}", tmp_path / "kept")
        yield store
        store.close()
        return
    with cluster() as template, database(template) as url:
        store = Store.open(url, tmp_path / "kept")
        yield store
        store.close()


def _owner(store: Store) -> Caller:
    first = users.create_first_provider(store)
    assert first is not None
    return keys.authenticate(store, keys.sign_in(store, *first).secret or "")


@pytest.fixture
def lab(store: Store, ann: Caller, tmp_path: Path) -> Fetched:
    return made(store, ann, tmp_path)


def test_what_is_new_makes_a_version_which_the_application_goes_on_with(
    either: Store, tmp_path: Path
) -> None:
    lab = made(either, _owner(either), tmp_path)
    before = lab.in_use()
    assert lab.refresh(rows(0, 40)).state == RetrievalState.UNCHANGED
    assert lab.in_use().id == before.id
    ended = lab.refresh(rows(10, 60))
    assert ended.state == RetrievalState.DONE
    upload = datasets.get(either, lab.caller, lab.dataset_id).version
    assert (upload.id, upload.summary["rows"]) == (ended.version_id, 50)
    after = lab.in_use()
    assert after.parents == [before.id]
    assert after.summary.rows == 60  # 20 are new, and the ten that came no more stay
    assert "10 rows" in " ".join(after.summary.notes)
    assert sum(after.summary.told["added"].values()) == 20
    assert lab.notifications() == []


def test_rows_in_another_order_are_no_version(lab: Fetched) -> None:
    head, *lines = rows(0, 40).split()
    ended = lab.refresh("\n".join([head, *reversed(lines), ""]))
    assert ended.state == RetrievalState.UNCHANGED
    assert "order" in ended.note


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "404"),
        ("<html>sign in</html>", "'size' is missing"),
        (rows(0, 40).replace("size", "length"), "'size' is missing"),
        (rows(0, 40).replace(".5,", "x,"), "'size' was number"),
        (rows(0, 30), "cut off"),
        ("\x00\x01", ""),
    ],
)
def test_what_cannot_be_taken_is_told_and_changes_nothing(
    lab: Fetched, text: str, why: str
) -> None:
    before, upload = lab.in_use(), datasets.get(lab.store, lab.caller, lab.dataset_id).version
    ended = lab.refresh(text)
    assert ended.state == RetrievalState.FAILED
    assert why in ended.note
    assert lab.in_use() == before
    assert datasets.get(lab.store, lab.caller, lab.dataset_id).version == upload
    assert lab.notifications() == ["dataset.stale"]
    assert lab.refresh(rows(0, 50)).state == RetrievalState.DONE
    assert lab.in_use().summary.rows == 50


def test_fewer_rows_are_taken_when_that_is_said(lab: Fetched) -> None:
    ended = lab.refresh(rows(0, 10), fewer=True)
    assert ended.state == RetrievalState.DONE
    assert lab.in_use().summary.rows == 40


def test_rows_that_do_not_fit_the_application_never_touch_it(lab: Fetched) -> None:
    before = lab.in_use()
    assert lab.refresh(rows(0, 50, odd="1.5,green,3")).state == RetrievalState.DONE
    assert lab.in_use() == before
    assert lab.notifications() == ["dataset.failed"]
    lab.refresh(rows(0, 51, odd="1.5,green,3"))  # the same fault again is not told again
    assert lab.in_use() == before
    assert lab.notifications() == ["dataset.failed"]
    lab.refresh(rows(0, 55))
    assert lab.in_use().summary.rows == 55


def test_one_that_does_not_follow_stays_and_catches_up_when_it_does(lab: Fetched) -> None:
    following.set_follows(lab.store, lab.caller, lab.application_id, follows=False)
    lab.refresh(rows(0, 50))
    lab.refresh(rows(5, 60))
    assert lab.in_use().summary.rows == 40
    following.set_follows(lab.store, lab.caller, lab.application_id, follows=True)
    lab.source.work()
    assert lab.in_use().summary.rows == 60


def test_one_whose_data_is_changed_meanwhile_follows_after_that(lab: Fetched) -> None:
    fed = rows(200, 210).encode()
    retrieval = refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    lab.source.text = rows(0, 50)
    lab.source.work()
    changes.feed(
        lab.store, lab.caller, lab.application_id, "a.csv", [fed], None, None, 10_000
    )  # it waits
    second = refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    lab.source.text = rows(0, 60)
    lab.source.work()
    assert [retrievals.get(lab.store, lab.caller, one.id).state for one in (retrieval, second)] == [
        "done"
    ] * 2
    assert lab.in_use().summary.rows == 70


def test_a_deleted_application_is_left_alone_and_catches_up_when_it_is_restored(
    lab: Fetched,
) -> None:
    deleting.delete(lab.store, lab.caller, lab.application_id)
    lab.refresh(rows(0, 50))
    assert lab.in_use().summary.rows == 40
    deleting.restore(lab.store, lab.caller, lab.application_id)
    assert lab.refresh(rows(0, 50)).state == RetrievalState.UNCHANGED
    assert lab.in_use().summary.rows == 50


def test_asking_twice_is_one_run_and_its_task_can_be_cancelled(lab: Fetched) -> None:
    first = refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    second = refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    assert first.id == second.id
    steering.cancel(lab.store, lab.caller, first.task_id)
    assert retrievals.get(lab.store, lab.caller, first.id).state == RetrievalState.FAILED
    third = refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    assert third.id != first.id


def test_a_file_has_no_source_and_other_tenants_have_no_data(
    lab: Fetched, bob: Caller, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        refreshing.refresh(lab.store, lab.settings, bob, lab.dataset_id)
    file = datasets.upload(lab.store, bob, "f", "f.csv", [rows(0, 9).encode()], None, 10_000)
    lab.source.work()
    with pytest.raises(Conflict, match="nowhere"):
        refreshing.refresh(lab.store, Settings(home=tmp_path), bob, file.id)


def test_only_the_newest_runs_are_kept(lab: Fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgetting, "MOST_KEPT", 3)
    made_retrievals = [lab.refresh(rows(0, 40)).id for _ in range(5)]
    assert [forgetting.forget_old(lab.store) for _ in range(2)] == [2, 0]
    kept = retrievals.list_page(lab.store, lab.caller, lab.dataset_id).items
    assert [retrieval.id for retrieval in kept] == made_retrievals[:1:-1]


def test_bytes_that_come_for_a_run_that_is_forgotten_change_nothing(lab: Fetched) -> None:
    refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    with lab.store.write() as tx:
        tx.scoped(lab.caller.tenant_id).retrievals.forget(tx.now() + 1.0)
    lab.source.text = rows(0, 50)
    (task,) = lab.source.work()
    assert task.state == "done"
    with lab.store.read() as tx:
        assert tx.unscoped().versions.count(state=VersionState.READY) == 2


@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=12),
)
def test_new_rows_are_counted_as_a_person_would(before: list[str], now: list[str]) -> None:
    found = data.number_of_new_rows(pa.table({"a": before}), pa.table({"a": now}))
    assert found == sum((Counter(now) - Counter(before)).values())


def test_a_result_of_the_wrong_kind_is_no_version(lab: Fetched) -> None:
    refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    with lab.store.write() as tx:
        claimed = tx.queue.claim("proc_1", Lane.SHORT, 600.0)
    assert claimed is not None
    task = lab.source._bring(claimed[1], TaskResult(ok=True, value={}, outputs=[]), {})
    assert task.state == "failed"
    assert lab.notifications() == ["dataset.stale"]

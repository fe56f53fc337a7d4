"""Schedules: each time once, whoever looks, whatever fails, and however long nobody looked."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from easeml.contract.sources import NewSchedule, Schedule
from easeml.contract.states import MemberRole
from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.service.applications import deleting
from easeml.service.datasets import datasets
from easeml.service.models import predicted_files
from easeml.service.sources import due, forgetting, refreshing, retrievals, schedules, telling
from easeml.service.storage import releasing
from easeml.store import Store
from easeml.store.shapes import TenantLimits
from postgres_cluster import cluster, database

from .conftest import Clock
from .fetched import Fetched, made, rows, train

_HOUR = 3600.0
_DAY = 24 * _HOUR


@pytest.fixture
def lab(store: Store, ann: Caller, tmp_path: Path) -> Fetched:
    return made(store, ann, tmp_path)


def _add(lab: Fetched, **wish: Any) -> Schedule:
    wish = {"dataset_id": lab.dataset_id, "every": "day", **wish}
    return schedules.add(lab.store, lab.settings, lab.caller, NewSchedule.model_validate(wish))


def _look(lab: Fetched, text: str | None = None) -> int:
    """Let the scheduler look, and the workers work off what it started; return how many began."""
    if text is not None:
        lab.source.text = text
    started = due.start_due(lab.store, lab.settings)
    lab.source.work()
    return started


def _states(lab: Fetched, schedule: Schedule) -> list[str]:
    found = retrievals_of(lab, schedule)
    return [one.state for one in reversed(found)]


def retrievals_of(lab: Fetched, schedule: Schedule) -> list[Any]:
    return schedules.retrievals_page(lab.store, lab.caller, schedule.id).items


def test_a_refresh_comes_at_its_time_and_the_application_goes_on(
    lab: Fetched, clock: Clock
) -> None:
    made_one = _add(lab, at="03:00", zone="Europe/Zurich")
    expected = datetime(2023, 11, 15, 2, tzinfo=UTC).timestamp()  # the clock begins on the 14th
    assert made_one.next_time == expected
    assert _look(lab) == 0
    clock.now = expected
    assert _look(lab, rows(0, 50)) == 1
    assert _look(lab) == 0
    assert _states(lab, made_one) == ["done"]
    assert lab.in_use().summary.rows == 50
    assert schedules.get(lab.store, lab.caller, made_one.id).next_time == expected + _DAY


def test_what_was_missed_for_weeks_is_done_once(lab: Fetched, clock: Clock) -> None:
    daily, hourly = _add(lab), _add(lab, every="1 hour", application_id=lab.application_id)
    clock.now += 30 * _DAY
    assert _look(lab) == 2
    assert [len(retrievals_of(lab, one)) for one in (daily, hourly)] == [1, 1]
    assert _look(lab) == 0


def test_a_clock_that_was_wrong_neither_repeats_nor_stops_a_schedule(
    lab: Fetched, clock: Clock
) -> None:
    right = clock.now
    daily = _add(lab)
    clock.now = right + _DAY
    _look(lab)
    clock.now -= 600  # put back by ten minutes: what was done is not done again
    assert _look(lab) == 0
    clock.now = right + 4000 * _DAY
    assert _look(lab) == 1
    clock.now = right + 2 * _DAY
    _look(lab)
    following = schedules.get(lab.store, lab.caller, daily.id).next_time
    assert following is not None
    assert following <= clock.now + _DAY
    clock.now = following
    assert _look(lab) == 1


def test_a_source_slower_than_its_period_is_not_asked_twice(lab: Fetched, clock: Clock) -> None:
    hourly = _add(lab, every="1 hour")
    for _ in range(5):
        clock.now += _HOUR
        due.start_due(lab.store, lab.settings)
    assert _states(lab, hourly) == ["running"]
    lab.source.work()
    clock.now += _HOUR
    _look(lab)
    assert _states(lab, hourly) == ["unchanged", "unchanged"]


def test_a_refresh_by_hand_that_is_running_counts_for_the_schedule(
    lab: Fetched, clock: Clock
) -> None:
    one = _add(lab, every="1 hour")
    refreshing.refresh(lab.store, lab.settings, lab.caller, lab.dataset_id)
    clock.now += _HOUR
    due.start_due(lab.store, lab.settings)
    assert retrievals_of(lab, one) == []
    assert lab.source.done.count("fetch") == 1
    lab.source.work()
    assert lab.source.done.count("fetch") == 2


def test_a_source_that_fails_is_asked_less_and_less_and_told_of_once(
    lab: Fetched, clock: Clock
) -> None:
    hourly = _add(lab, every="1 hour")
    waited = []
    for _ in range(6):
        shown = schedules.get(lab.store, lab.caller, hourly.id)
        assert shown.next_time is not None
        waited.append(shown.next_time - clock.now)
        clock.now = shown.next_time
        _look(lab, "")
    assert waited == [hours * _HOUR for hours in (1, 1, 2, 4, 8, 16)]
    assert lab.notifications() == ["dataset.stale"]
    shown = schedules.get(lab.store, lab.caller, hourly.id)
    assert (shown.failures, shown.paused) == (6, False)
    assert "404" in shown.error
    assert shown.next_time is not None
    clock.now = shown.next_time
    _look(lab, rows(0, 40))
    assert lab.notifications() == ["dataset.stale", "dataset.fresh"]
    shown = schedules.get(lab.store, lab.caller, hourly.id)
    assert (shown.failures, shown.error, shown.next_time) == (0, "", clock.now + _HOUR)


def test_one_that_fails_for_weeks_is_paused_and_can_be_resumed(lab: Fetched, clock: Clock) -> None:
    daily = _add(lab)
    shown = daily
    while shown.next_time is not None:
        clock.now = shown.next_time
        _look(lab, "")
        shown = schedules.get(lab.store, lab.caller, daily.id)
    assert shown.paused
    assert shown.failures == telling._MOST_FAILURES
    assert lab.notifications() == ["dataset.stale", "dataset.stale"]
    clock.now += 90 * _DAY
    assert _look(lab) == 0
    resumed = schedules.resume(lab.store, lab.caller, daily.id)
    assert (resumed.failures, resumed.paused) == (0, False)
    assert resumed.next_time is not None
    clock.now = resumed.next_time
    assert _look(lab, rows(0, 41)) == 1
    assert lab.in_use().summary.rows == 41


def test_one_of_a_person_who_lost_access_is_paused_until_an_owner_resumes_it(
    lab: Fetched, clock: Clock
) -> None:
    daily = _add(lab)
    with lab.store.write() as tx:
        rows_of = tx.scoped(lab.caller.tenant_id).memberships
        membership = rows_of.find(user_id=lab.caller.user_id)
        assert membership is not None
        rows_of.update(membership.id, role=MemberRole.VIEWER)
    clock.now += 2 * _DAY
    assert _look(lab) == 0
    shown = schedules.get(lab.store, lab.caller, daily.id)
    assert shown.paused
    assert "no longer has access" in shown.error
    assert lab.notifications() == ["dataset.stale"]
    assert lab.source.done.count("fetch") == 1


def test_one_whose_zone_is_no_longer_known_is_paused(lab: Fetched, clock: Clock) -> None:
    daily = _add(lab)
    with lab.store.write() as tx:
        tx.scoped(lab.caller.tenant_id).schedules.update(daily.id, zone="Europe/Atlantis")
    clock.now += 2 * _DAY
    assert _look(lab) == 0
    assert "Atlantis" in schedules.get(lab.store, lab.caller, daily.id).error
    with pytest.raises(InvalidInput):
        schedules.resume(lab.store, lab.caller, daily.id)


def test_predictions_of_one_without_a_model_fail_and_say_why(lab: Fetched, clock: Clock) -> None:
    daily = _add(lab, application_id=lab.application_id)
    clock.now += 2 * _DAY
    _look(lab)
    assert _states(lab, daily) == ["failed"]
    assert "no model" in retrievals_of(lab, daily)[0].note
    assert lab.notifications() == ["predictions.failed"]


def test_a_deleted_application_predicts_nothing_until_it_is_restored(
    lab: Fetched, clock: Clock
) -> None:
    daily = _add(lab, application_id=lab.application_id)
    deleting.delete(lab.store, lab.caller, lab.application_id)
    clock.now += _DAY / 2
    assert _look(lab) == 0
    deleting.restore(lab.store, lab.caller, lab.application_id)
    clock.now += 2 * _DAY
    assert _look(lab) == 1
    deleting.delete(lab.store, lab.caller, lab.application_id)
    clock.now += 2 * _DAY
    deleting.erase_old(lab.store)
    with pytest.raises(NotFound):
        schedules.get(lab.store, lab.caller, daily.id)
    assert _look(lab) == 0


def test_paused_deleted_and_run_now(lab: Fetched, clock: Clock) -> None:
    daily = _add(lab)
    assert schedules.pause(lab.store, lab.caller, daily.id).next_time is None
    clock.now += 2 * _DAY
    assert _look(lab) == 0
    ended = schedules.start_now(lab.store, lab.settings, lab.caller, daily.id)
    assert schedules.start_now(lab.store, lab.settings, lab.caller, daily.id).id == ended.id
    schedules.delete(lab.store, lab.caller, daily.id)
    lab.source.text = rows(0, 60)
    lab.source.work()  # what was asked for by a schedule that is gone changes nothing
    assert lab.in_use().summary.rows == 40
    with pytest.raises(NotFound):
        retrievals.get(lab.store, lab.caller, ended.id)


@pytest.mark.parametrize("text", ["", rows(0, 60)])
def test_a_task_of_a_schedule_that_is_gone_ends_quietly(
    lab: Fetched, clock: Clock, text: str
) -> None:
    daily = _add(lab)
    clock.now += 2 * _DAY
    assert due.start_due(lab.store, lab.settings) == 1
    schedules.delete(lab.store, lab.caller, daily.id)
    lab.source.text = text
    (task,) = lab.source.work()
    assert task.state == ("done" if text else "failed")
    assert lab.in_use().summary.rows == 40
    assert lab.notifications() == []


def test_nothing_is_predicted_beyond_what_a_tenant_may_use(lab: Fetched, clock: Clock) -> None:
    daily = _add(lab, application_id=lab.application_id)
    clock.now += 2 * _DAY
    due.start_due(lab.store, lab.settings)
    with lab.store.write() as tx:
        tx.tenants.update(lab.caller.tenant_id, limits=TenantLimits(storage=1))
    lab.source.work()
    clock.now += 2 * _DAY
    _look(lab)
    assert _states(lab, daily) == ["failed", "failed"]
    notes = [one.note for one in retrievals_of(lab, daily)]
    assert all("storage" in note for note in notes), notes


def test_only_what_came_from_elsewhere_and_is_ones_own_is_scheduled(
    lab: Fetched, bob: Caller
) -> None:
    wish = NewSchedule(dataset_id=lab.dataset_id, every="day")
    with pytest.raises(NotFound):
        schedules.add(lab.store, lab.settings, bob, wish)
    with pytest.raises(NotFound):
        _add(lab, application_id="app_of_nobody")
    with pytest.raises(InvalidInput):
        _add(lab, every="fortnight")
    file = datasets.upload(lab.store, bob, "f", "f.csv", [rows(0, 9).encode()], None, 10_000)
    lab.source.work()
    with pytest.raises(Conflict):
        wish = NewSchedule(dataset_id=file.id, every="day")
        schedules.add(lab.store, lab.settings, bob, wish)
    for _ in range(50):
        _add(lab)
    with pytest.raises(Conflict, match="50"):
        _add(lab)


def test_many_that_are_due_at_once_wait_for_room_and_none_is_lost(
    lab: Fetched, clock: Clock
) -> None:
    several = [_add(lab, application_id=lab.application_id) for _ in range(8)]
    clock.now += 2 * _DAY
    assert due.start_due(lab.store, lab.settings) == 5
    lab.source.work()
    clock.now += 61
    assert _look(lab) == 3
    assert {len(retrievals_of(lab, one)) for one in several} == {1}


def _serving(lab: Fetched, folder: Path) -> None:
    """Have a real model trained and served."""
    with lab.store.write() as tx:
        job = tx.unscoped().jobs.find(application_id=lab.application_id)
    assert job is not None
    train(lab.store, folder, job.id)


def test_predictions_are_downloaded_and_old_ones_give_their_space_back(
    lab: Fetched, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _serving(lab, tmp_path / "training")
    daily = _add(lab, application_id=lab.application_id)
    for number in range(3):
        clock.now += _DAY
        assert _look(lab, rows(number, 10 + number)) == 1
    assert _states(lab, daily) == ["done"] * 3
    newest, *_, oldest = retrievals_of(lab, daily)
    found = predicted_files.fetch(lab.store, lab.caller, newest.task_id, tmp_path / "new")
    assert pq.read_table(found).num_rows == 10
    assert lab.in_use().summary.rows == 40  # what is predicted is not learnt from
    before = _stored(lab)
    monkeypatch.setattr(forgetting, "MOST_KEPT", 2)
    assert forgetting.forget_old(lab.store) == 1
    clock.now += 1.1 * _DAY
    releasing.release(lab.store)
    assert _stored(lab) == before - 2  # what came, and what was predicted of it
    with pytest.raises(Conflict, match="not kept any more"):
        predicted_files.fetch(lab.store, lab.caller, oldest.task_id, tmp_path / "old")
    predicted_files.fetch(lab.store, lab.caller, newest.task_id, tmp_path / "again")


def _stored(lab: Fetched) -> int:
    with lab.store.read() as tx:
        return tx.scoped(lab.caller.tenant_id).artefacts.count()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def either(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """A store on each kind of database."""
    if request.param == "sqlite":
        store = Store.open(f"sqlite:///{tmp_path / 'either.db'}", tmp_path / "kept", clock=clock)
        yield store
        store.close()
        return
    with cluster() as template, database(template) as url:
        store = Store.open(url, tmp_path / "kept", clock=clock)
        yield store
        store.close()


def test_of_many_schedulers_that_look_at_once_one_starts_it(
    either: Store, clock: Clock, tmp_path: Path
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    first = users.create_first_provider(either)
    assert first is not None
    owner = keys.authenticate(either, keys.sign_in(either, *first).secret or "")
    lab = made(either, owner, tmp_path)
    hourly = _add(lab, every="1 hour")
    for hour in range(1, 4):
        clock.now += _HOUR
        with ThreadPoolExecutor(4) as pool:
            looks = [pool.submit(due.start_due, either, lab.settings) for _ in range(4)]
        assert sum(look.result() for look in looks) == 1
        lab.source.work()
        assert len(retrievals_of(lab, hourly)) == hour

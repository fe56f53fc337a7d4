"""Telling people how retrievals end: once when they begin to fail, once when they are right again."""

from typing import Any

from easeml.contract.states import RetrievalState, SourceAction
from easeml.service.datasets import datasets
from easeml.service.sources.timing import When, next_after
from easeml.store import Transaction
from easeml.store.records import Retrieval, Schedule

_FAILS = {SourceAction.REFRESH: "dataset.stale", SourceAction.PREDICT: "predictions.failed"}
_OVER = {SourceAction.REFRESH: "dataset.fresh", SourceAction.PREDICT: "predictions.over"}
_MOST_FAILURES = 12  # in a row, after which a schedule is paused
_HOUR = 3600.0
_LONGEST_WAIT = 7 * 24 * _HOUR  # until a schedule that fails is tried again


def ended(tx: Transaction, retrieval: Retrieval) -> None:
    """Tell of a retrieval, and let its schedule know."""
    schedule = tx.scoped(retrieval.tenant_id).schedules.find(id=retrieval.schedule_id)
    if schedule is not None:
        _note(tx, schedule, retrieval)
    elif retrieval.state == RetrievalState.FAILED:
        _tell(tx, retrieval, _FAILS, {"error": retrieval.note})


def stop(tx: Transaction, schedule: Schedule, why: str) -> None:
    """Pause a schedule that cannot go on, and say so."""
    tx.scoped(schedule.tenant_id).schedules.update(schedule.id, paused=True, error=why)
    _tell(tx, schedule, _FAILS, {"error": f"{why} Its schedule is paused."})


def _note(tx: Transaction, schedule: Schedule, retrieval: Retrieval) -> None:
    """Keep how a retrieval of a schedule ended; one that fails again and again waits longer each time."""
    rows = tx.scoped(schedule.tenant_id).schedules
    if retrieval.state != RetrievalState.FAILED:
        if schedule.failures:
            next_time = next_after(_when(schedule), tx.now())
            rows.update(schedule.id, failures=0, error="", next_time=next_time)
            _tell(tx, retrieval, _OVER, {})
        return
    failures = schedule.failures + 1
    later = tx.now() + min(_HOUR * (2 ** (failures - 1) - 1), _LONGEST_WAIT)
    next_time = max(schedule.next_time, next_after(_when(schedule), later))
    failing = rows.update(schedule.id, failures=failures, error=retrieval.note, next_time=next_time)
    if failures == _MOST_FAILURES:
        stop(tx, failing, retrieval.note)
    elif failures == 1:
        _tell(tx, retrieval, _FAILS, {"error": retrieval.note})


def _when(schedule: Schedule) -> When:
    return When(schedule.every, schedule.at, schedule.zone)


def _tell(
    tx: Transaction,
    about: Retrieval | Schedule,
    kinds: dict[SourceAction, str],
    data: dict[str, Any],
) -> None:
    """Append an event about the newest version of a data set, or about an application."""
    subject = about.application_id
    if about.action == SourceAction.REFRESH:
        tables = tx.scoped(about.tenant_id)
        subject = datasets.newest_upload(tables, about.dataset_id).id
    tx.events.append(kinds[about.action], subject, data, about.tenant_id)

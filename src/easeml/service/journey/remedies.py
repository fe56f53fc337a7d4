"""Following a remedy that a lifecycle tool proposed: into the work queue, or into the next version."""

import json
from datetime import UTC, datetime
from typing import Any

from easeml.contract.jobs import JobLimits as AskedLimits
from easeml.contract.reports import FollowedRemedy
from easeml.contract.states import ENDED_JOBS, JobState
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.production import labelled_rows
from easeml.service.search import jobs
from easeml.service.storage import artefact_references
from easeml.service.tasks.logs import read_plain
from easeml.service.versions import changes
from easeml.service.work import finding
from easeml.store import Store
from easeml.store.records import Application, Report
from easeml.store.shapes import JobLimits

_LARGEST = 2**28  # bytes of rows of production
_LARGEST_ANSWER = 5_000_000
_MORE_TASKS = 20
_MORE_SECONDS = 600.0
_ASKED = ("check-labels", "repair-cells")
_BY_HAND = {
    "collect": "There are no rows of the pool like these. Feed rows: easeml app feed ID FILE",
    "repair-source": "Repair the column where it comes from; the training rows are in order.",
}


def follow(
    store: Store, caller: Caller, application_id: str, report_id: str, number: int
) -> FollowedRemedy:
    """Follow remedy ``number``, from 1, of a report about an application.

    Questions go to the work queue, in place of those that are open; rows of production whose truth
    came become training rows, and the search goes on with them; a search whose limits are used up
    gets more. What only people can do is told.
    Raises ``NotFound``, and ``InvalidInput`` for a remedy that there is not.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        report = tables.reports.get(report_id)
        if report.subject != application.id:
            raise InvalidInput("The report is of another application.", where="report_id")
        remedy = _remedy(store, report, number)
        has_pool = tables.versions.get(application.version_id).summary.rows_of("pool") > 0
    kind = str(remedy["kind"])
    if kind == "retrain":
        return _learn(store, caller, application, report, remedy)
    if kind == "search":
        return _search_on(store, caller, application)
    if kind in _ASKED or (kind == "collect" and has_pool):
        return _ask(store, caller, application, report, number, kind)
    return FollowedRemedy(kind=kind, told=_BY_HAND[kind])


def _ask(
    store: Store, caller: Caller, application: Application, report: Report, number: int, kind: str
) -> FollowedRemedy:
    digest = tools.Answered.from_json(report.value).artefact
    with store.write() as tx:
        task = finding.request_remedy(tx, application, digest, number - 1)
    told = "The questions come to the work queue: easeml work next ID"
    return FollowedRemedy(kind=kind, told=told, done=True, task_id=task.id)


def _learn(
    store: Store, caller: Caller, application: Application, report: Report, remedy: dict[str, Any]
) -> FollowedRemedy:
    """Make a version with the rows of production that the answer was about, those of the slice."""
    model_id = tools.Answered.from_json(report.value).model_id
    with store.read() as tx:
        content = labelled_rows.newest(tx.scoped(caller.tenant_id), application, model_id)
    if not content:
        told = "The rows are not kept any more. Feed them: easeml app feed ID FILE --role train"
        return FollowedRemedy(kind="retrain", told=told)
    digest, size = store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        artefact_references.keep(tx, caller.tenant_id, digest, size)
        where = list(remedy["conditions"])
        version = changes.learn_from(tx, application.id, digest, where, caller.tenant_id)
    told = "A version with these rows is made, and the search goes on with it."
    return FollowedRemedy(kind="retrain", told=told, done=True, version_id=version.id)


def _search_on(store: Store, caller: Caller, application: Application) -> FollowedRemedy:
    """Give the search more of what limits it, and let it go on where it was paused."""
    with store.read() as tx:
        job = jobs.current(tx.scoped(caller.tenant_id), application.id)
    if job is None or job.state in ENDED_JOBS:
        told = "The search has ended for good. New rows begin another: easeml app feed ID FILE"
        return FollowedRemedy(kind="search", told=told)
    if job.state == JobState.PAUSED:
        jobs.resume(store, caller, job.id)
    now = job.limits
    if now == JobLimits():
        told = "The search has no limits: it goes on by itself while it expects to find more."
        return FollowedRemedy(kind="search", told=told)
    deadline = None if now.deadline is None else datetime.fromtimestamp(now.deadline, UTC)
    tasks = None if now.tasks is None else now.tasks + _MORE_TASKS
    seconds = None if now.seconds is None else now.seconds + _MORE_SECONDS
    wish = AskedLimits(max_tasks=tasks, max_seconds=seconds, deadline=deadline)
    jobs.set_limits(store, caller, job.id, wish)
    told = "The search may try more; its limits are changed: easeml job limit ID --max-tasks N"
    return FollowedRemedy(kind="search", told=told, done=True)


def _remedy(store: Store, report: Report, number: int) -> dict[str, Any]:
    """Return a remedy as the tool told it; raises ``InvalidInput`` for one that there is not."""
    found = _remedies(store, report)
    if not 1 <= number <= len(found):
        remedy = f"It has {len(found)}." if found else "This report has none."
        raise InvalidInput(f"There is no remedy {number}.", where="number", remedy=remedy)
    return found[number - 1]


def _remedies(store: Store, report: Report) -> list[dict[str, Any]]:
    if not tools.is_answer(report):
        return []
    digest = tools.Answered.from_json(report.value).artefact
    if not digest:
        return []
    path = store.artefacts.path(report.tenant_id, digest)
    return json.loads(read_plain(path, 0, _LARGEST_ANSWER)).get("remedies", [])

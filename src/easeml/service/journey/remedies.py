"""Following a remedy that a lifecycle tool proposed: into the work queue, or into the next version."""

from typing import Any

from easeml.contract.reports import FollowedRemedy
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.advice import followed, tools
from easeml.service.datasets import lines
from easeml.service.gates import kept as kept_gates
from easeml.service.journey import searching_on
from easeml.service.production import labelled_rows
from easeml.service.storage import artefact_references
from easeml.service.versions import changes
from easeml.service.work import finding
from easeml.store import Store
from easeml.store.records import Application, Report

_LARGEST = 2**28  # bytes of rows of production
_LEARNED = "A version with these rows is made, and the search goes on with it."
_LEARNED_BEFORE = "Version {number} has these rows already; the search goes on with them."
_SET_ASIDE = "Rows of before that are like them are off: easeml data versions ID"
_GATED = (
    "The test rows of the gate stay as they are: as far as they tell of before, it may refuse "
    "what learned from these rows."
)
_ASKED = ("check-labels", "repair-cells")
_BY_HAND = {
    "collect": (
        "There are no rows of the pool where {rows}. Feed some, with answers: easeml app feed ID FILE"
    ),
    "repair-source": "Repair the column where it comes from; the training rows are in order.",
}


def follow(
    store: Store, caller: Caller, application_id: str, report_id: str, number: int
) -> FollowedRemedy:
    """Follow remedy ``number``, from 1, of a report about an application.

    Questions go to the work queue, in place of those that are open; rows of production whose truth
    came become training rows, and the search goes on with them; a search whose limits are used up
    gets more. What only people can do is told. The next answer of the tool tells what came.
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
    outcome = _outcome(store, caller, application, report, number, remedy, has_pool=has_pool)
    with store.write() as tx:
        followed.mark(tx, report, number)
    return outcome


def _outcome(
    store: Store,
    caller: Caller,
    application: Application,
    report: Report,
    number: int,
    remedy: dict[str, Any],
    *,
    has_pool: bool,
) -> FollowedRemedy:
    """Do what a remedy says, or tell who can. What is refused was not followed."""
    kind = str(remedy["kind"])
    if kind == "retrain":
        return _learn(store, caller, application, report, number, remedy)
    if kind == "search":
        return searching_on.search_on(store, caller, application)
    if kind in _ASKED or (kind == "collect" and has_pool):
        return _ask(store, caller, application, report, number, kind)
    told = _BY_HAND[kind].format(rows=remedy["about"])
    return FollowedRemedy(kind=kind, told=told)


def _ask(
    store: Store, caller: Caller, application: Application, report: Report, number: int, kind: str
) -> FollowedRemedy:
    digest = tools.Answered.from_json(report.value).artefact
    with store.write() as tx:
        task = finding.request_remedy(tx, application, digest, number - 1)
    told = "The questions come to the work queue: easeml work next ID"
    return FollowedRemedy(kind=kind, told=told, done=True, task_id=task.id)


def _learn(
    store: Store,
    caller: Caller,
    application: Application,
    report: Report,
    number: int,
    remedy: dict[str, Any],
) -> FollowedRemedy:
    """Make a version with the rows of production that the answer was about, those of the slice.

    Where the data has them by this remedy already, nothing is made: rows that join twice would
    teach and judge at once.
    """
    model_id = tools.Answered.from_json(report.value).model_id
    asked = f"{report.id} {number}"
    with store.read() as tx:
        earlier = lines.made_by_remedy(tx.scoped(caller.tenant_id), application, asked)
        if earlier is not None:
            told = _LEARNED_BEFORE.format(number=earlier.number)
            return FollowedRemedy(kind="retrain", told=told, done=True, version_id=earlier.id)
        content = labelled_rows.newest(tx.scoped(caller.tenant_id), application, model_id)
    if not content:
        told = "The rows are not kept any more. Feed them: easeml app feed ID FILE --role train"
        return FollowedRemedy(kind="retrain", told=told)
    digest, size = store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        artefact_references.keep(tx, caller.tenant_id, digest, size)
        where = list(remedy["conditions"])
        instead = bool(remedy.get("instead", False))
        version = changes.learn_from(
            tx, application.id, digest, where, caller.tenant_id, instead=instead, remedy=asked
        )
        is_gated = kept_gates.active(tx.scoped(caller.tenant_id), application.id) is not None
    told = [_LEARNED]
    if instead:
        told.append(_SET_ASIDE)
    if is_gated:
        told.append(_GATED)
    told.append(searching_on.give_time(store, caller, application))
    text = " ".join(filter(None, told))
    return FollowedRemedy(kind="retrain", told=text, done=True, version_id=version.id)


def _remedy(store: Store, report: Report, number: int) -> dict[str, Any]:
    """Return a remedy as the tool told it; raises ``InvalidInput`` for one that there is not."""
    found = followed.remedies_of(store, report)
    if not 1 <= number <= len(found):
        remedy = f"It has {len(found)}." if found else "This report has none."
        raise InvalidInput(f"There is no remedy {number}.", where="number", remedy=remedy)
    return found[number - 1]

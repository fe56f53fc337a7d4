"""Watching what serves: the rows of production are put to the tool ``monitor``, batch by batch."""

from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from easeml.contract import reports as answers
from easeml.contract.states import TaskState
from easeml.contract.task_views import Task
from easeml.contract.watching import Claim, Drift, Labelled, Look, WatchReport
from easeml.errors import Conflict, NotFound
from easeml.service.access.caller import Caller
from easeml.service.advice import asked_models, tools
from easeml.service.models import told_quality, watched_labels, watched_rows, watched_samples
from easeml.service.models.watched_rows import TOOL
from easeml.service.models.watched_samples import LateFile
from easeml.service.production import labelled_rows, vocabulary
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, Transaction, id_of, records
from easeml.store.records import Application, ProductionRow, Report

CANNOT_TELL = "cannot tell"
_LARGEST = 2**28  # bytes of a batch
_MOST_LOOKS = 50
_MOST_NAMED = 4  # columns in a sentence
_DAY = 86_400.0  # seconds between looks that nobody asked for
_FEWEST_ROWS = 100  # of such a look, or truths that came late
_PARAMETERS = {"at_random": False}  # truths come as they come
_MOST_AT_ONCE = 5  # of such looks
_CREATED = attrgetter("created")


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look gets.

    ``rows``: that are new. ``late``: those whose truth came since, and ``file``: what is told of
    them. ``said``: what was true of rows. ``drawn``: who says which were drawn at random.
    """

    rows: list[ProductionRow]
    late: watched_rows.Late
    file: LateFile
    said: watched_rows.Said
    drawn: list[dict[str, Any]]


def look(store: Store, caller: Caller, application_id: str) -> Task:
    """Have the rows of production looked at that came, or whose truth came, since the last look.

    A task answers. Raises ``NotFound``, and ``Conflict`` where neither came, or nothing serves.
    """
    return _look(store, caller, application_id, fewest=1)


def _look(store: Store, caller: Caller, application_id: str, fewest: int) -> Task:
    """Look as ``look`` does; where fewer than ``fewest`` new rows came, only at late truths."""
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        asked_models.check_one_answer(tables, application)
        watched_labels.keep_answers(tables, application)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        found = _found(store, tx, application, fewest)
    if not application.live_model_id or not (found.rows or found.file.rows):
        raise Conflict(
            "No rows of production came since the last look, and no truth of earlier ones.",
            where=application_id,
            remedy="Keep requests: easeml app log ID --share 1",
        )
    newer_kept = _kept_as_file(store, application, found.rows, found.said)
    late_kept = _kept_as_file(store, application, found.file.rows, found.said)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        for digest, size in filter(any, (newer_kept, late_kept)):
            artefact_references.keep(tx, caller.tenant_id, digest, size)
        version = tables.versions.get(application.version_id)
        others = requests.under_way(tables, tools.KIND, version.id)
        others += watched_rows.tries(tables, application)
        under_way = watched_rows.under_way(others)
        if under_way is not None:
            return task_views.show_all(tables, [under_way])[0]
        question = tools.Question(
            TOOL,
            _PARAMETERS,
            tables.models.get(application.live_model_id),
            models={"model": application.live_model_id},
            newer_artefact=newer_kept[0],
            late=tools.Late(
                late_kept[0],
                found.file.looks,
                found.file.roles,
                found.drawn,
                found.said.corrected,
                found.said.until,
            ),
            before=_newest_state(tables, application),
        )
        task = tools.request(tx, application, version, question)
        watched_rows.take(tables, task.id, found.rows, found.said, found.late)
        return task_views.show_all(tables, [task])[0]


def _found(store: Store, tx: Transaction, application: Application, fewest: int) -> _Found:
    """Return what there is to look at."""
    tables = tx.scoped(application.tenant_id)
    tries = watched_rows.tries(tables, application)
    seen = watched_samples.seen(store, tables, application, tries)
    said = watched_rows.said(tables, application, seen)
    rows = watched_rows.since(tables, application, seen)
    if len(rows) < fewest:
        rows = []
    late = watched_rows.late(tables, application, seen, said)
    file = watched_samples.late_file(store, tables, application, late, said)
    return _Found(rows, late, file, said, watched_samples.claims(tx, rows, file, said))


def _kept_as_file(
    store: Store, application: Application, rows: list[ProductionRow], said: watched_rows.Said
) -> tuple[str, int]:
    """Return the digest and the bytes of a table of rows; an empty digest where there are none."""
    if not rows:
        return "", 0
    content = labelled_rows.as_csv(rows, said.now, application.target)
    return store.artefacts.put_stream(application.tenant_id, [content], _LARGEST)


def look_daily(store: Store) -> None:
    """Have the production of endpoints whose requests are kept looked at, each once a day.

    Where fewer than 100 rows came since the last look, they wait for more. Where the truth of 100
    came that were looked at before, these are looked at without them. A few at a time: the rows of
    a look are written to a file here.
    """
    asked = 0
    with store.read() as tx:
        logs = tx.unscoped().request_logs.list(limit=None)
    for log in logs:
        caller = Caller("", log.tenant_id)
        if log.share == 0 or not _is_due(store, caller, log.id):
            continue
        with suppress(Conflict, NotFound):  # nothing serves, or it was deleted, since then
            _look(store, caller, log.id, _FEWEST_ROWS)
        asked += 1
        if asked == _MOST_AT_ONCE:
            return


def _is_due(store: Store, caller: Caller, application_id: str) -> bool:
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        if asked_models.has_several(tables, application):
            return False
        tries = watched_rows.tries(tables, application)
        if tx.now() - max(map(_CREATED, tries), default=0.0) < _DAY:
            return False
        seen = watched_samples.seen(store, tables, application, tries)
        if watched_rows.number_since(tables, application, seen) >= _FEWEST_ROWS:
            return True
        if watched_labels.number_answered(tables, application):
            return not watched_labels.number_asked(tables, application)
        late = watched_rows.number_late(tables, application, seen, _FEWEST_ROWS)
        return late >= _FEWEST_ROWS


def report(store: Store, caller: Caller, application_id: str) -> WatchReport:
    """Return what is known of how right an application's model is in production.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return report_on(store, tables, tables.applications.get(application_id))


def report_on(store: Store, tables: Tables, application: Application) -> WatchReport:
    """Return what is known of how right an application's model is in production."""
    if asked_models.has_several(tables, application):
        return _of_several(tables, application)
    reports = _reports(tables, application)
    tries = watched_rows.tries(tables, application)
    seen = watched_samples.seen(store, tables, application, tries)
    waiting = watched_rows.number_since(tables, application, seen)
    late = watched_rows.number_late(tables, application, seen)
    late += watched_labels.number_answered(tables, application)
    asked = watched_labels.number_asked(tables, application)
    look = tools.show(store, reports[0]) if reports else None
    labelled = told_quality.newest(tables, application, _tolerance(look))
    failed = _failed_look(tries)
    if look is None:
        return WatchReport(
            application_id=application.id,
            status=CANNOT_TELL,
            reason=failed or _why_no_look(tables, application),
            waiting=waiting,
            late=late,
            asked=asked,
            labelled=labelled,
        )
    shown = _shown(application, look, labelled)
    told = {"waiting": waiting, "late": late, "asked": asked}
    told |= {"claims": _newest_claims(store, reports)}
    shown = shown.model_copy(update=told)
    if shown.rows == 0:
        shown = _with_drift(store, application, shown, reports)
    if not failed:
        return shown
    reason = f"{failed} The look before it said: {shown.reason}"
    return shown.model_copy(update={"status": CANNOT_TELL, "reason": reason})


def _of_several(tables: Tables, application: Application) -> WatchReport:
    """Return what is known where a row may have several answers: no look estimates anything."""
    labelled = told_quality.newest(tables, application, None)
    how = _how_truth_tells(tables, application, labelled)
    return WatchReport(
        application_id=application.id,
        status=CANNOT_TELL,
        reason=f"It is estimated of one answer a row, and these rows may have several. {how}",
        labelled=labelled,
    )


def _how_truth_tells(tables: Tables, application: Application, labelled: Labelled | None) -> str:
    """Return how rows whose truth came tell how right it is, where nothing estimates that."""
    if labelled is not None:
        return "How right it is where the truth came is told below."
    if not vocabulary.of_application(tables, application).labels:
        return "Newer rows with their numbers tell how right it is: easeml app feed ID FILE"
    if not _keeps_requests(tables, application):
        return f"Rows whose truth came tell how right it is. {_keep(application)}"
    return f"Say what was true of rows: easeml app feedback {application.id} FILE"


def _keeps_requests(tables: Tables, application: Application) -> bool:
    log = tables.request_logs.find(id=application.id)
    return log is not None and log.share > 0


def _keep(application: Application) -> str:
    return f"Requests have to be kept first: easeml app log {application.id} --share 1"


def _why_no_look(tables: Tables, application: Application) -> str:
    """Return that no rows were looked at yet, and what that needs."""
    said = "No rows of production were looked at for the model that serves."
    if not _keeps_requests(tables, application):
        return f"{said} {_keep(application)}"
    return f"{said} A request is kept some seconds after its answer; then it can be looked at."


def _failed_look(tries: list[records.Task]) -> str:
    """Return that the newest look at the model that serves failed, and why; empty if it did not."""
    newest = max(tries, key=_CREATED, default=None)
    if newest is None or newest.state != TaskState.FAILED:
        return ""
    why = newest.error.strip().rpartition("\n")[2]
    return (
        f"The last look at the rows of production failed: {why.rstrip('.')}. "
        "Its rows wait for the next look."
    )


def looks(store: Store, tables: Tables, application: Application) -> list[Look]:
    """Return what the newest looks at an application's production said, oldest first."""
    found = tables.reports.list(
        kind=TOOL, subject=application.id, newest_first=True, limit=_MOST_LOOKS
    )
    shown = []
    for one in reversed(found):
        answer = tools.show(store, one)
        numbers = tools.numbers_of(answer)
        estimate, interval = _estimate(answer)
        look = Look(
            created=one.created,
            model_id=answer.model_id,
            status=answer.verdict,
            reason=answer.advice,
            rows=int(numbers["rows"].value),
            estimate=estimate,
            interval=interval,
        )
        shown.append(look)
    return shown


def _with_drift(
    store: Store, application: Application, shown: WatchReport, reports: list[Report]
) -> WatchReport:
    """Return what a look at late truths said, with what the last look at new rows said of drift."""
    for report in reports:
        last = _shown(application, tools.show(store, report), None)
        if last.rows:
            tests = {**last.tests, **shown.tests}
            drift = {"rows": last.rows, "drift": last.drift, "remedy": last.remedy}
            return shown.model_copy(update={**drift, "tests": tests})
    return shown


def _shown(
    application: Application, found: answers.Report, labelled: Labelled | None
) -> WatchReport:
    numbers = tools.numbers_of(found)
    estimate, interval = _estimate(found)
    drift, tests = _drift(found.tables), _tests(found.tables)
    return WatchReport(
        application_id=application.id,
        status=found.verdict,
        reason=found.advice,
        estimate=estimate,
        interval=interval,
        reference=numbers["reference"].value,
        tolerance=_tolerance(found),
        rows=int(numbers["rows"].value),
        drift=drift,
        tests=tests,
        labelled=labelled,
        assumes=found.assumes,
        notes=found.notes,
        created=found.created,
        remedy=_remedy(drift, tests),
    )


def _tolerance(look: answers.Report | None) -> float | None:
    """Return up to which error a number counts as right; None of classes, and without a look."""
    numbers = {} if look is None else tools.numbers_of(look)
    if "tolerance" in numbers:
        return numbers["tolerance"].value
    return None


def what_moved(store: Store, tables: Tables, application: Application) -> str:
    """Return what the last look at new rows found to have moved; empty where nothing has.

    A look at late truths alone says nothing of it.
    """
    for report in _reports(tables, application):
        look = tools.show(store, report)
        if tools.numbers_of(look)["rows"].value:
            return _remedy(_drift(look.tables), _tests(look.tables))
    return ""


def _remedy(drift: dict[str, Drift], tests: dict[str, Drift]) -> str:
    """Return why the model should be adapted; empty where neither inputs nor predictions moved.

    What has moved is there without labels. Where only the concept has, nothing but labels helps.
    """
    moved = [column for column, test in drift.items() if test.alarm]
    alarms = {kind for kind, test in tests.items() if test.alarm}
    if len(moved) > _MOST_NAMED:
        named = ", ".join(moved[:_MOST_NAMED])
        return f"The inputs moved in {named} and {len(moved) - _MOST_NAMED} more."
    if moved:
        return f"The inputs moved in {', '.join(moved)}."
    if "covariate" in alarms:
        return "The inputs have moved."
    if "prior" in alarms:
        return "What is predicted has moved."
    return ""


def _estimate(look: answers.Report) -> tuple[float | None, tuple[float, float] | None]:
    """Return the quality that a look found, and its interval; None where it cannot tell."""
    if look.verdict == CANNOT_TELL:
        return None, None
    quality = tools.numbers_of(look)["quality"]
    if quality.low is None or quality.high is None:
        return quality.value, None
    return quality.value, (quality.low, quality.high)


def _tests(tables: list[answers.ReportTable]) -> dict[str, Drift]:
    """Return the tests of the first table of ``monitor``, by their kind."""
    found = {}
    for kind, p_value, level, alarm, _ in tables[0].rows:
        test = {"kind": kind, "p_value": p_value, "level": level, "alarm": alarm == "yes"}
        found[str(kind)] = Drift.model_validate(test)
    return found


def _drift(tables: list[answers.ReportTable]) -> dict[str, Drift]:
    """Return the second table of ``monitor``, by column; older answers have none."""
    found = {}
    for table in tables[1:2]:
        for column, p_value, level, alarm in table.rows:
            test = {"kind": "covariate", "p_value": p_value, "level": level}
            found[str(column)] = Drift.model_validate({**test, "alarm": alarm == "yes"})
    return found


def _newest_claims(store: Store, reports: list[Report]) -> list[Claim]:
    """Return what became of the claims of the newest look that had some, of the last fifty."""
    for report in reports[:_MOST_LOOKS]:
        claims = watched_samples.claims_of(tools.show(store, report))
        if claims:
            return claims
    return []


def _reports(tables: Tables, application: Application) -> list[Report]:
    """Return what looks at the model that serves said, newest first."""
    found = tables.reports.list(kind=TOOL, subject=application.id, newest_first=True, limit=None)
    return [report for report in found if _model_of(report) == application.live_model_id]


def _model_of(report: Report) -> str:
    return tools.Answered.from_json(report.value).model_id


def _newest_state(tables: Tables, application: Application) -> str:
    """Return the id of the newest report with a state to go on from; empty where there is none."""
    return id_of(next(filter(tools.state_of, _reports(tables, application)), None))

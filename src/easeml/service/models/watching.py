"""Watching what serves: the rows of production are put to the tool ``monitor``, batch by batch."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import filterfalse, islice
from operator import attrgetter

from easeml.contract import reports as answers
from easeml.contract.states import TaskGroup, TaskState
from easeml.contract.task_views import Task
from easeml.contract.watching import Drift, Labelled, Look, WatchReport
from easeml.errors import Conflict, NotFound
from easeml.service.access.caller import Caller
from easeml.service.advice import tools
from easeml.service.production import feedback, labelled_rows
from easeml.service.storage import artefact_references
from easeml.service.tasks import requests, task_views
from easeml.store import Store, Tables, id_of, records
from easeml.store.records import Application, ProductionRow, Report
from easeml.store.shapes import Shape

TOOL = "monitor"
CANNOT_TELL = "cannot tell"
_MOST_ROWS = 20_000  # that are looked at in one batch, the oldest first
_LARGEST = 2**28  # bytes of a batch
_MOST_LABELLED = 500  # the newest rows whose truth came
_MOST_LOOKS = 50
_MOST_NAMED = 4  # columns in a sentence
_DAY = 86_400.0  # seconds between looks that nobody asked for
_FEWEST_ROWS = 100  # of such a look
_MOST_AT_ONCE = 5  # of such looks
_CREATED = attrgetter("created")


@dataclass(frozen=True, slots=True)
class Looked(Shape):
    """What a task was told to look at: a file of rows, of which the model answered each."""

    newer_artefact: str = ""
    model_id: str = ""


def look(store: Store, caller: Caller, application_id: str) -> Task:
    """Have the rows of production looked at that came since the last look; a task answers.

    Raises ``NotFound``, and ``Conflict`` where no rows came, or nothing serves.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        rows = _rows_since(tables, application)
        truths = feedback.answers(tables, application)
    if not application.live_model_id or not rows:
        raise Conflict(
            "No rows of production came since the last look.",
            where=application_id,
            remedy="Keep requests: easeml app log ID --share 1",
        )
    content = labelled_rows.as_csv(rows, truths, application.target)
    digest, size = store.artefacts.put_stream(caller.tenant_id, [content], _LARGEST)
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        artefact_references.keep(tx, caller.tenant_id, digest, size)
        version = tables.versions.get(application.version_id)
        before = _newest(tables, application, with_state=True)
        question = tools.Question(
            TOOL,
            {},
            tables.models.get(application.live_model_id),
            models={"model": application.live_model_id},
            newer_artefact=digest,
            before=id_of(before),
        )
        for under_way in requests.under_way(tables, tools.KIND, version.id):
            if tools.asks(under_way, TOOL):
                return task_views.show_all(tables, [under_way])[0]
        task = tools.request(tx, application, version, question)
        return task_views.show_all(tables, [task])[0]


def look_daily(store: Store) -> None:
    """Have the production of endpoints whose requests are kept looked at, each once a day.

    Where fewer than 100 rows came since the last look, they wait for more. A few at a time: the
    rows of a look are written to a file here.
    """
    asked = 0
    with store.read() as tx:
        logs = tx.unscoped().request_logs.list(limit=None)
    for log in logs:
        caller = Caller("", log.tenant_id)
        if log.share == 0 or not _is_due(store, caller, log.id):
            continue
        with suppress(Conflict, NotFound):  # nothing serves, or it was deleted, since then
            look(store, caller, log.id)
        asked += 1
        if asked == _MOST_AT_ONCE:
            return


def _is_due(store: Store, caller: Caller, application_id: str) -> bool:
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        tries = _looks_asked_for(tables, application)
        is_fresh = tx.now() - max(map(_CREATED, tries), default=0.0) < _DAY
        number = _number_since(tables, application, _last_look(tries))
        return not is_fresh and number >= _FEWEST_ROWS


def report(store: Store, caller: Caller, application_id: str) -> WatchReport:
    """Return what is known of how right an application's model is in production.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return report_on(store, tables, tables.applications.get(application_id))


def report_on(store: Store, tables: Tables, application: Application) -> WatchReport:
    """Return what is known of how right an application's model is in production."""
    newest = _newest(tables, application)
    tries = _looks_asked_for(tables, application)
    waiting = _number_since(tables, application, _last_look(tries))
    look = None if newest is None else tools.show(store, newest)
    labelled = _labelled(tables, application, _tolerance(look))
    failed = _failed_look(tries)
    if look is None:
        return WatchReport(
            application_id=application.id,
            status=CANNOT_TELL,
            reason=failed or _why_no_look(tables, application),
            waiting=waiting,
            labelled=labelled,
        )
    shown = _shown(application, look, waiting, labelled)
    if not failed:
        return shown
    reason = f"{failed} The look before it said: {shown.reason}"
    return shown.model_copy(update={"status": CANNOT_TELL, "reason": reason})


def _why_no_look(tables: Tables, application: Application) -> str:
    """Return that no rows were looked at yet, and what that needs."""
    said = "No rows of production were looked at for the model that serves."
    log = tables.request_logs.find(id=application.id)
    if log is None or not log.share:
        return f"{said} Requests have to be kept first: easeml app log {application.id} --share 1"
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


def _shown(
    application: Application, found: answers.Report, waiting: int, labelled: Labelled | None
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
        waiting=waiting,
        drift=drift,
        tests=tests,
        labelled=labelled,
        assumes=found.assumes,
        created=found.created,
        remedy=_remedy(drift, tests),
    )


def _tolerance(look: answers.Report | None) -> float | None:
    """Return up to which error a number counts as right; None of classes, and without a look."""
    numbers = {} if look is None else tools.numbers_of(look)
    return numbers["tolerance"].value if "tolerance" in numbers else None


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
    for table in tables[1:]:
        for column, p_value, level, alarm in table.rows:
            test = {"kind": "covariate", "p_value": p_value, "level": level}
            found[str(column)] = Drift.model_validate({**test, "alarm": alarm == "yes"})
    return found


def _newest(tables: Tables, application: Application, *, with_state: bool = False) -> Report | None:
    """Return the newest look at the model that serves."""
    found = tables.reports.list(kind=TOOL, subject=application.id, newest_first=True, limit=None)
    for report in found:
        answered = tools.Answered.from_json(report.value)
        is_usable = bool(answered.state) or not with_state
        if is_usable and answered.model_id == application.live_model_id:
            return report
    return None


def _rows_since(tables: Tables, application: Application) -> list[ProductionRow]:
    """Return rows that the model that serves answered, since a look was last asked for.

    The look may have been at an earlier version of the data: no row is tested twice.
    """
    return tables.production_rows.list(
        application_id=application.id,
        model_id=application.live_model_id,
        since=_last_look(_looks_asked_for(tables, application)),
        limit=_MOST_ROWS,
    )


def _number_since(tables: Tables, application: Application, since: float) -> int:
    """Return how many rows ``_rows_since`` has, without reading them; ``since``: the last look."""
    number = tables.production_rows.count(
        application_id=application.id,
        model_id=application.live_model_id,
        since=since,
    )
    return min(number, _MOST_ROWS)


def _last_look(tries: list[records.Task]) -> float:
    """Return when the newest of the looks that were asked for was, 0 for never.

    Looks that failed or were cancelled saw no row, and do not count.
    """
    return max(map(_CREATED, filterfalse(_saw_nothing, tries)), default=0.0)


def _saw_nothing(look: records.Task) -> bool:
    return look.state in (TaskState.FAILED, TaskState.CANCELLED)


def _looks_asked_for(tables: Tables, application: Application) -> list[records.Task]:
    """Return the looks at the model that serves, however they ended."""
    ids = tables.versions.column("id", dataset_id=application.dataset_id)
    tasks = tables.tasks.list(subject=ids, kind=TaskGroup.ADVISE, limit=None)
    return [task for task in tasks if _looks_at(task, application.live_model_id)]


def _looks_at(task: records.Task, model_id: str) -> bool:
    """Tell whether a task looks at what a model answered in production."""
    if task.spec_kind != tools.KIND:
        return False
    told = Looked.from_json(task.payload)
    return bool(told.newer_artefact) and told.model_id == model_id


def _labelled(tables: Tables, application: Application, tolerance: float | None) -> Labelled | None:
    """Return how often the model that serves was right of late, where the truth came.

    None without any. A month that goes badly is not hidden behind the years before it.
    Wilson's interval (JASA 22, 1927). A number is right up to ``tolerance``, as watching has it;
    None of numbers that were not looked at.
    """
    newest = list(islice(_were_right(tables, application, tolerance), _MOST_LABELLED))
    if not newest:
        return None
    right, rows = sum(newest), len(newest)
    low, high = _wilson(right, rows)
    return Labelled(rows=rows, quality=right / rows, low=low, high=high)


def _were_right(
    tables: Tables, application: Application, tolerance: float | None
) -> Iterator[bool]:
    """Tell of each row whose truth came whether the model that serves was right, newest first."""
    from easeml.lifecycle.labels import class_name

    truths = feedback.truths(tables, application.id)
    if not truths:
        return
    rows = tables.production_rows.list(
        application_id=application.id,
        model_id=application.live_model_id,
        newest_first=True,
        limit=None,
    )
    for row in rows:
        truth, said = labelled_rows.truth_of(row, truths), row.answer["prediction"]
        if truth is None:
            continue
        if not isinstance(said, float):
            yield class_name(truth) == class_name(said)
        elif tolerance is not None and feedback.is_answer(truth, set()):
            yield abs(float(str(truth)) - said) <= tolerance


def _wilson(right: int, rows: int) -> tuple[float, float]:
    z = 1.959964
    share = right / rows
    centre = share + z * z / (2 * rows)
    half = z * math.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    scale = 1 + z * z / rows
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)

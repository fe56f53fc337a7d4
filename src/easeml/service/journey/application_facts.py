"""The facts of an application, as the service kept them; nothing is computed from rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import attrgetter, itemgetter

from easeml.contract import applications as contract
from easeml.contract.jobs import Job
from easeml.contract.models import Measure, TrainedModel
from easeml.contract.reports import Report
from easeml.contract.states import TASKS_UNDER_WAY, TAUGHT, TaskState, VersionState, WorkState
from easeml.data import ALL_ROLES
from easeml.errors import EasemlError
from easeml.lifecycle import journey
from easeml.lifecycle.journey import (
    Estimate,
    Facts,
    Feasible,
    Goal,
    Proposed,
    Searched,
    Suspects,
    WorkLeft,
)
from easeml.lifecycle.tool import of_one_answer
from easeml.modules.further_measures import one_name
from easeml.optional import if_known
from easeml.service.advice import asked_models, suspicious_rows, tools
from easeml.service.gates import kept as kept_gates
from easeml.service.journey import feasible, goals, suggested
from easeml.service.production import feedback
from easeml.service.tasks import requests
from easeml.service.work import queue
from easeml.store import Tables, records
from easeml.store.records import Application, DatasetVersion, Json, Task
from easeml.store.shapes import ColumnSeen

_ASKED = (*TASKS_UNDER_WAY, TaskState.FAILED)
_OF_WHICH, _VERDICT = attrgetter("tool", "model_id"), attrgetter("verdict")
_LEAST_MISSING = 0.001  # share of missing cells below which a column is not named


def facts_of(
    tables: Tables,
    application: Application,
    shown: contract.Application,
    reports: Sequence[Report],
    goal: records.Goal | None,
    moved: str = "",
) -> Facts:
    """Return what is known.

    ``shown``: the resource; ``reports``: the newest of each tool; ``moved``: what production has
    moved in, as a sentence.
    """
    version = tables.versions.get(application.version_id)
    by_tool = {report.tool: report for report in reports}
    verdicts = dict(zip(map(_OF_WHICH, reports), map(_VERDICT, reports), strict=True))
    unit = goal.objective if goal and goal.objective else application.objective
    quality = _quality(shown, unit)
    tested, tested_by, readings = _tested(shown, unit)
    reached = tested or if_known(quality, feasible.estimate_of)
    found = feasible.now(tables, application, version, by_tool.get(feasible.TOOL), unit, reached)
    work, answers = _work(tables, application)
    tasks = requests.of_kind(tables, tools.KIND, subject=version.id, state=_ASKED)
    return Facts(
        target=application.target,
        is_ready=version.state == VersionState.READY,
        goal=if_known(goal, _goal),
        parts=parts_of(goal, shown),
        experience=journey.experiences(suggested.outcomes(tables)),
        unit=unit,
        lower_is_better=_is_less_better(quality, goal),
        rows={role: version.summary.rows_of(role) for role in ALL_ROLES},
        off=version.summary.off,
        rarest=_rarest(version),
        holes=_holes(version.inputs),
        leaks=tuple(shown.leaks),
        quality=if_known(quality, feasible.estimate_of),
        baseline=quality.baseline if quality else None,
        tested=tested,
        tested_by=tested_by,
        feasible=found,
        suspects=_suspects(tables, application, by_tool.get(suspicious_rows.TOOL)),
        search=if_known(shown.job, _searched),
        models=tables.models.count(application_id=application.id, error=""),
        serves=shown.live_model is not None,
        readings=readings,
        meter=_verdict(by_tool.get("meter")),
        picked="pick" in by_tool,
        watched=verdicts.get(("monitor", application.live_model_id), ""),
        debugged="debug" in by_tool,
        moved=moved,
        remedy=_proposed(by_tool.get("debug"), by_tool.get("monitor")),
        tests=_tests(by_tool.get("ci")),
        work=work,
        answers=answers,
        asked=frozenset(_tool_of(task) for task in tasks if task.state in TASKS_UNDER_WAY),
        failed=_failed(tasks, by_tool),
        worn=kept_gates.retirable(kept_gates.of_application(tables, application.id), version),
        untold=_untold(application, version),
        forecasts=bool(application.rules.forecast),
        told=_told(tables, application, version, moved),
        stale=_stale(reports, version, found, goals.asked(goal, application)),
    )


def _told(tables: Tables, application: Application, version: DatasetVersion, moved: str) -> int:
    """Return how many rows' truth came since the data was made, where that matters.

    Rows that are not kept, or without some of their columns, cannot become data.
    """
    if not (moved or application.rules.forecast):
        return 0
    log = tables.request_logs.find(id=application.id)
    if log is None or log.masked:
        return 0
    return feedback.rows_told(tables, application.id, since=version.created)


def _untold(application: Application, version: DatasetVersion) -> frozenset[str]:
    """Return the tools that tell nothing of the target."""
    if version.target_type in asked_models.SEVERAL:
        return of_one_answer()
    return frozenset([feasible.TOOL] if application.rules.forecast else [])


def _stale(
    reports: Sequence[Report],
    version: DatasetVersion,
    found: Feasible | None,
    asked: Json,
) -> frozenset[str]:
    """Return the tools whose answer is of other data, or of another goal than ``asked`` about."""
    stale = {report.tool for report in reports if report.version_id != version.id}
    if found is not None and found.answers:
        stale.discard(feasible.TOOL)
    if found is not None and asked and asked != found.asked:
        stale.add(feasible.TOOL)
    return frozenset(stale)


def _goal(goal: records.Goal) -> Goal:
    return Goal(goal.objective, goal.value, goal.text, goal.wants_less)


def parts_of(goal: records.Goal | None, shown: contract.Application) -> tuple[journey.Part, ...]:
    """Return the further conditions of a goal, and what the live model takes or was measured by."""
    if goal is None:
        return ()
    conditions = journey.read_further(goal.text)
    return tuple(journey.Part(one, _taken(shown.live_model, one.measure)) for one in conditions)


def _taken(model: TrainedModel | None, measure: str) -> float | None:
    """Return the seconds or bytes that a model takes, or what it was measured to be."""
    if model is None:
        return None
    taken = {journey.LATENCY: model.latency, journey.SIZE: float(model.size)}
    if measure in taken:
        return taken[measure]
    name = measure
    with suppress(EasemlError):  # an objective that was added while easeml ran has one name alone
        name = one_name(measure)
    found = model.measures.get(name)
    return found.value if found else None


def _quality(shown: contract.Application, unit: str) -> Measure | None:
    """Return what serves, measured on validation rows by the objective of the goal."""
    model = shown.live_model
    if model is None:
        return None
    by_objective = model.measure if unit == shown.objective else None
    return model.measures.get(unit, by_objective)


def _tested(shown: contract.Application, unit: str) -> tuple[Estimate | None, str, int]:
    """Return the same on test rows, by which objective these are read, and how often they were.

    They are read by the application's own objective; by another one nothing is known.
    """
    test = shown.test_quality
    if test is None:
        return None, "", 0
    measure = test.measure if unit == shown.objective else None
    return if_known(measure, feasible.estimate_of), shown.objective, test.readings


def _is_less_better(quality: Measure | None, goal: records.Goal | None) -> bool:
    if quality is not None:
        return quality.lower_is_better
    return bool(goal and goal.wants_less)


def _rarest(version: DatasetVersion) -> tuple[str, int] | None:
    """Return the class with fewest rows at the declaration; None where the target has none."""
    if version.target is None or version.target_type != "category":
        return None
    counts = map(tuple, version.target.get("distribution", {}).get("values", []))
    return min(counts, key=itemgetter(1), default=None)


def _holes(inputs: Sequence[ColumnSeen]) -> dict[str, float]:
    """Return the share of missing cells of the columns that lack more than a few.

    A column with one value, or none, tells by being there: nothing is missing in it.
    """
    asked = (column for column in inputs if len(column.get("classes", ())) != 1)
    shares = {column["name"]: column.get("missing", 0.0) for column in asked}
    return {name: share for name, share in shares.items() if share > _LEAST_MISSING}


def _suspects(tables: Tables, application: Application, report: Report | None) -> Suspects | None:
    if report is None:
        return None
    numbers = tools.numbers_of(report)
    listed, rows = feasible.count_of(numbers["listed"]), feasible.count_of(numbers["rows"])
    found = suspicious_rows.found(tables, application)
    return Suspects(listed, numbers["expected"].value, rows, found.checked, found.wrong)


def _searched(job: Job) -> Searched:
    tried = job.tasks_done + job.tasks_failed
    return Searched(
        state=job.state,
        tried=tried,
        candidates=job.candidates,
        mean_cost=job.cost / tried if tried else 0.0,
        expected=job.expected_improvement,
        error=job.expected_improvement_error or 0.0,
    )


def _work(tables: Tables, application: Application) -> tuple[dict[str, WorkLeft], int]:
    """Return what waits for people, by kind, and how many answers a version could be made of."""
    states = (WorkState.OPEN, WorkState.ANSWERED)
    items = tables.work_items.pick("kind", "state", application_id=application.id, state=states)
    counts = Counter(items)
    times = queue.seconds_of_kinds(tables, application)
    left = {}
    for (kind, state), count in counts.items():
        if state == WorkState.OPEN:
            left[kind] = WorkLeft(count, times[kind])
    return left, sum(counts[kind, WorkState.ANSWERED] for kind in TAUGHT)


def _verdict(report: Report | None) -> str:
    return report.verdict if report else ""


def _proposed(debugged: Report | None, watched: Report | None) -> Proposed | None:
    """Return the first remedy for what production looked like when it was looked at last."""
    if debugged is None or watched is None:
        return None
    is_outdated = debugged.created < watched.created
    if is_outdated or not debugged.remedies:
        return None
    first = debugged.remedies[0]
    return Proposed(
        first.title,
        first.reason,
        first.corrected,
        first.low,
        first.high,
        first.human_minutes,
        first.device_seconds,
    )


def _tests(report: Report | None) -> dict[str, str]:
    if report is None:
        return {}
    condition = report.parameters.get("condition", "the usual condition")
    return {str(condition): report.verdict}


def _failed(tasks: Sequence[Task], answered: Mapping[str, Report]) -> dict[str, str]:
    """Return the tools that ended without an answer when they were asked last, and why.

    ``tasks``: the oldest first.
    """
    failed = {}
    for task in tasks:
        tool = _tool_of(task)
        answer = answered.get(tool)
        has_answered_since = answer is not None and answer.created > task.created
        if task.state == TaskState.FAILED and not has_answered_since:
            failed[tool] = task.error
    return failed


def _tool_of(task: Task) -> str:
    return tools.Told.from_json(task.payload).tool

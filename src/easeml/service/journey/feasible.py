"""What any model can reach, as it was found, and as it is after what people answered since."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from easeml.contract.models import Measure
from easeml.contract.reports import Report, ReportNumber
from easeml.contract.states import TAUGHT, WorkState
from easeml.lifecycle.journey import Estimate, Feasible
from easeml.optional import if_known
from easeml.service.advice import tools
from easeml.store import Tables
from easeml.store.records import Application, DatasetVersion, Json
from easeml.store.shapes import OperationName, Shape

TOOL = "feasibility"


@dataclass(frozen=True, slots=True)
class Told(Shape):
    """What a task said that asked the tool."""

    verdict: str = ""
    numbers: list[Json] = field(default_factory=list)


def now(
    tables: Tables,
    application: Application,
    version: DatasetVersion,
    report: Report | None,
    unit: str,
    served: Estimate | None,
) -> Feasible | None:
    """Return what the tool found, which allows for people's answers since where it still can.

    ``served``: what the live model reaches, by ``unit``.
    """
    if report is None:
        return None
    found = _found(tools.numbers_of(report), report.verdict, report.parameters, version)
    found = _followed(tables, application, report.version_id, found) or found
    if served is None or unit != found.unit:
        return found
    return found.beside(served)


def is_followed(tables: Tables, application: Application, parameters: Json) -> bool:
    """Does what was found last hold, so that the tool need not be asked the same again?"""
    report = tables.reports.newest(kind=TOOL, subject=application.id)
    if report is None:
        return False
    answered = tools.Answered.from_json(report.value)
    task = tables.tasks.find(id=answered.task_id)
    if task is None or answered.parameters != parameters:
        return False
    told = Told.from_json(task.result)
    numbers = {one.name: one for one in map(ReportNumber.model_validate, told.numbers)}
    if not numbers:  # of a release before
        return False
    version = tables.versions.get(application.version_id)
    found = _found(numbers, told.verdict, parameters, version)
    return _followed(tables, application, report.version_id, found) is not None


def _followed(
    tables: Tables, application: Application, version_id: str, found: Feasible
) -> Feasible | None:
    """Return what was found of a version after all answers since; None where it is stale."""
    answers = _answers_since(tables, application, version_id)
    return if_known(answers, found.after)


def _answers_since(tables: Tables, application: Application, version_id: str) -> int | None:
    """Return how many answers came since a version; None where its rows changed otherwise, too."""
    waiting = {"application_id": application.id, "kind": list(TAUGHT)}
    count = tables.work_items.count(**waiting, state=WorkState.ANSWERED)
    at = application.version_id
    while at != version_id:
        version = tables.versions.get(at)
        if version.operation.name != OperationName.ANSWER:
            return None
        told = version.operation.told
        count += len(told.get("labels", ())) + len(told.get("cells", ()))
        at = version.parents[0]
    return count


def _found(
    numbers: Mapping[str, ReportNumber], verdict: str, parameters: Json, version: DatasetVersion
) -> Feasible:
    return Feasible(
        verdict=verdict,
        unit=_unit(version, parameters),
        asked=parameters,
        goal=_goal(parameters),
        best=estimate_of(numbers["best"]),
        least=if_known(numbers.get("rmse"), estimate_of),
        reached=numbers["reached"].value,
        rows=count_of(numbers["rows"]),
        noise=if_known(numbers.get("noise"), estimate_of),
        more_rows=if_known(numbers.get("more-rows"), count_of),
        doubled=if_known(numbers.get("doubled"), estimate_of),
    )


def _unit(version: DatasetVersion, parameters: Json) -> str:
    """Return by what the best that any model can reach is told."""
    if version.target_type not in ("category", ""):
        return "r2"
    return parameters.get("of", "accuracy")


def _goal(parameters: Json) -> float | None:
    """Return the goal in the unit of what is told; None of an rmse, which is told as R2."""
    if parameters.get("of") == "rmse":
        return None
    return if_known(parameters.get("goal"), float)


def estimate_of(number: ReportNumber | Measure) -> Estimate:
    """Return a number with its interval; both ends are the number where it has none."""
    low = number.value if number.low is None else number.low
    high = number.value if number.high is None else number.high
    return Estimate(number.value, low, high)


def count_of(number: ReportNumber) -> int:
    """Return a number of rows."""
    return int(number.value)

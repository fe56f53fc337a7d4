"""What the tool ``label-errors`` said of each train row of an application."""

from dataclasses import dataclass

from easeml.contract.states import WorkKind, WorkState
from easeml.lifecycle.labels import class_name
from easeml.service.advice import tools
from easeml.service.answers import standing
from easeml.service.tasks import requests
from easeml.store import Tables
from easeml.store.records import Application

TOOL = "label-errors"


@dataclass(frozen=True, slots=True)
class Scores:
    """The digest of the scores, and the number of the version they are of."""

    artefact: str
    number: int


def newest(tables: Tables, application_id: str) -> Scores | None:
    """Return the newest scores: of an older version they still hold for the rows that it had."""
    found = tables.reports.newest(kind=TOOL, subject=application_id)
    if found is None:
        return None
    version = tables.versions.get(found.version_id)
    return Scores(tools.Answered.from_json(found.value).rows, version.number)


def checked(tables: Tables, application: Application) -> set[int]:
    """Return the rows whose label a person confirmed or changed: it is in doubt no more."""
    answered = (WorkState.ANSWERED, WorkState.USED)
    kind = WorkKind.CHECK_LABEL
    return set(
        tables.work_items.column("row", application_id=application.id, kind=kind, state=answered)
    )


@dataclass(frozen=True, slots=True)
class Found:
    """How many labels people were asked about as they looked wrong, and how many of these were."""

    checked: int
    wrong: int


def found(tables: Tables, application: Application) -> Found:
    """Return what people's answers that stand say of the labels that looked wrong."""
    answered = (WorkState.ANSWERED, WorkState.USED)
    items = tables.work_items.list(
        application_id=application.id, kind=WorkKind.CHECK_LABEL, state=answered, limit=None
    )
    items = [item for item in items if item.question.source == TOOL]
    right = standing.settled(tables, items)
    wrong = 0
    for item in items:
        if item.id in right:
            wrong += class_name(right[item.id]) != class_name(item.question.given)
    return Found(len(right), wrong)


def is_under_way(tables: Tables, application: Application) -> bool:
    """Is the tool being asked?"""
    asked = requests.under_way(tables, tools.KIND, application.version_id)
    return any(tools.asks(task, TOOL) for task in asked)

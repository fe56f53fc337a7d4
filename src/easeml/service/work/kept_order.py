"""The order of questions follows each answer: kept by a task, updated while somebody waits.

A task that looks for items leaves the order as a file; a report of its kind names it, and the
version that it is of. What was answered since is in the rows of answers. The order now follows from
both each time, so that nothing can be lost, and it is the same for all who ask.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

from easeml.contract.states import TAUGHT, WorkState
from easeml.errors import Damaged, NotFound
from easeml.ids import new_id
from easeml.lifecycle import questions
from easeml.lifecycle.questions import Answer, Key, Order
from easeml.service.access.caller import Caller
from easeml.service.answers import standing
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Application, Report, Task, WorkItem
from easeml.store.shapes import Shape

KIND = "find-work"  # of the task, and of its report
_AT_HAND = 8  # orders that a process has at hand


@dataclass(frozen=True, slots=True)
class Kept(Shape):
    """The digest of an order, empty where a task could not keep one, and the code that wrote it."""

    order: str = ""
    code: int = 0


@dataclass(frozen=True, slots=True)
class Now:
    """What questions should bring now, by kind, row and column.

    ``is_lost``: there is no order to follow, and another look would keep one.
    """

    gains: Mapping[Key, float]
    is_lost: bool = False

    def of(self, items: Iterable[WorkItem]) -> list[WorkItem]:
        """Return items with what each should bring; those that are not known stay as they are."""
        found = []
        for item in items:
            gain = self.gains.get((item.kind, item.row, item.column), item.information)
            found.append(replace(item, information=gain))
        return found


def keep(tx: Transaction, application: Application, task: Task, digest: str, code: int) -> None:
    """Keep the order that a task found, in place of the one before; empty for none."""
    tables = tx.scoped(application.tenant_id)
    tables.reports.forget(tx.now() + 1.0, kind=KIND, subject=application.id)
    value = Kept(digest, code).to_json()
    tables.reports.add(
        Report(new_id("rep"), task.tenant_id, KIND, application.id, task.subject, value)
    )


def now(store: Store, caller: Caller, application_id: str) -> Now:
    """Return what each question should bring, after all that people answered.

    Nothing is locked while it is reckoned. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        report = tables.reports.newest(kind=KIND, subject=application.id)
    kept = Kept.from_json(report.value) if report else Kept()
    if kept.code != questions.CODE:
        return Now({}, is_lost=True)
    if not kept.order:
        return Now({})
    try:
        path = store.artefacts.path(caller.tenant_id, kept.order)
        order = read_order(path)
    except (NotFound, Damaged, OSError, ValueError, BadZipFile):
        return Now({}, is_lost=True)
    with store.read() as tx:
        answers = _answers(order, tx.scoped(caller.tenant_id), application)
    return Now(gains_after(path, answers))


@lru_cache(maxsize=_AT_HAND)
def read_order(path: Path) -> Order:
    """Return the order of a file, whose name says what is in it."""
    return questions.read(path.read_bytes())


@lru_cache(maxsize=_AT_HAND)
def gains_after(path: Path, answers: tuple[Answer, ...]) -> Mapping[Key, float]:
    """Return what questions bring after answers: the same for all who ask meanwhile."""
    return read_order(path).after(answers).gains()


def _answers(order: Order, tables: Tables, application: Application) -> tuple[Answer, ...]:
    """Return what was answered about the rows of an order; that an answer is old does no harm."""
    given = tables.work_items.list(
        application_id=application.id,
        kind=list(TAUGHT),
        state=(WorkState.ANSWERED, WorkState.USED),
        row=list(order.rows.ids),
        limit=None,
    )
    values = standing.settled(tables, given)
    answers = []
    for item in given:
        if item.id in values:
            answers.append(Answer(item.kind, item.row, item.column, values[item.id]))
    return tuple(answers)

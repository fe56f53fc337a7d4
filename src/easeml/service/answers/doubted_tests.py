"""Test rows that people are asked about: their answer lies far from all others (decision 0176).

Nobody is where a gate was ever set. What it found holds for the answers that these rows had, and
its ledger counts what it told of them.
"""

from easeml.contract.states import WorkKind, WorkState
from easeml.lifecycle.questions import FAR_TEST
from easeml.store import Tables
from easeml.store.records import Application


def may_be_asked(tables: Tables, application: Application) -> bool:
    """Tell whether people may be asked about the test rows of an application."""
    return not tables.gates.count(application_id=application.id)


def leave(tables: Tables, application: Application) -> None:
    """Ask nobody about test rows any more, and drop the answers that no version has yet."""
    waiting = [WorkState.OPEN, WorkState.ANSWERED]
    items = tables.work_items.list(
        application_id=application.id, kind=WorkKind.CHECK_LABEL, state=waiting, limit=None
    )
    of_test = [item.id for item in items if item.question.source == FAR_TEST]
    tables.work_items.set_each("state", dict.fromkeys(of_test, WorkState.CLOSED))

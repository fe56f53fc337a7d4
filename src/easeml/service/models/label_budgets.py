"""The budget of bought labels of an application, as its owner sets and reads it."""

from easeml.contract.label_budgets import LabelBudget, NewLabelBudget
from easeml.contract.states import WorkKind
from easeml.service.access.caller import Caller
from easeml.service.answers import label_budget
from easeml.service.gates import kept
from easeml.service.models import gates
from easeml.store import Store, Transaction
from easeml.store.records import Application
from easeml.store.shapes import LabelLimit


def set_budget(
    store: Store, caller: Caller, application_id: str, wish: NewLabelBudget
) -> LabelBudget:
    """Say how many labels the gate and the comparisons of an application may buy together.

    With more than before, the test of a model that the budget ended goes on. Raises ``NotFound``.
    Repeated, it changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        limit = None if wish.labels is None else LabelLimit(wish.labels, wish.days)
        if limit == application.label_budget:
            return show(tx, application)
        before = label_budget.left(tables, application, WorkKind.TEST_LABEL, tx.now())
        application = tables.applications.update(application.id, label_budget=limit)
        after = label_budget.left(tables, application, WorkKind.TEST_LABEL, tx.now())
        if before is not None and (after is None or after > before):
            gates.go_on_with_labels(tx, application)
        return show(tx, application)


def get_budget(store: Store, caller: Caller, application_id: str) -> LabelBudget:
    """Return how many labels were bought, and are left; raises ``NotFound``."""
    with store.read() as tx:
        application = tx.scoped(caller.tenant_id).applications.get(application_id)
        return show(tx, application)


def show(tx: Transaction, application: Application) -> LabelBudget:
    """Return how the labels of an application stand."""
    tables, now = tx.scoped(application.tenant_id), tx.now()
    by_gate = label_budget.bought(tables, application, WorkKind.TEST_LABEL, now)
    by_comparisons = label_budget.bought(tables, application, WorkKind.PICK_LABEL, now)
    by_watching = label_budget.bought(tables, application, WorkKind.WATCH_LABEL, now)
    asked = label_budget.asked(tables, application)
    found = LabelBudget(
        application_id=application.id,
        days=label_budget.days_of(application),
        bought=by_gate + by_comparisons + by_watching,
        by_gate=by_gate,
        by_comparisons=by_comparisons,
        by_watching=by_watching,
        asked=asked,
    )
    waiting = kept.waiting(kept.active(tables, application.id), application)
    if waiting is not None:
        found.needed = waiting.about
    if application.label_budget is not None:
        found.labels = application.label_budget.labels
        found.left = max(0, found.labels - found.bought - asked)
    return found

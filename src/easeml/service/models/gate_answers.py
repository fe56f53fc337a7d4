"""What the test of a model brought: the ledger after it, and a promotion that is live or refused."""

from easeml.contract.tasks import TaskResult
from easeml.service.models import promotion
from easeml.service.models.gating import Asked
from easeml.service.rollouts import kept as rollouts
from easeml.store import Transaction
from easeml.store.records import Task

PASS = "pass"  # noqa: S105 an answer


def record(tx: Transaction, task: Task, result: TaskResult) -> None:
    """Keep the ledger after a test, and let the model serve if it passed.

    Both happen in the transaction that takes the result, so a step is spent once for each answer
    that anybody can see, whichever process dies. Where another model serves by now, or is rolled
    out, or the gate has been replaced, the step is spent and nothing goes live.
    """
    tables = tx.scoped(task.tenant_id)
    asked = Asked.from_json(task.payload)
    gate = tables.gates.update(asked.gate_id, ledger=result.value["ledger"])
    application = tables.applications.get(task.subject)
    is_outdated = gate.ended or application.live_model_id != asked.old_id or application.pinned
    if is_outdated or rollouts.running(tables, application.id) is not None:
        return
    model = tables.models.get(asked.new_id)
    reason = str(result.value["reason"])
    if result.value["answer"] == PASS:
        promotion.let_serve(tx, application, model, reason)
    else:
        promotion.refuse(tx, application, model, reason)


def could_not_test(tx: Transaction, task: Task) -> None:
    """Keep that a model could not be tested, so that it is not tried for ever."""
    tables = tx.scoped(task.tenant_id)
    asked = Asked.from_json(task.payload)
    application = tables.applications.get(task.subject)
    if application.live_model_id != asked.old_id:
        return
    fault = task.error.strip().rpartition("\n")[2]
    model = tables.models.get(asked.new_id)
    promotion.refuse(tx, application, model, f"It could not be tested, no step is spent: {fault}")

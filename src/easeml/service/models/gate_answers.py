"""What the test of a model brought: the ledger after it, and a promotion: live, refused, waiting."""

from easeml.contract.tasks import TaskResult
from easeml.service.gates import bought_labels, kept
from easeml.service.models import promotion
from easeml.service.models.gating import Asked
from easeml.service.rollouts import kept as rollouts
from easeml.store import Transaction
from easeml.store.records import Application, Gate, Task
from easeml.store.shapes import WaitingTest

PASS = "pass"  # noqa: S105 an answer
_NO_MORE = (
    "Not proven: the labels that might be bought when it was tested may not be bought any more. "
    "The test goes on where it ended as soon as the gate may buy more."
)


def record(tx: Transaction, task: Task, result: TaskResult) -> None:
    """Keep the ledger after a test, and let the model serve if it passed.

    Both happen in the transaction that takes the result, so a step is spent once for each answer
    that anybody can see, whichever process dies. Where another model serves by now, or is rolled
    out, or the gate has been replaced, the step is spent and nothing goes live. What the labelled
    rows cannot tell is asked of people, as far as the gate may buy labels.
    """
    tables = tx.scoped(task.tenant_id)
    asked = Asked.from_json(task.payload)
    application = tables.applications.get(task.subject)
    gate = tables.gates.get(asked.gate_id)
    if asked.reserve:
        _keep_bought(tx, application, gate, asked, result)
        return
    gate = tables.gates.update(gate.id, ledger=result.value["ledger"])
    if _is_outdated(tx, application, gate, asked):
        return
    reserve = kept.reserve_ledger_of(gate)
    is_open = result.value["answer"] == bought_labels.UNKNOWN
    if is_open and reserve is not None and not reserve.is_exhausted:
        model = tables.models.get(asked.new_id)
        bought_labels.request_test(tx, application, gate, model, asked.version_id)
        return
    _decide(tx, application, asked, result)


def _keep_bought(
    tx: Transaction, application: Application, gate: Gate, asked: Asked, result: TaskResult
) -> None:
    """Keep what a test by bought labels brought: an answer, or questions to people.

    Answers that came while it ran are tested at once.
    """
    if _is_outdated(tx, application, gate, asked):
        return
    tables = tx.scoped(application.tenant_id)
    model = tables.models.get(asked.new_id)
    reserve = kept.reserve_of(gate)
    labels = bought_labels.labels(tables, application, reserve)
    unknown = bought_labels.unknown(tables, application, reserve)
    is_outrun = (labels, unknown) != (asked.labels, asked.unknown)
    if result.value["answer"] == bought_labels.UNKNOWN and is_outrun:
        gate = bought_labels.keep_ledger(tables, gate, result)
        bought_labels.request_test(tx, application, gate, model, asked.version_id)
        return
    was_waiting = kept.waiting(gate, application) is not None
    test = WaitingTest(asked.new_id, asked.old_id, asked.version_id)
    gate = bought_labels.take(tx, application, gate, test, result, asked.could_buy)
    if kept.waiting(gate, application) is None:
        _decide(tx, application, asked, result)
    elif not was_waiting:
        promotion.wait(tx, application, model, str(result.value["reason"]))


def _is_outdated(tx: Transaction, application: Application, gate: Gate, asked: Asked) -> bool:
    is_of_another = gate.ended or application.live_model_id != asked.old_id or application.pinned
    tables = tx.scoped(application.tenant_id)
    return is_of_another or rollouts.running(tables, application.id) is not None


def _decide(tx: Transaction, application: Application, asked: Asked, result: TaskResult) -> None:
    """Let a model serve that passed, and refuse it else."""
    model = tx.scoped(application.tenant_id).models.get(asked.new_id)
    reason = str(result.value["reason"])
    if result.value.get("asked"):  # the budget has changed while it was tested
        reason = _NO_MORE
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
    if asked.reserve:
        bought_labels.stop(tx, application)
    fault = task.error.strip().rpartition("\n")[2]
    model = tables.models.get(asked.new_id)
    promotion.refuse(tx, application, model, f"It could not be tested, no step is spent: {fault}")

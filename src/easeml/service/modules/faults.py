"""Faults of modules: told to those who can archive or mend one.

They are the providers; of a private module, the tenant whose it is.
"""

from easeml.contract.states import Role, TaskGroup, TaskState
from easeml.modules import Module
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.store import Transaction
from easeml.store.records import Candidate, Event, Json, Task

EVENT = "module.fault"
_SILENCE = 24 * 3600.0  # seconds between two notices of the same module
_LONGEST = 500  # characters
_PATIENCE = 3  # faulty runs, and none that went well, after which a module is archived
_OF_TRANSFORMS = ("fit ", "transform ")  # how the faults of their programs begin


def tell(tx: Transaction, module: str, fault: str) -> None:
    """Tell how a module does wrong, once a day for each module.

    ``fault``: a sentence with numbers; it names nothing of the tenant whose data shows it.
    """
    listeners = _listeners(tx, module)
    if not listeners:
        return
    last = _newest(tx, listeners[0]).get(module)  # all of them hear of the same
    if last is None or tx.now() - last.created >= _SILENCE:
        _tell_now(tx, listeners, module, fault)


def of_training(tx: Transaction, task: Task) -> None:
    """Tell of a training task that failed because programs that were added did wrong.

    Where they did so in each of the first three runs, the module is archived, and no search tries it
    any more, until somebody restores it.
    """
    fault = _fault_of(task.result)
    if not fault:
        return
    candidate = tx.scoped(task.tenant_id).candidates.get(task.candidate_id)
    module = _blamed(tx, candidate, fault)
    if not module.is_programs:
        return
    if _fails_always(tx, module):
        _archive(tx, module.name, fault)
    else:
        tell(tx, module.name, fault)


def _fault_of(result: Json) -> str:
    """Return what the result of a task says that programs did wrong; empty: nothing."""
    return str(result.get("fault") or "")


def _archive(tx: Transaction, module: str, fault: str) -> None:
    """Put a module away that was added and did wrong, and say so, once."""
    mark = tx.module_marks.find(id=module)
    if mark is None or mark.archived:
        return
    tx.module_marks.update(module, archived=True, error=fault)
    tx.events.append("module.archived", module, {"error": fault}, mark.tenant_id)
    often = f"Its first {_PATIENCE} runs failed, so it is archived."
    _tell_now(tx, _listeners(tx, module), module, f"{fault} {often}")


def _blamed(tx: Transaction, candidate: Candidate, fault: str) -> Module:
    """Return the module that did wrong: the model, or the transform before it."""
    name = candidate.model
    _, plus, transform = candidate.variant.partition("+")
    if plus and fault.startswith(_OF_TRANSFORMS):
        name = transform
    return knowledge_base.current(tx).get(name)


def _fails_always(tx: Transaction, module: Module) -> bool:
    """Whether programs did wrong in each of their first runs, of all tenants."""
    used = _candidates_with(tx, module)
    tasks = tx.unscoped().tasks.pick("state", "result", candidate_id=used, kind=TaskGroup.TRAIN)
    if any(state == TaskState.DONE for state, _ in tasks):
        return False
    faulty = [result for _, result in tasks if _fault_of(result)]
    return len(faulty) >= _PATIENCE


def _candidates_with(tx: Transaction, module: Module) -> list[str]:
    """Return the candidates of all tenants that are a model, or have a transform before theirs."""
    candidates = tx.unscoped().candidates
    if module.kind == "model":
        return candidates.column("id", model=module.name)
    behind = f"+{module.name}-"
    return [id for id, name in candidates.pick("id", "name") if behind in name]


def _listeners(tx: Transaction, module: str) -> list[str]:
    """Return the tenants of those who are told: of a private module, the one whose it is."""
    private = knowledge_base.current(tx).private
    if module in private:
        return [private[module]]
    tenant_ids = tx.users.column("tenant_id", role=Role.PROVIDER, archived=False)
    return list(dict.fromkeys(tenant_ids))


def _tell_now(tx: Transaction, tenant_ids: list[str], module: str, fault: str) -> None:
    data = {"module": module, "error": fault[:_LONGEST]}
    for tenant_id in tenant_ids:
        tx.events.append(EVENT, module, data, tenant_id)


def known(tx: Transaction, caller: Caller) -> dict[str, str]:
    """Return the newest fault of each module of which the caller was told one."""
    found = _newest(tx, caller.tenant_id)
    return {module: event.data["error"] for module, event in found.items()}


def _newest(tx: Transaction, tenant_id: str) -> dict[str, Event]:
    events = tx.events.newest(tenant_id, [EVENT], limit=500)
    return {event.subject: event for event in reversed(events)}

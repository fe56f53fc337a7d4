"""Faults of modules: told to those who can archive or mend one.

They are the providers; of a private module, the tenant whose it is.
"""

from easeml.contract.states import Role, TaskGroup, TaskState
from easeml.modules import Module
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.store import Transaction
from easeml.store.records import Candidate, Event, Task

EVENT = "module.fault"
_SILENCE = 24 * 3600.0  # seconds between two notices of the same module
_LONGEST = 500  # characters
_PATIENCE = 3  # faulty runs, and none that went well, after which a module is archived
_OF_TRANSFORMS = ("fit ", "transform ")  # how the faults of their programs begin


def tell(tx: Transaction, module: str, fault: str) -> None:
    """Tell how a module does wrong, once a day for each module.

    ``fault``: a sentence with numbers; it names nothing of the tenant whose data shows it.
    """
    for tenant_id in _listeners(tx, module)[:1]:
        last = _newest(tx, tenant_id).get(module)
        if last is not None and tx.now() - last.created < _SILENCE:
            return
    _tell_now(tx, module, fault)


def of_training(tx: Transaction, task: Task) -> None:
    """Tell of a training task that failed because programs that were added did wrong.

    Where they did so in each of the first three runs, the module is archived, and no search tries it
    any more, until somebody restores it.
    """
    fault = str((task.result or {}).get("fault") or "")
    if not fault:
        return
    candidate = tx.scoped(task.tenant_id).candidates.get(task.candidate_id)
    module = _blamed(tx, candidate, fault)
    if module is None:
        return
    if not _fails_always(tx, module):
        tell(tx, module.name, fault)
        return
    mark = tx.module_marks.find(id=module.name)
    if mark is not None and not mark.archived:
        tx.module_marks.update(module.name, archived=True, error=fault)
        tx.events.append("module.archived", module.name, {"error": fault}, mark.tenant_id)
        often = f"Its first {_PATIENCE} runs failed, so it is archived."
        _tell_now(tx, module.name, f"{fault} {often}")


def _blamed(tx: Transaction, candidate: Candidate, fault: str) -> Module | None:
    """Return the programs that did wrong: the model's, or of the transform before it."""
    name = candidate.model
    _, plus, transform = candidate.variant.partition("+")
    if plus and fault.startswith(_OF_TRANSFORMS):
        name = transform
    module = knowledge_base.current(tx).get(name)
    return module if module.is_programs else None


def _fails_always(tx: Transaction, module: Module) -> bool:
    """Whether programs did wrong in each of their first runs, of all tenants."""
    tables = tx.unscoped()
    if module.kind == "model":
        used = tables.candidates.column("id", model=module.name)
    else:
        behind = f"+{module.name}-"
        used = [id for id, name in tables.candidates.pick("id", "name") if behind in name]
    ended = tables.tasks.pick("state", "result", candidate_id=used, kind=TaskGroup.TRAIN)
    went_well = [result for state, result in ended if state == TaskState.DONE]
    faulty = [result for _, result in ended if (result or {}).get("fault")]
    return not went_well and len(faulty) >= _PATIENCE


def _listeners(tx: Transaction, module: str) -> list[str]:
    """Return the tenants of those who are told: of a private module, the one whose it is."""
    owner = knowledge_base.current(tx).private.get(module)
    if owner is not None:
        return [owner]
    providers = tx.users.list(role=Role.PROVIDER, archived=False, limit=None)
    return list(dict.fromkeys(user.tenant_id for user in providers))


def _tell_now(tx: Transaction, module: str, fault: str) -> None:
    data = {"module": module, "error": fault[:_LONGEST]}
    for tenant_id in _listeners(tx, module):
        tx.events.append(EVENT, module, data, tenant_id)


def known(tx: Transaction, caller: Caller) -> dict[str, str]:
    """Return the newest fault of each module of which the caller was told one."""
    found = _newest(tx, caller.tenant_id)
    return {module: event.data["error"] for module, event in found.items()}


def _newest(tx: Transaction, tenant_id: str) -> dict[str, Event]:
    events = tx.events.newest(tenant_id, [EVENT], limit=500)
    return {event.subject: event for event in reversed(events)}

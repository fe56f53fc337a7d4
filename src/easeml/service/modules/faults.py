"""Faults of models: told to those who run this easeml, who can archive or mend a module."""

from easeml.contract.states import Role
from easeml.service.access.caller import Caller
from easeml.service.events.telling import tell_providers
from easeml.store import Transaction
from easeml.store.records import Event

EVENT = "module.fault"
_SILENCE = 24 * 3600.0  # seconds between two notices of the same module
_LONGEST = 500  # characters


def tell(tx: Transaction, module: str, fault: str) -> None:
    """Tell the providers how a model is worse than no model, once a day for each module.

    ``fault``: a sentence with numbers; it names nothing of the tenant whose data shows it.
    """
    for user in tx.users.list(role=Role.PROVIDER, archived=False, limit=1):
        last = _newest(tx, user.tenant_id).get(module)
        if last is not None and tx.now() - last.created < _SILENCE:
            return
    tell_providers(tx, EVENT, module, {"module": module, "error": fault[:_LONGEST]})


def known(tx: Transaction, caller: Caller) -> dict[str, str]:
    """Return the newest fault of each module that has one; only a provider is told of any."""
    if not caller.is_provider:
        return {}
    found = _newest(tx, caller.tenant_id)
    return {module: event.data["error"] for module, event in found.items()}


def _newest(tx: Transaction, tenant_id: str) -> dict[str, Event]:
    events = tx.events.newest(tenant_id, [EVENT], limit=500)
    return {event.subject: event for event in reversed(events)}

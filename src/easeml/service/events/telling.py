"""Telling those who run this easeml."""

from typing import Any

from easeml.contract.states import Role
from easeml.store import Transaction


def tell_providers(tx: Transaction, kind: str, subject: str, data: dict[str, Any]) -> None:
    """Append an event for each provider, in the tenant of their own."""
    providers = tx.users.list(role=Role.PROVIDER, archived=False, limit=None)
    for tenant_id in dict.fromkeys(user.tenant_id for user in providers):
        tx.events.append(kind, subject, data, tenant_id)

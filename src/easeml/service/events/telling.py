"""Telling those who run this easeml."""

from typing import Any

from easeml.contract.states import Role
from easeml.store import Transaction


def tell_providers(tx: Transaction, kind: str, subject: str, data: dict[str, Any]) -> None:
    """Append an event for each provider, in the tenant of their own."""
    tenant_ids = tx.users.column("tenant_id", role=Role.PROVIDER, archived=False)
    for tenant_id in dict.fromkeys(tenant_ids):
        tx.events.append(kind, subject, data, tenant_id)

"""References that keep stored bytes alive."""

from easeml.store import Transaction
from easeml.store.records import Artefact


def keep(tx: Transaction, tenant_id: str, digest: str, size: int) -> None:
    """Refer to stored bytes (``size`` of them) of a tenant; the same bytes twice are one reference.

    It is held until ``tx`` ends: who looks for references that nobody needs waits for what is named.
    """
    reference = Artefact(id_of(tenant_id, digest), tenant_id, digest, size)
    tx.scoped(tenant_id).artefacts.ensure(reference)


def id_of(tenant_id: str, digest: str) -> str:
    """Return the id of a tenant's reference to bytes."""
    return f"{tenant_id}:{digest}"

"""References that keep stored bytes alive."""

from easeml.store import Transaction
from easeml.store.records import Artefact


def keep(tx: Transaction, tenant_id: str, digest: str, size: int) -> None:
    """Refer to stored bytes (``size`` of them) of a tenant; the same bytes twice are one reference."""
    rows = tx.scoped(tenant_id).artefacts
    record_id = f"{tenant_id}:{digest}"
    if rows.find(id=record_id) is None:
        rows.add(Artefact(record_id, tenant_id, digest, size))

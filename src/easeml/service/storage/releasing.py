"""Giving back the space of what no row of the database names any more.

Rows go first, bytes after them: whoever is killed in between leaves strays, which the next look
finds. Nothing is removed that was stored less than a day ago: it may be referred to soon.
"""

from collections.abc import Sequence

from easeml.store import Store
from easeml.store.files import StoredFile

GRACE_SECONDS = 24 * 3600.0
_AT_ONCE = 500  # references that one transaction looks at


def release(store: Store) -> int:
    """Remove the references to bytes that nothing else names; return how many.

    A reference is held before it is looked whether something names its bytes, so that whoever
    refers to the same bytes meanwhile waits, and refers to them anew.
    """
    with store.read() as tx:
        named = tx.mentioned_digests(but="artefacts")
        before = tx.now() - GRACE_SECONDS
        found = tx.unscoped().artefacts.pick("id", "digest", "created")
    due = [id for id, digest, created in found if digest not in named and created <= before]
    removed = 0
    for start in range(0, len(due), _AT_ONCE):
        with store.write() as tx:
            references = tx.unscoped().artefacts
            held = references.hold_all(due[start : start + _AT_ONCE])
            named = tx.mentioned_digests(but="artefacts")
            unneeded = [id for id in held if id.rpartition(":")[2] not in named]
            removed += references.forget(tx.now() + 1.0, id=unneeded)
    return removed


def strays(store: Store, but: str = "") -> list[StoredFile]:
    """Return the stored files that no row names, older than a day.

    ``but``: a table that does not count. Files of tenants that the database does not know are no
    strays (decision 0141).
    """
    # First the files: what is stored after this look, and referred to before the next, is not in it.
    aged = store.artefacts.aged(GRACE_SECONDS)
    found = store.artefacts.strays(aged, store.mentioned_digests(but))
    known = _known_tenants(store)
    return [file for file in found if file.tenant_id in known]


def of_strangers(store: Store) -> list[StoredFile]:
    """Return the stored files of tenants that the database does not know.

    Tenants are never removed, so these files belong to another database, or to a later state of
    this one.
    """
    kept = store.artefacts.aged(0.0)
    known = _known_tenants(store)
    return [file for file in kept if file.tenant_id not in known]


def _known_tenants(store: Store) -> set[str]:
    with store.read() as tx:
        return set(tx.tenants.column("id"))


def remove(store: Store, files: Sequence[StoredFile]) -> tuple[int, int]:
    """Remove strays; return how many, and their bytes."""
    count = size = 0
    for file in files:
        if store.artefacts.remove(file, GRACE_SECONDS):
            count += 1
            size += file.size
    return count, size

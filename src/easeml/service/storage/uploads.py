"""Bytes that users send: with one request, or in pieces that survive a lost connection.

Only a whole file becomes anything; what is unfinished belongs to nothing, counts against the
tenant's storage, and is given up after a day without a new byte.
"""

from collections.abc import Iterable

from easeml.errors import TooLarge, TooMany
from easeml.service.access.caller import Caller
from easeml.service.limits import quotas, used
from easeml.service.storage import artefact_references
from easeml.store import Store, Transaction, Upload

Source = Iterable[bytes] | str  # a file's bytes as they come, or the id of an upload that is whole
_MOST_OPEN = 20  # of a tenant for which no provider says how many
_SOON = 60.0  # seconds after which one that is under way may have ended


def begin(store: Store, caller: Caller, length: int, limit: int) -> Upload:
    """Announce an upload of ``length`` bytes.

    Raises ``TooLarge`` beyond ``limit``, ``TooMany`` where others have to end first, and
    ``OverStorage``.
    """
    if length > limit:
        raise TooLarge(
            f"The file has {length:,} bytes; {limit:,} are allowed.",
            remedy="Ask for a higher limit.",
        )
    with store.uploads.one_at_a_time(caller.tenant_id):
        open_ones = store.uploads.open_ones(caller.tenant_id)
        with store.read() as tx:
            left = quotas.storage_left(tx, caller.tenant_id)
            wanted = tx.tenants.get(caller.tenant_id).limits.uploads
        most = _MOST_OPEN if wanted is None else wanted
        if len(open_ones) >= most:
            text = f"Your limit of {used.counted(most, 'unfinished upload')} is reached."
            remedy = f"Finish some or call them off. {quotas.ASK}"
            raise TooMany(text, where="uploads", remedy=remedy, seconds=_SOON)
        reserved = sum(one.length for one in open_ones)
        if left is not None and length > left - reserved:
            raise quotas.too_long(max(0, left - reserved))
        return store.uploads.begin(caller.tenant_id, length)


def get(store: Store, caller: Caller, upload_id: str) -> Upload:
    """Return how far an upload is; raises ``NotFound``."""
    return store.uploads.get(caller.tenant_id, upload_id)


def append(
    store: Store, caller: Caller, upload_id: str, offset: int, chunks: Iterable[bytes]
) -> Upload:
    """Add the bytes that begin at ``offset``; what came before the sender went away is kept.

    Raises ``NotFound``, ``Conflict`` where the upload is elsewhere, ``InvalidInput`` for too many
    bytes.
    """
    store.uploads.append(caller.tenant_id, upload_id, offset, chunks)
    return store.uploads.get(caller.tenant_id, upload_id)


def cancel(store: Store, caller: Caller, upload_id: str) -> None:
    """Forget an upload; raises ``NotFound``."""
    store.uploads.remove(caller.tenant_id, upload_id)


def keep(store: Store, caller: Caller, source: Source, limit: int) -> tuple[str, int]:
    """Store the bytes of a file among the artefacts; return digest and size.

    Raises ``TooLarge`` beyond ``limit``, ``OverStorage`` beyond what the tenant may store; of an
    upload ``NotFound``, and ``Conflict`` while bytes are missing.
    """
    if isinstance(source, str):
        return store.uploads.take(caller.tenant_id, source, store.artefacts)
    with store.read() as tx:
        left = quotas.storage_left(tx, caller.tenant_id)
    if left is None or left >= limit:
        return store.artefacts.put_stream(caller.tenant_id, source, limit)
    try:
        return store.artefacts.put_stream(caller.tenant_id, source, left)
    except TooLarge as error:
        raise quotas.too_long(left) from error


def refer(tx: Transaction, tenant_id: str, digest: str, size: int) -> None:
    """Refer to bytes that ``keep`` stored; of several at once each sees the ones before it.

    Raises ``OverStorage`` where they are more than the tenant may store; those of an unfinished
    upload were counted when it began.
    """
    if tx.scoped(tenant_id).artefacts.find(id=artefact_references.id_of(tenant_id, digest)):
        return
    quotas.check_room(tx, tenant_id, size)
    artefact_references.keep(tx, tenant_id, digest, size)

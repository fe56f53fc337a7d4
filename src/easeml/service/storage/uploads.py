"""Bytes that users send: with one request, or in pieces that survive a lost connection.

Only a whole file becomes anything; what is unfinished belongs to nothing, counts against the
tenant's storage, and is given up after a day without a new byte.
"""

from collections.abc import Iterable

from easeml.errors import OverQuota, TooLarge
from easeml.service.access.caller import Caller
from easeml.service.limits import quotas
from easeml.store import Store, Upload

Source = Iterable[bytes] | str  # a file's bytes as they come, or the id of an upload that is whole
_MOST_OPEN = 20


def begin(store: Store, caller: Caller, length: int, limit: int) -> Upload:
    """Announce an upload of ``length`` bytes.

    Raises ``TooLarge`` beyond ``limit``, ``OverQuota``.
    """
    if length > limit:
        raise TooLarge(
            f"The file has {length:,} bytes; {limit:,} are allowed.",
            remedy="Ask for a higher limit.",
        )
    open_ones = store.uploads.open_ones(caller.tenant_id)
    if len(open_ones) >= _MOST_OPEN:
        raise OverQuota(
            f"{_MOST_OPEN} uploads are unfinished.", remedy="Finish them or call them off."
        )
    left = _storage_left(store, caller)
    if left is not None and length > left - sum(one.length for one in open_ones):
        raise _over_storage(max(0, left - sum(one.length for one in open_ones)))
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

    Raises ``TooLarge`` beyond ``limit``, ``OverQuota`` beyond what the tenant may store; of an
    upload ``NotFound``, and ``Conflict`` while bytes are missing.
    """
    if isinstance(source, str):
        return store.uploads.take(caller.tenant_id, source, store.artefacts)
    left = _storage_left(store, caller)
    if left is None or left >= limit:
        return store.artefacts.put_stream(caller.tenant_id, source, limit)
    try:
        return store.artefacts.put_stream(caller.tenant_id, source, left)
    except TooLarge as error:
        raise _over_storage(left) from error


def _storage_left(store: Store, caller: Caller) -> int | None:
    with store.read() as tx:
        return quotas.storage_left(tx, caller.tenant_id)


def _over_storage(left: int) -> OverQuota:
    text = f"The file has more than the {left:,} bytes that you may still store."
    return OverQuota(text, where="storage", remedy="Ask the one who runs this easeml for more.")

"""What an attempt printed."""

import os
import stat
from pathlib import Path

from easeml.contract.evaluation import AttemptLog
from easeml.contract.states import AttemptState
from easeml.errors import NotFound
from easeml.service.access.caller import Caller
from easeml.store import Store
from easeml.store.records import Attempt

LARGEST_LOG = 200_000  # bytes that are kept of what an attempt printed, and given at once


def log(
    store: Store,
    work: Path,
    caller: Caller,
    task_id: str,
    *,
    attempt: int | None = None,
    offset: int = 0,
) -> AttemptLog:
    """Return what an attempt printed from byte ``offset`` on, also while it runs.

    ``attempt`` None: the newest.

    ``work``: the folder with the work folders of the workers. Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        task = tables.tasks.get(task_id)
        number = task.attempts if attempt is None else attempt
        found = tables.attempts.find(task_id=task.id, number=number)
    if found is None:
        raise NotFound("There is no such attempt.", where=task_id)
    return read(store, work, found, offset)


def read(store: Store, work: Path, found: Attempt, offset: int = 0) -> AttemptLog:
    """Return what an attempt printed from byte ``offset`` on, and whether more will come."""
    content = printed(store, work, found, offset)
    return AttemptLog(
        attempt=found.number,
        text=content.decode(errors="replace"),
        offset=offset,
        next=offset + len(content),
        ended=found.state != AttemptState.RUNNING,
    )


def printed(store: Store, work: Path, attempt: Attempt, offset: int = 0) -> bytes:
    """Return what an attempt printed from byte ``offset`` on, as far as it is here."""
    if attempt.state == AttemptState.RUNNING:
        return read_plain(work / attempt.process_id / attempt.id / "log.txt", offset, LARGEST_LOG)
    return read_kept(store, attempt.tenant_id, attempt.log, offset, LARGEST_LOG)


def read_kept(store: Store, tenant_id: str, digest: str, offset: int, most: int) -> bytes:
    """Return bytes of a stored file, nothing where there is none, or it is not here."""
    path = store.artefacts.path(tenant_id, digest) if digest else None
    if path is None:
        return b""
    return read_plain(path, offset, most)


def read_plain(path: Path, offset: int, most: int) -> bytes:
    """Return bytes of a regular file, nothing where there is none.

    What a body left may be anything, such as a link.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return os.pread(descriptor, most, offset)
    finally:
        os.close(descriptor)

"""What the disk and the database say when they cannot keep bytes any more, in easeml's words."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from easeml.errors import Damaged, EasemlError, StorageFull

_FULL_DISK = (errno.ENOSPC, errno.EDQUOT)
_FULL_DATABASE = ("database or disk is full", "no space left on device", "could not extend file")
_BROKEN_DATABASE = ("malformed", "is not a database", "disk i/o error", "invalid page")


@contextmanager
def storage_faults() -> Iterator[None]:
    """Turn a full disk into ``StorageFull`` and a broken database into ``Damaged``."""
    try:
        yield
    except exc.DatabaseError as error:
        fault = fault_of_database(error)
        if fault is None:
            raise
        raise fault from error
    except OSError as error:
        if error.errno not in _FULL_DISK:
            raise
        raise disk_is_full() from error


def fault_of_database(error: exc.DatabaseError) -> EasemlError | None:
    """Return what an error of the database means for people; ``None`` if it is no storage fault."""
    reason = str(error.orig).lower()
    if any(words in reason for words in _FULL_DATABASE):
        return disk_is_full()
    if any(words in reason for words in _BROKEN_DATABASE):
        return database_is_broken()
    return None


def disk_is_full() -> StorageFull:
    """Return the error of a disk without space."""
    return StorageFull(remedy="The provider has to free space on easeml's disk; then try again.")


def database_is_broken() -> Damaged:
    """Return the error of a database file that is damaged."""
    return Damaged(
        "The database is damaged.",
        remedy="The provider has to stop easeml, and restore the newest backup of its home.",
    )

"""What the disk and the database say when they cannot keep bytes any more, in easeml's words."""

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import exc

from easeml.errors import Damaged, DatabaseAway, EasemlError, InvalidInput, StorageFull

_FULL_DATABASE = ("database or disk is full", "no space left on device", "could not extend file")
_BUSY_FILE = ("database is locked", "database table is locked", "unable to open database file")
_NOT_KEPT = (
    *("int too large to convert", "out of range"),
    *("surrogates not allowed", "cannot contain nul", "unsupported unicode escape"),
)
READ_ONLY = "attempt to write a readonly database"
DISK_FAILED = "disk i/o error"
"""What SQLite says; also where it writes to a disk that became read-only."""
_BROKEN_DATABASE = ("malformed", "is not a database", DISK_FAILED, "invalid page")


@contextmanager
def storage_faults() -> Iterator[None]:
    """Turn what disk and database say into easeml's errors.

    A full disk becomes ``StorageFull``, a broken database ``Damaged``. ``DatabaseAway``: it cannot
    be reached, is locked for too long, or its disk is read-only. ``InvalidInput``: a number has more
    than 64 bits, or a text is none.
    """
    try:
        yield
    except exc.DatabaseError as error:
        fault = fault_of_database(error)
        if fault is None:
            raise
        raise fault from error
    except exc.TimeoutError as error:  # all connections of this process are in use
        raise database_is_away() from error
    except (OverflowError, UnicodeEncodeError) as error:  # the driver; PostgreSQL says it itself
        if not _has(str(error).lower(), _NOT_KEPT):
            raise
        raise _value_is_not_kept() from error
    except OSError as error:
        if error.errno not in _OF_DISK:
            raise
        raise _OF_DISK[error.errno]() from error


def fault_of_database(error: exc.DatabaseError) -> EasemlError | None:
    """Return what an error of the database means for people; ``None`` if it is no storage fault."""
    reason = str(error.orig).lower()
    if _has(reason, _FULL_DATABASE):
        return disk_is_full()
    if error.connection_invalidated and _has(reason, (READ_ONLY, DISK_FAILED)):
        return disk_is_read_only()
    if _has(reason, _BROKEN_DATABASE):
        return database_is_broken()
    if isinstance(error, exc.DataError) and _has(reason, _NOT_KEPT):
        return _value_is_not_kept()
    if _is_away(error, reason):
        return database_is_away()
    return None


def _is_away(error: exc.DatabaseError, reason: str) -> bool:
    """Tell whether the same statement may succeed later.

    PostgreSQL's driver has this kind for what is no fault of the statement: the connection, the
    server's resources, its operator, locks. SQLite's has it for nearly everything.
    """
    if error.connection_invalidated:
        return True
    if type(error.orig).__module__.startswith("psycopg"):
        return isinstance(error, exc.OperationalError)
    return _has(reason, _BUSY_FILE)


def _has(reason: str, phrases: Sequence[str]) -> bool:
    return any(words in reason for words in phrases)


def _value_is_not_kept() -> InvalidInput:
    return InvalidInput(
        "A number is too large, or a text has a character that cannot be kept.",
        remedy="Take numbers of at most 64 bits, and texts without U+0 and U+D800 to U+DFFF.",
    )


def disk_is_full() -> StorageFull:
    """Return the error of a disk without space."""
    return StorageFull(remedy="The provider has to free space on easeml's disk; then try again.")


def disk_is_read_only() -> DatabaseAway:
    """Return the error of a disk that can be read but not be written."""
    return DatabaseAway(
        "The disk of easeml cannot be written: it is read-only.",
        remedy="The provider has to mount it for writing again: it may have failed, as the "
        "kernel's log says (dmesg).",
    )


def database_is_away() -> DatabaseAway:
    """Return the error of a database that does not answer now."""
    return DatabaseAway(
        "The database does not answer.",
        remedy="Try again in a few seconds. If it stays so, the provider has to look at it.",
    )


def database_is_broken() -> Damaged:
    """Return the error of a database file that is damaged."""
    return Damaged(
        "The database is damaged.",
        remedy="The provider has to stop easeml, and restore the newest backup of its home.",
    )


_OF_DISK = {
    errno.ENOSPC: disk_is_full,
    errno.EDQUOT: disk_is_full,
    errno.EROFS: disk_is_read_only,
}

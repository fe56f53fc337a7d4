"""The SQLite library that easeml keeps its database with.

SQLite 3.7.0 to 3.51.2 can lose a committed transaction in WAL mode: while one connection runs a
checkpoint, another may reset the WAL, and the checkpoint then counts pages as copied that it never
saw (the "WAL-reset bug", https://sqlite.org/wal.html#walresetbug; fixed in 3.51.3, 3.50.7 and
3.44.6). Interpreters carry whatever their distribution has, so easeml brings a library of its own.

All connections of a process must use the same library. Two copies of SQLite in one process drop
each other's file locks (https://sqlite.org/howtocorrupt.html, section 2.2.1).
"""

from typing import Any

from easeml.errors import Unreachable
from easeml.sqlite import driver

__all__ = ["check_library", "driver", "library_version"]

_FIRST_FIXED = (3, 51, 3)
_FIXED_BRANCHES = ((3, 50, 7), (3, 44, 6))  # in a branch, later patches have the fix as well


def library_version() -> str:
    """Return the version of the SQLite library in use, like ``3.53.4``."""
    return driver.sqlite_version


def has_wal_reset_fix(version: tuple[int, ...]) -> bool:
    """Tell whether a version of SQLite, like ``(3, 53, 4)``, has the fix of the WAL-reset bug."""
    if version >= _FIRST_FIXED:
        return True
    for fixed in _FIXED_BRANCHES:
        same_branch = version[:2] == fixed[:2]
        if same_branch and version >= fixed:
            return True
    return False


def check_library(library: Any = driver) -> None:
    """Raise ``Unreachable`` if this SQLite library can lose what was committed."""
    if has_wal_reset_fix(library.sqlite_version_info):
        return
    raise Unreachable(
        f"SQLite {library.sqlite_version} can lose a committed transaction "
        "(the WAL-reset bug, fixed in 3.51.3), so easeml does not use it.",
        remedy="Install the library that easeml brings: pip install 'pysqlite3>=0.6.1'. "
        "Or use PostgreSQL: EASEML_DATABASE_URL=postgresql://HOST/NAME.",
    )

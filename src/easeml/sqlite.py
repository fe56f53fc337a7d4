"""The SQLite library of this process, for whoever needs one (``store.sqlite`` says which, and why)."""

from typing import Any

try:
    from pysqlite3 import dbapi2 as _library
except ImportError:  # no wheel for this platform, and nothing to compile it with
    import sqlite3 as _library

driver: Any = _library
"""The DB-API module of the library (PEP 249); ``sqlite3`` of the standard library is another."""

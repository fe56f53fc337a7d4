"""The pages of SQLite that a process keeps in memory are bounded, however many connections it has."""

import ctypes
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from easeml.store.database import CACHE_BYTES, CACHES_BYTES, connect
from easeml.store.sqlite import driver

_SLACK = 4 * 2**20  # what SQLite has beside pages


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    """A database that is larger than the cache of one connection."""
    engine = connect(f"sqlite:///{tmp_path / 'large.db'}")
    pages = 5 * CACHE_BYTES // 4 // 4096
    with engine.execution_options(writes=True).begin() as connection:
        connection.exec_driver_sql("CREATE TABLE large (bytes BLOB)")
        connection.exec_driver_sql(
            "INSERT INTO large WITH RECURSIVE counted(place) AS "
            f"(SELECT 1 UNION ALL SELECT place + 1 FROM counted WHERE place < {pages}) "
            "SELECT zeroblob(3000) FROM counted"
        )
    return engine


def memory_of_sqlite() -> int:
    library = ctypes.CDLL(sys.modules[driver.adapt.__module__].__file__ or "")
    library.sqlite3_memory_used.restype = ctypes.c_int64
    return library.sqlite3_memory_used()


def test_caches_of_all_connections_together_are_bounded(engine: sa.Engine) -> None:
    with ExitStack() as stack:
        for _ in range(8):
            connection = stack.enter_context(engine.connect())
            connection.exec_driver_sql("SELECT max(bytes) FROM large").all()
        used = memory_of_sqlite()
    assert 2 * CACHE_BYTES < used < CACHES_BYTES + _SLACK
    engine.dispose()


def test_work_that_comes_one_after_the_other_fills_one_cache(engine: sa.Engine) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(engine.connect())
    used = set()
    for _ in range(8):
        with engine.connect() as connection:
            used.add(id(connection.connection.driver_connection))
    assert len(used) == 1
    engine.dispose()

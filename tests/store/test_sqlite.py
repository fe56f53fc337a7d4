"""The SQLite library: one that cannot lose what was committed, and the same for all connections."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from easeml.errors import Unreachable
from easeml.store.sqlite import check_library, driver, has_wal_reset_fix

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 3), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 53, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_versions_with_the_fix_are_known(version: tuple[int, ...], fixed: bool):
    assert has_wal_reset_fix(version) == fixed


def test_a_library_that_can_lose_a_commit_is_refused():
    old = SimpleNamespace(sqlite_version="3.40.1", sqlite_version_info=(3, 40, 1))
    with pytest.raises(Unreachable, match=r"SQLite 3\.40\.1 can lose") as caught:
        check_library(old)
    assert "pysqlite3" in caught.value.remedy


def test_the_library_in_use_has_the_fix():
    assert has_wal_reset_fix(driver.sqlite_version_info)
    check_library()


def test_every_connection_of_the_store_uses_the_same_library():
    program = "import easeml.store, easeml.engine.worker, sys; print('_sqlite3' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"


def test_nothing_acknowledged_is_lost_under_checkpoints_and_kills():
    script = ROOT / "benchmarks" / "database_stress.py"
    run = subprocess.run(
        [sys.executable, str(script), "--short"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "ok" in run.stdout

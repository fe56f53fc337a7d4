"""What the engine's tests share: a warm executor that runs the test bodies, and a store with a
tenant.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
)
# Known to every fork server of these tests, whichever test starts it: attacks look for it.
os.environ["TEST_DATABASE_PASSWORD"] = "secret"

import bodies_for_tests
from warm_bodies import WARM

from easeml.contract.tasks import Limits
from easeml.engine.executors import LocalExecutor
from easeml.store import Store


@pytest.fixture(scope="session")
def executor() -> Iterator[LocalExecutor]:
    """A warm executor for the bodies of ``bodies_for_tests``."""
    made = LocalExecutor(
        Limits(seconds=60, memory=2**30, threads=1), bodies_for_tests.run, preload=WARM
    )
    yield made
    made.close()


@pytest.fixture
def store(tmp_path: Path, fresh_database: Path) -> Iterator[Store]:
    """An empty store on SQLite."""
    shutil.copy(fresh_database, tmp_path / "easeml.db")
    opened = Store.open(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path / "artefacts")
    yield opened
    opened.close()

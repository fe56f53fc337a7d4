"""A real worker process that runs the bodies of ``bodies_for_tests``: ``python worker_for_tests.py
HOME``.
"""

import sys
from pathlib import Path

import bodies_for_tests

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits
from easeml.engine import worker
from easeml.engine.executors import LocalExecutor
from easeml.settings import Settings


def _executor(limits: Limits, *, isolation: Isolation) -> LocalExecutor:
    return LocalExecutor(limits, bodies_for_tests.run, preload=(), isolation=isolation)


if __name__ == "__main__":
    worker.executor_named = lambda name: _executor
    worker.run_worker(
        Settings(home=Path(sys.argv[1]), workers=1, lease_seconds=2.0, task_memory=2**28)
    )

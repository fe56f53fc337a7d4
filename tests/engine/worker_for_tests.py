"""A real worker process that runs the bodies of ``bodies_for_tests``: ``python worker_for_tests.py
HOME [EXECUTOR]``.
"""

import sys
from pathlib import Path

import bodies_for_tests
from warm_bodies import WARM

from easeml.confinement import Isolation
from easeml.contract.tasks import Limits
from easeml.engine import worker
from easeml.engine.executors import Executor, executor_named, slurm
from easeml.settings import Settings

HOME, NAME = [*sys.argv[1:], "local"][:2]


def _executor(limits: Limits, *, isolation: Isolation) -> Executor:
    open_executor = executor_named(NAME)
    return open_executor(limits, run=bodies_for_tests.run, preload=WARM, isolation=isolation)


if __name__ == "__main__":
    slurm.SILENT_SECONDS = 5.0
    worker.executor_named = lambda name: _executor
    worker.run_worker(Settings(home=Path(HOME), workers=1, lease_seconds=2.0, task_memory=2**28))

"""Executors: how a task body is run, limited, watched and ended."""

from .base import Execution, Executor, Outcome
from .local import LocalExecutor
from .named import OpenExecutor, check_executor, executor_named

__all__ = [
    "Execution",
    "Executor",
    "LocalExecutor",
    "OpenExecutor",
    "Outcome",
    "check_executor",
    "executor_named",
]

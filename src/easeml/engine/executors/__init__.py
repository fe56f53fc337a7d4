"""Executors: how a task body is run, limited, watched and ended."""

from .base import Execution, Executor, Outcome
from .local import LocalExecutor

__all__ = ["Execution", "Executor", "LocalExecutor", "Outcome"]

"""The long-running processes: supervisor, scheduler, worker, predictor.

Imported on first use: they are heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .predictor import run_predictor
    from .predictor_client import PredictorClient
    from .prefork import run_machine, run_prefork
    from .scheduler_process import run_scheduler
    from .supervisor import (
        run_supervisor,
        running_supervisor,
        stop_supervisor,
        upgrade_supervisor,
    )
    from .worker import run_worker

__all__ = [
    "PredictorClient",
    "run_machine",
    "run_predictor",
    "run_prefork",
    "run_scheduler",
    "run_supervisor",
    "run_worker",
    "running_supervisor",
    "stop_supervisor",
    "upgrade_supervisor",
]

_HOMES = {
    "PredictorClient": "predictor_client",
    "run_machine": "prefork",
    "run_predictor": "predictor",
    "run_prefork": "prefork",
    "run_scheduler": "scheduler_process",
    "run_supervisor": "supervisor",
    "run_worker": "worker",
    "running_supervisor": "supervisor",
    "stop_supervisor": "supervisor",
    "upgrade_supervisor": "supervisor",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)

"""What runs on a node of a Ray cluster: an attempt, by an executor that is warm from task to task."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ray.experimental.internal_kv import (  # pyright: ignore[reportMissingImports]
    _internal_kv_get,
)

from easeml.contract.tasks import Limits
from easeml.engine import task_main
from easeml.folders import temporary_folder

from . import packing
from .local import LocalExecutor
from .node import Sent, Told, own_folder, run_attempt

if TYPE_CHECKING:
    import numpy as np

NAMESPACE = "easeml"
"""Of the keys by which a running attempt is told something."""

_warm: dict[Told, LocalExecutor] = {}


def run_on_node(told: Told, limits: Limits, wish: str, *parts: "np.ndarray") -> Iterator[Sent]:
    """Run an attempt; each of ``parts`` holds packed bytes: its words first, then its inputs.

    ``wish``: key under which the seconds of grace are put when it shall end. Raises ``Conflict``
    where this node has another version of easeml.
    """
    own_folder("ray")
    with temporary_folder("attempt-") as folder:
        words, *inputs = parts
        _lay_out(words, folder)
        (folder / task_main.INPUTS).mkdir(exist_ok=True)
        for part in inputs:
            _lay_out(part, folder / task_main.INPUTS)
        executor = _executor(told)
        try:
            yield from run_attempt(executor, folder, limits, lambda: _grace(wish))
        except BaseException:  # Ray interrupts a task that is cancelled, wherever it is
            executor.close()
            _warm.clear()
            raise


def _grace(wish: str) -> float | None:
    told = _internal_kv_get(wish, namespace=NAMESPACE)
    return float(told) if told else None


def _lay_out(part: "np.ndarray", folder: Path) -> None:
    with tempfile.TemporaryFile() as packed:
        part.tofile(packed)
        packing.unpack(packed, folder)


def _executor(told: Told) -> LocalExecutor:
    """Return the executor of this process, which is made when it is first asked for."""
    if told not in _warm:
        # Children would import Ray's program again, as what they were started from.
        vars(sys.modules["__main__"]).pop("__file__", None)
        _warm[told] = told.executor()
    return _warm[told]

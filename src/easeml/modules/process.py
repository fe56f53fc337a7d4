"""Programs of an uploaded folder as a model: each runs confined, in a process of its own.

A program has a folder of its own to read and write and nothing else: ``module/`` its files,
``data/`` what it is given, ``memory/`` and
``output/`` what it makes. It has no network, starts no processes, and ends at a
limit of time, memory and disk. What it brings is read as numbers, never imported or unpickled; no
program runs where it cannot be confined (decision 0038).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from easeml.errors import Damaged
from easeml.optional import if_known

from . import checkpoints
from .checkpoints import Kept, copy_files
from .contract import Context, Data
from .exchange import read_numbers, write_numbers
from .files import load_json, save_json
from .program_folder import (
    as_text,
    numbered,
    of_text,
    program_folder,
    read_memory,
    write_features,
    write_memory,
)
from .programs import Limits, ProgramFailed
from .runtimes import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIT_SECONDS = 3600.0  # the task that fits has a limit of its own, most often a nearer one
_PREDICT_SECONDS = 20.0
_PREDICT_SECONDS_A_ROW = 0.001
_STATE = "state.json"
_OFF = 1e-3  # what probabilities may lack to 1


@dataclass(frozen=True, slots=True)
class ProcessModel:
    """The programs ``train`` and ``predict`` of a folder.

    ``exchange``: format of their tables; ``image``: that they run in, empty where they run as
    processes; ``seconds``: how long ``train`` may run; ``gpu``: it needs one, and ``predict`` gets one
    where there is one.
    """

    name: str
    files: Mapping[str, str]
    exchange: str
    image: str = ""
    seconds: float = _FIT_SECONDS
    gpu: bool = False
    most_rows: ClassVar[int] = 2**31  # that ``predict`` is given at once

    def fit(self, data: Data, config: Mapping[str, Any], context: Context) -> TrainedProcess:
        """Run ``train``. Lines ``{"step": 1, "quality": 0.5}`` that it prints are reported.

        Raises ``ProgramFailed`` for what it does wrong, ``InvalidInput`` where it ends with exit
        code 2: it cannot learn from this data.
        """
        with program_folder(self.files) as place:
            self.learn(place, data, config, context)
            memory = read_memory(place / "memory", self.name, "train")
        width = data.classes or int(np.prod(data.y.shape[1:]))
        return TrainedProcess(self, memory, data.classes, width)

    def learn(self, place: Path, data: Data, config: Mapping[str, Any], context: Context) -> None:
        """Run ``train`` in a folder of its own, where it writes what it learnt into ``memory``."""
        write_features(place, data.X, self.exchange)
        target = np.asarray(data.y, dtype=np.float64).reshape(len(data.y), -1)
        names = numbered("y", target.shape[1])
        write_numbers(place / "data" / f"target.{self.exchange}", target, names)
        about = {
            "rows": data.X.shape[0],
            "features": data.X.shape[1],
            "classes": data.classes,
            "seed": context.seed,
            "threads": context.threads,
            "fidelity": context.fidelity,
        }
        save_json(place / "data" / "about.json", about)
        save_json(place / "config.json", dict(config))
        arguments = ["--data", "data", "--config", "config.json", "--output", "memory"]
        kept = None
        if context.checkpoint is not None:
            copy_files(context.checkpoint, place / checkpoints.FOLDER)
            kept = Kept(place / checkpoints.FOLDER, context.checkpoint)
        told = partial(report, context, place, kept)
        limits = Limits(self.seconds, gpu="needed" if self.gpu else "")
        run(place, "train", arguments, limits, told, self.image)

    def answer(self, place: Path, X: Any, trained: TrainedProcess) -> NDArray[np.float64]:
        """Run ``predict`` in a folder of its own, which holds ``memory``; return what it answers of
        at most ``most_rows`` rows, of shape (rows, width).
        """
        write_features(place, X, self.exchange)
        rows = X.shape[0]
        arguments = ["--data", "data", "--memory", "memory", "--output", "output"]
        limits = Limits(self.seconds_to_predict(rows), gpu="wanted" if self.gpu else "")
        run(place, "predict", arguments, limits, image=self.image)
        path = place / "output" / f"predictions.{self.exchange}"
        return read_numbers(path, self.name, rows, trained.width)

    def seconds_to_predict(self, rows: int) -> float:
        """Return how long ``predict`` may take."""
        return _PREDICT_SECONDS + rows * _PREDICT_SECONDS_A_ROW

    def load(self, folder: Path) -> TrainedProcess:
        """Return what was saved. Raises ``Damaged``."""
        state = load_json(folder / _STATE)
        try:
            memory = of_text(state["memory"])
            return TrainedProcess(self, memory, int(state["classes"]), int(state["width"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Damaged(f"The file cannot be read: {error}", where=str(folder)) from error


@dataclass(frozen=True, slots=True)
class TrainedProcess:
    """What ``train`` wrote, as bytes that only ``predict`` looks into.

    ``classes``: 0 for numbers; ``width``: columns of what ``predict`` answers.
    """

    model: ProcessModel
    memory: Mapping[str, bytes]
    classes: int
    width: int
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Run ``predict``. Raises ``ProgramFailed`` for anything but whole, finite predictions."""
        most = self.model.most_rows
        starts = range(0, X.shape[0], most)
        parts = [self._answer(X[start : start + most]) for start in starts]
        found = np.concatenate([np.empty((0, self.width)), *parts])  # there may be no rows
        if self.classes:
            return _probabilities(found, self.model.name)
        return found[:, 0] if self.width == 1 else found

    def _answer(self, X: Any) -> NDArray[np.float64]:
        with program_folder(self.model.files) as place:
            write_memory(place / "memory", self.memory)
            return self.model.answer(place, X, self)

    def save(self, folder: Path) -> None:
        """Write the bytes into one file, as text: nothing of them is a file by its own name."""
        memory = as_text(self.memory)
        state = {"classes": self.classes, "width": self.width, "memory": memory}
        save_json(folder / _STATE, state)


def report(context: Context, place: Path, kept: Kept | None, line: bytes) -> None:
    """Pass on a line of progress; other lines are the program's own. Whatever it is, the checkpoint is
    kept.
    """
    if context.enough():
        (place / "enough").touch()
    if kept is not None:
        kept.follow()
    try:
        found = json.loads(line)
        step = int(found["step"])
        quality = found.get("quality")
        value = if_known(quality, float)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    context.report(step, value)


def _probabilities(found: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return rows that add up to 1 exactly. Raises ``ProgramFailed`` for no probabilities."""
    sums = found.sum(axis=1)
    if (found < 0).any() or (np.abs(sums - 1) > _OFF).any():
        raise ProgramFailed(
            "predict answered what are no probabilities.",
            where=name,
            remedy="Write one column for each class; each row adds up to 1.",
        )
    return found / sums[:, None]

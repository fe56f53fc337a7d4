"""The programs ``fit`` and ``transform`` of an uploaded folder as a transform of features.

They run confined, as those of models, wherever the pipeline is: in the task that trains, in the
child that serves, and in what was exported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import Damaged

from .contract import Context
from .exchange import read_numbers
from .files import load_json, save_json
from .program_folder import (
    as_text,
    of_text,
    program_folder,
    read_memory,
    write_features,
    write_memory,
)
from .programs import Limits
from .runtimes import run

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_FIT_SECONDS = 600.0  # the task that fits has a limit of its own
_SECONDS = 20.0
_SECONDS_A_ROW = 0.001
_STATE = "state.json"


@dataclass(frozen=True, slots=True)
class ProcessTransform:
    """The program ``transform`` of a folder, and ``fit`` where it learns something.

    ``image``: what they run in, empty where they run as processes; ``fit`` is one of the files then,
    too.
    """

    name: str
    files: Mapping[str, str]
    exchange: str
    image: str = ""

    def fit(
        self, data: Any, schema_in: Mapping[str, Any], config: Mapping[str, Any], context: Context
    ) -> FittedProcessTransform:
        """Run ``fit`` on features, then ``transform``, to see how many columns come of them.

        Raises ``ProgramFailed`` for what they do wrong, ``InvalidInput`` where one of them ends with
        exit code 2.
        """
        memory: dict[str, bytes] = {}
        if "fit" in self.files:
            memory = self._learn(data, config, context)
        first = FittedProcessTransform(self, memory)
        return FittedProcessTransform(self, memory, width=first.transform(data).shape[1])

    def _learn(self, data: Any, config: Mapping[str, Any], context: Context) -> dict[str, bytes]:
        with program_folder(self.files) as place:
            write_features(place, data, self.exchange)
            about = {"rows": data.shape[0], "features": data.shape[1], "seed": context.seed}
            save_json(place / "data" / "about.json", about)
            save_json(place / "config.json", dict(config))
            arguments = ["--data", "data", "--config", "config.json", "--output", "memory"]
            run(place, "fit", arguments, Limits(_FIT_SECONDS), image=self.image)
            return read_memory(place / "memory", self.name, "fit")

    def load(self, folder: Path) -> FittedProcessTransform:
        """Return what was saved. Raises ``Damaged``."""
        state = load_json(folder / _STATE)
        try:
            return FittedProcessTransform(self, of_text(state["memory"]), int(state["width"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Damaged(f"The file cannot be read: {error}", where=str(folder)) from error


@dataclass(frozen=True, slots=True)
class FittedProcessTransform:
    """What ``fit`` wrote, as bytes that only ``transform`` looks into.

    ``width``: columns of what ``transform`` answers; 0: not known yet.
    """

    maker: ProcessTransform
    memory: Mapping[str, bytes]
    width: int = 0
    notes: tuple[str, ...] = field(default=())

    def transform(self, data: Any) -> NDArray[np.float64]:
        """Run ``transform`` on features (rows, features).

        Raises ``ProgramFailed`` for anything but a row for each row, with as many finite numbers as
        when it was fitted.
        """
        rows = data.shape[0]
        if rows == 0:
            return np.zeros((0, self.width))
        exchange = self.maker.exchange
        with program_folder(self.maker.files) as place:
            write_features(place, data, exchange)
            write_memory(place / "memory", self.memory)
            arguments = ["--data", "data", "--memory", "memory", "--output", "output"]
            limits = Limits(_SECONDS + rows * _SECONDS_A_ROW)
            run(place, "transform", arguments, limits, image=self.maker.image)
            path = place / "output" / f"features.{exchange}"
            return read_numbers(path, self.maker.name, rows, self.width or None, "transform")

    def save(self, folder: Path) -> None:
        """Write the bytes into one file, as text."""
        save_json(folder / _STATE, {"width": self.width, "memory": as_text(self.memory)})

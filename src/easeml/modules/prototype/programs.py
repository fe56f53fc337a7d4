"""Models, objectives and optimizers that were written for the prototype, called as it called them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from easeml.errors import InvalidInput
from easeml.modules.containers.running import WORK
from easeml.modules.contract import Context, Data
from easeml.modules.files import save_json
from easeml.modules.objective_programs import ProcessObjective
from easeml.modules.optimizer_programs import ProcessOptimizer
from easeml.modules.process import ProcessModel, TrainedProcess, report
from easeml.modules.program_folder import program_folder
from easeml.modules.programs import Limits, ProgramFailed
from easeml.modules.runtimes import run

from . import datasets, description

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from easeml.search.optimizers import Tried

_DATA, _MEMORY, _OUTPUT = f"{WORK}/data", f"{WORK}/memory", f"{WORK}/output"
_METADATA = "/tmp"  # noqa: S108 within the container; nobody asks what is written there
_ROWS_AT_ONCE = 20_000
_JOB, _MODULE = "0" * 23 + "1", "easeml/model"
_MOST_RESAMPLES = 20  # where each is a call
_ROUNDED = 1e-4  # what printing a mean in few digits may change
_MORE = 4  # times as many are asked for: what was tried may be drawn again


def _limits(seconds: float, rows: int) -> Limits:
    """Return what a call may take: its folder holds the rows, too."""
    usual = Limits(seconds)
    return Limits(
        seconds,
        disk=usual.disk + rows * datasets.BYTES_A_ROW,
        files=usual.files + rows * datasets.FILES_A_ROW,
    )


@dataclass(frozen=True, slots=True)
class PrototypeModel(ProcessModel):
    """The commands ``train`` and ``predict`` of an image. ``contract``: which of its two."""

    contract: str = description.PLAIN
    most_rows: ClassVar[int] = _ROWS_AT_ONCE

    def learn(self, place: Path, data: Data, config: Mapping[str, Any], context: Context) -> None:
        """See ``ProcessModel``. Raises ``InvalidInput`` for more rows than folders are made for."""
        rows = len(data.y)
        if rows > datasets.MOST_ROWS:
            raise InvalidInput(
                f"It needs a folder for each row; {datasets.MOST_ROWS:,} rows is the most.",
                where=self.name,
            )
        given, target, of_class = description.nodes_of(self.files)
        datasets.write_vectors(place / "data" / "input", given, data.X)
        _write_target(place / "data" / "output", target, of_class, data)
        save_json(place / "config.json", dict(config))
        arguments = ["--data", _DATA, "--conf", f"{WORK}/config.json", "--output", _MEMORY]
        told = partial(report, context, place, None)
        limits = replace(_limits(self.seconds, rows), gpu="needed" if self.gpu else "")
        run(place, "train", [*arguments, *self._metadata()], limits, told, self.image, True)

    def answer(self, place: Path, X: Any, trained: TrainedProcess) -> NDArray[np.float64]:
        """See ``ProcessModel``."""
        rows = X.shape[0]
        datasets.write_vectors(place / "data" / "input", description.nodes_of(self.files)[0], X)
        arguments = ["--data", _DATA, "--memory", _MEMORY, "--output", _OUTPUT]
        usual = _limits(self.seconds_to_predict(rows), rows)
        limits = replace(usual, gpu="wanted" if self.gpu else "")
        arguments += self._metadata()
        run(place, "predict", arguments, limits, image=self.image, by_entry=True)
        folder = place / "output" / "output"
        return datasets.read_predictions(folder, self.name, rows, trained.width, trained.classes)

    def _metadata(self) -> list[str]:
        return ["--metadata", _METADATA] if self.contract == description.WITH_METADATA else []


def _write_target(folder: Path, node: str, of_class: str, data: Data) -> None:
    if data.classes:
        datasets.write_labels(folder, node, of_class, data.y, data.classes)
    else:
        datasets.write_vectors(folder, node, data.y)


@dataclass(frozen=True, slots=True)
class PrototypeObjective(ProcessObjective):
    """The command ``eval`` of an image. It measures one pair of data sets, so that many are many
    calls; but it prints a score for each row, and most measures are the mean of these.
    """

    def measure(self, answers: Sequence[tuple[NDArray[Any], NDArray[np.float64]]]) -> list[float]:
        """See ``ProcessObjective``. All calls together have its seconds."""
        ends = time.monotonic() + self.seconds
        values = []
        for actual, predicted in answers:
            lines = self._printed(actual, predicted, ends - time.monotonic())
            values.append(_last_number(lines, self.name))
        return values

    def measure_resamples(
        self,
        actual: NDArray[Any],
        predicted: NDArray[np.float64],
        resamples: Sequence[NDArray[np.intp]],
    ) -> list[float]:
        """See ``ProcessObjective``. A mean of the rows' scores is found without further calls."""
        lines = self._printed(actual, predicted, self.seconds)
        value = _last_number(lines, self.name)
        scores = _scores_of_rows(lines, len(actual))
        if abs(scores.mean() - value) <= _ROUNDED:
            return [value, *(float(scores[rows].mean()) for rows in resamples)]
        few = resamples[:_MOST_RESAMPLES]
        return [value, *self.measure([(actual[rows], predicted[rows]) for rows in few])]

    def _printed(
        self, actual: NDArray[Any], predicted: NDArray[np.float64], seconds: float
    ) -> list[str]:
        """Return the lines that ``eval`` prints."""
        _, target, of_class = description.nodes_of(self.files)
        classes = predicted.shape[1] if actual.ndim == 1 and predicted.ndim == 2 else 0
        said = predicted.argmax(axis=1) if classes else predicted
        printed: list[bytes] = []
        with program_folder(self.files) as place:
            for side, values in (("actual", actual), ("predicted", said)):
                folder = place / "data" / side / "output"
                _write_target(folder, target, of_class, Data(np.empty(0), values, classes))
            arguments = ["--actual", f"{_DATA}/actual", "--predicted", f"{_DATA}/predicted"]
            limits = _limits(max(0.0, seconds), len(actual))
            run(place, "eval", arguments, limits, printed.append, self.image, True)
        lines = [line.decode("utf-8", "replace").strip() for line in printed]
        return list(filter(None, lines))


def _last_number(lines: Sequence[str], name: str) -> float:
    found = _number(lines[-1]) if lines else math.nan
    if not math.isfinite(found):
        raise ProgramFailed(
            "eval printed no number.", where=name, remedy="Print it alone, as the last line."
        )
    return found


def _scores_of_rows(lines: Sequence[str], rows: int) -> NDArray[np.float64]:
    """Return the score of each row from lines such as ``000012 | 0.5``; not a number where none is."""
    places = {datasets.name_of_row(row): row for row in range(rows)}
    scores = np.full(rows, np.nan)
    for line in lines:
        name, _, score = line.partition("|")
        place = places.get(name.strip())
        if place is not None:
            scores[place] = _number(score)
    return scores


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True, slots=True)
class PrototypeOptimizer(ProcessOptimizer):
    """The command ``suggest`` of an image. It is told no seed: asked again, it may say something
    else.
    """

    def ask(
        self, place: Path, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[str]:
        """See ``ProcessOptimizer``."""
        for name in ("space", "history"):
            (place / name).mkdir()
        of_model = {"id": _MODULE, "config": description.written(dict(space))}
        asked = {"id": _JOB, "model": {".choice": [of_model]}}
        save_json(place / "space" / f"{_JOB}.json", asked)
        history = []
        for one in tried:
            model = {"id": _MODULE, "config": one.config}
            history.append({"id": _JOB, "model": model, "quality": one.quality})
        save_json(place / "history" / f"{_JOB}.json", history)
        arguments = ["--space", f"{WORK}/space", "--history", f"{WORK}/history"]
        return self.printed(place, [*arguments, "--num-tasks", str(_MORE * n)], by_entry=True)

    def config(self, space: Mapping[str, Any], line: str) -> Any:
        """See ``ProcessOptimizer``."""
        found = json.loads(line)
        if (found["id"], found["model"]["id"]) != (_JOB, _MODULE):
            raise ValueError("it is of another job or model")
        if not isinstance(found["model"]["config"], dict):
            raise TypeError("its config is not a mapping")
        return found["model"]["config"]

"""The program ``eval`` of an uploaded folder as an objective: it runs confined, as those of models.

A call of ``eval`` measures many tables of answers at once, since starting a program takes far longer
than measuring: all resamples of an interval are one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput

from .exchange import read_numbers, write_numbers
from .files import save_json
from .program_folder import program_folder
from .programs import Limits, ProgramFailed
from .runtimes import run
from .scale import Scale

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MOST_SECONDS = 60.0
"""How long a call of ``eval`` may take."""
_OFF = 1e-9  # of the range: what rounding may add


@dataclass(frozen=True, slots=True)
class ProcessObjective:
    """An objective whose value a program finds. ``exchange``: format of its tables; ``seconds``: how
    long it may run; ``image``: that it runs in, empty where it runs as a process.
    """

    name: str
    files: Mapping[str, str]
    exchange: str
    scale: Scale
    seconds: float = MOST_SECONDS
    image: str = ""

    @property
    def needs_probabilities(self) -> bool:
        """Whether labels alone are not enough."""
        return self.scale.needs_probabilities

    @property
    def lower_is_better(self) -> bool:
        """Whether its value is an error."""
        return self.scale.best < self.scale.worst

    @property
    def in_unit_of_target(self) -> bool:
        """Whether its value is in the unit of the target."""
        return self.scale.in_unit_of_target

    def value(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return the measure. Raises ``ProgramFailed`` for no number, or one out of the range."""
        return self.values([(actual, predicted)])[0]

    def quality(self, actual: NDArray[Any], predicted: NDArray[np.float64]) -> float:
        """Return how far the value is on the way from the worst (0) to the best (1)."""
        return self.quality_of(self.value(actual, predicted))

    def quality_of(self, value: float) -> float:
        """Return the quality that a value stands for."""
        return (value - self.scale.worst) / (self.scale.best - self.scale.worst)

    def values(self, answers: Sequence[tuple[NDArray[Any], NDArray[np.float64]]]) -> list[float]:
        """Return the measures of pairs of actual and predicted.

        Raises ``ProgramFailed`` for what ``eval`` does wrong, named after the module.
        """
        return self._checked(lambda: self.measure(answers))

    def values_of_resamples(
        self,
        actual: NDArray[Any],
        predicted: NDArray[np.float64],
        resamples: Sequence[NDArray[np.intp]],
    ) -> list[float]:
        """Return the measure of all rows, then those of resamples.

        ``resamples``: the places of the rows of each, which may repeat. Raises as ``values``.
        """
        return self._checked(lambda: self.measure_resamples(actual, predicted, resamples))

    def _checked(self, measured: Callable[[], list[float]]) -> list[float]:
        try:
            found = measured()
        except (ProgramFailed, InvalidInput) as error:
            raise ProgramFailed(error.message, where=self.name, remedy=error.remedy) from error
        return list(map(self._in_range, found))

    def measure_resamples(
        self,
        actual: NDArray[Any],
        predicted: NDArray[np.float64],
        resamples: Sequence[NDArray[np.intp]],
    ) -> list[float]:
        """Return what ``eval`` answers of all rows, then of resamples. Raises as ``measure``."""
        resampled = [(actual[rows], predicted[rows]) for rows in resamples]
        return self.measure([(actual, predicted), *resampled])

    def measure(self, answers: Sequence[tuple[NDArray[Any], NDArray[np.float64]]]) -> list[float]:
        """Return what one run of ``eval`` answers. Raises as ``runtimes.run``."""
        with program_folder(self.files) as place:
            for number, (actual, predicted) in enumerate(answers):
                path = place / "data" / f"{number:06}.{self.exchange}"
                _write_answers(path, actual, predicted)
            classes = answers[0][1].shape[1] if _are_codes(answers[0]) else 0
            about = {"tables": len(answers), "classes": classes}
            save_json(place / "data" / "about.json", about)
            arguments = ["--data", "data", "--output", "output"]
            run(place, "eval", arguments, Limits(self.seconds), image=self.image)
            path = place / "output" / f"values.{self.exchange}"
            return read_numbers(path, self.name, len(answers), 1, "eval")[:, 0].tolist()

    def _in_range(self, value: float) -> float:
        low, high = sorted((self.scale.worst, self.scale.best))
        slack = _OFF * (high - low)
        if not low - slack <= value <= high + slack:
            raise ProgramFailed(
                f"eval answered {value:g}; its range is {low:g} to {high:g}.",
                where=self.name,
                remedy="Mend eval, or the numbers worst and best of [measure] in module.toml.",
            )
        return min(high, max(low, value))


def _are_codes(answers: tuple[NDArray[Any], NDArray[np.float64]]) -> bool:
    actual, predicted = answers
    return actual.ndim == 1 and predicted.ndim == 2


def _write_answers(path: Path, actual: NDArray[Any], predicted: NDArray[np.float64]) -> None:
    true = np.asarray(actual, dtype=np.float64).reshape(len(actual), -1)
    said = np.asarray(predicted, dtype=np.float64).reshape(len(actual), -1)
    names = [f"a{place}" for place in range(true.shape[1])]
    names += [f"p{place}" for place in range(said.shape[1])]
    write_numbers(path, np.hstack([true, said]), names)

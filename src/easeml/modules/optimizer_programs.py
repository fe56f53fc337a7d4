"""The program ``suggest`` of an uploaded folder as an optimizer: it runs confined, as those of models.

It is asked by tasks, never by the scheduler: it may hang, crash or answer nonsense, and all of these
come to a ``ProgramFailed`` (decision 0044).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput
from easeml.search import spaces
from easeml.search.optimizers import Tried, fresh

from .files import save_json
from .program_folder import numbered, program_folder
from .programs import Limits, ProgramFailed
from .runtimes import run

if TYPE_CHECKING:
    from pathlib import Path

    from easeml.search.spaces import Config, Parameter

MOST_SECONDS = 10.0
"""How long a call of ``suggest`` may take."""
_PRINTED = 2**20  # bytes of suggestions
_SHOWN = 80  # letters of a line that is told

Written = Callable[["Path", Mapping[str, Any], Sequence[Tried]], None]
Read = Callable[[Mapping[str, Any], str], Any]


@dataclass(frozen=True, slots=True)
class ProcessOptimizer:
    """An optimizer whose proposals a program makes. ``exchange``: json or csv; ``image``: that it runs
    in, empty where it runs as a process.
    """

    name: str
    files: Mapping[str, str]
    exchange: str
    seconds: float = MOST_SECONDS
    image: str = ""

    def propose(
        self, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[Config]:
        """See ``easeml.search.optimizers.Optimizer``; a space without parameters is not asked of it.

        Raises ``ProgramFailed`` for what is no configuration of the space, and for a program that
        does not end well.
        """
        if n <= 0:
            return []
        if not spaces.listed(space):
            return fresh([spaces.default(space)], tried, n)
        with program_folder(self.files) as place:
            try:
                printed = self.ask(place, space, tried, n, seed)
            except InvalidInput as error:
                raise ProgramFailed(error.message, where=self.name, remedy=error.remedy) from error
        return fresh(self._configs(space, printed), tried, n)

    def ask(
        self, place: Path, space: Mapping[str, Any], tried: Sequence[Tried], n: int, seed: int
    ) -> list[str]:
        """Return the lines that ``suggest`` prints when it is run in a folder of its own."""
        write, _ = _FORMATS[self.exchange]
        write(place, space, tried)
        arguments = ["--space", f"space.{self.exchange}"]
        arguments += ["--history", f"history.{self.exchange}"]
        return self.printed(place, [*arguments, "--num-tasks", str(n), "--seed", str(seed)])

    def printed(self, place: Path, arguments: list[str], by_entry: bool = False) -> list[str]:
        """Run ``suggest`` and return the lines that it prints. Raises as ``runtimes.run``."""
        lines: list[str] = []
        limits = Limits(self.seconds, printed=_PRINTED)

        def told(line: bytes) -> None:
            lines.append(_text(line))

        run(place, "suggest", arguments, limits, told, self.image, by_entry)
        return lines

    def config(self, space: Mapping[str, Any], line: str) -> Any:
        """Return the configuration of a line. Raises ``ValueError`` and the like for none."""
        _, read = _FORMATS[self.exchange]
        return read(space, line)

    def _configs(self, space: Mapping[str, Any], lines: list[str]) -> Iterator[Config]:
        for line in filter(None, lines):
            try:
                yield spaces.complete(space, self.config(space, line))
            except InvalidInput as error:
                raise self._refused(line, f"{error.where}: {error.message}") from error
            except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
                raise self._refused(line, f"{error}") from error

    def _refused(self, line: str, why: str) -> ProgramFailed:
        shown = line if len(line) <= _SHOWN else f"{line[:_SHOWN]} …"
        return ProgramFailed(
            f"suggest printed what is not a configuration of the space: {shown} ({why})",
            where=self.name,
            remedy="Print one configuration a line, and all else to the error channel.",
        )


def _text(line: bytes) -> str:
    return line.decode(errors="replace").strip()


def _write_json(place: Path, space: Mapping[str, Any], tried: Sequence[Tried]) -> None:
    save_json(place / "space.json", dict(space))
    history = [{"config": one.config, "quality": one.quality} for one in tried]
    save_json(place / "history.json", history)


def _read_json(space: Mapping[str, Any], line: str) -> Any:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise TypeError("it is not a mapping")
    return found


def _write_csv(place: Path, space: Mapping[str, Any], tried: Sequence[Tried]) -> None:
    """Write a row for each parameter, and for each configuration the values of all of them."""
    known = spaces.listed(space)
    described: list[list[Any]] = [["kind", "low", "high", "scale", "name"]]
    for path, parameter in known.items():
        described.append([*_described(parameter), path.removeprefix(".")])
    _write_rows(place / "space.csv", described)

    history: list[list[Any]] = [["quality", *numbered("p", len(known))]]
    for one in tried:
        values = spaces.parameters(space, one.config)
        history.append(
            [one.quality, *(values[path][1] if path in values else None for path in known)]
        )
    _write_rows(place / "history.csv", history)


def _write_rows(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _described(parameter: Parameter) -> tuple[str, float, float, str]:
    """Return kind, lower and upper end, and scale."""
    if isinstance(parameter, spaces.Choice):
        return "choice", 0, len(parameter.options) - 1, "linear"
    kind = "whole" if parameter.whole else "number"
    return kind, parameter.low, parameter.high, "log" if parameter.log else "linear"


def _read_csv(space: Mapping[str, Any], line: str) -> Any:
    """Return the configuration whose parameters have the values of a line, as far as they apply."""
    known = list(spaces.listed(space))
    values = line.split(",")
    if len(values) != len(known):
        raise ValueError(f"{len(values)} values of {len(known)}")
    told = dict(zip(known, values, strict=True))
    return spaces.build(space, lambda path, parameter: _value(parameter, told[path]))


def _value(parameter: Parameter, text: str) -> float:
    """Return the value of a parameter; of a choice the place of its option."""
    value = float(text)
    if isinstance(parameter, spaces.Choice):
        if value not in range(len(parameter.options)):
            raise ValueError(f"{text} is not a place of a choice")
        return int(value)
    if parameter.whole and value.is_integer():
        return int(value)
    return value


_FORMATS: dict[str, tuple[Written, Read]] = {
    "json": (_write_json, _read_json),
    "csv": (_write_csv, _read_csv),
}

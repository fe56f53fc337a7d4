"""Optuna's journal: a line of JSON an operation, which are played again here.

https://github.com/optuna/optuna/blob/master/optuna/storages/journal/_storage.py
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput
from easeml.modules.histories.optuna_values import external
from easeml.modules.histories.studies import (
    Direction,
    Study,
    Trial,
    number_of,
    one_named,
    only_objective,
)

# Operations: 0 create study, 1 delete study, 4 create trial, 5 set parameter, 6 set state and value.
_MAXIMIZE = 2
_COMPLETE = 1


@dataclass
class _Trial:
    study: int
    params: dict[str, Any] = field(default_factory=dict)
    value: float | None = None


@dataclass
class _Played:
    """What the operations so far have made: studies and trials, by the order of their making."""

    studies: list[tuple[str, list[int]] | None] = field(default_factory=list)  # None: deleted
    trials: list[_Trial] = field(default_factory=list)

    def play(self, told: Mapping[str, Any]) -> None:
        """Do one operation. Those that say nothing of parameters and values are passed over."""
        match told["op_code"]:
            case 0:
                self.studies.append((str(told["study_name"]), list(told["directions"])))
            case 1:
                self.studies[told["study_id"]] = None
            case 4 if self.studies[told["study_id"]]:  # Optuna numbers trials of studies there are
                self._add_trial(told)
            case 5:
                value = external(told["param_value_internal"], told["distribution"])
                self.trials[told["trial_id"]].params[str(told["param_name"])] = value
            case 6:
                self._end(self.trials[told["trial_id"]], told)

    def _add_trial(self, told: Mapping[str, Any]) -> None:
        trial = _Trial(told["study_id"])
        params = told.get("params") or {}
        distributions = told.get("distributions") or {}
        for name, value in params.items():
            trial.params[str(name)] = external(value, distributions.get(name))
        self._end(trial, told)
        self.trials.append(trial)

    def _end(self, trial: _Trial, told: Mapping[str, Any]) -> None:
        values = told.get("values") or [told.get("value")]
        if told.get("state") == _COMPLETE:
            trial.value = number_of(values[0])

    def trials_of(self, study: int) -> list[Trial]:
        """Return the trials of a study, numbered in the order of their making."""
        own = [trial for trial in self.trials if trial.study == study]
        return [Trial(str(number), one.params, one.value) for number, one in enumerate(own)]


def read_journal(path: Path, filename: str, study: str) -> Study:
    """Read a study. Raises ``InvalidInput`` where a line is no operation of Optuna."""
    played = _Played()
    for number, told in _operations(path, filename):
        try:
            played.play(told)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise _damaged(filename, number) from error
    there = {place: made for place, made in enumerate(played.studies) if made is not None}
    names = [name for name, _ in there.values()]
    place = list(there)[one_named(names, study, filename)]
    name, directions = there[place]
    is_gain = only_objective(directions, filename) == _MAXIMIZE
    direction = Direction.MAXIMIZE if is_gain else Direction.MINIMIZE
    return Study(name, direction, played.trials_of(place))


def _operations(path: Path, filename: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the operations with the numbers of their lines, from 1.

    The last one may have been cut: the program that wrote it was ended.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                told = json.loads(line)
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    return
                raise _damaged(filename, number) from error
            if not isinstance(told, dict):
                raise _damaged(filename, number)
            yield number, told


def _damaged(filename: str, line: int) -> InvalidInput:
    return InvalidInput("This is not an operation of Optuna.", where=f"{filename}, line {line}")

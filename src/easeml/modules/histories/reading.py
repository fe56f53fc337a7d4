"""Reading a study of Optuna, or a table of trials."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput
from easeml.modules.histories.optuna_database import read_database
from easeml.modules.histories.optuna_journal import read_journal
from easeml.modules.histories.studies import Direction, Study, Trial, number_of

_LARGEST = 256 * 2**20  # bytes of a file
_MOST_TRIALS = 20_000
_SQLITE = b"SQLite format 3\x00"
_PREFIXES = ("params_", "params.", "param_", "config.", "config/")
_VALUES = (
    "value",
    "values_0",
    "quality",
    "score",
    "accuracy",
    "objective",
    "loss",
    "error",
    "rmse",
)
_VALUE_PREFIXES = ("metrics.", "metric.")
_MODELS = ("model", "estimator")
_NAMES = ("number", "trial", "run_id")
_LOWER_IS_BETTER = ("loss", "error", "rmse", "mae", "mse", "logloss")
_STATES = ("state", "status")
_FINISHED = ("complete", "completed", "finished", "done", "ok")
_PYTHON = {"True": True, "False": False, "None": None}
_NO_PARAMETERS = (
    *("number", "trial", "trial_id", "run_id", "name", "duration", "datetime_start", "start_time"),
    *("datetime_complete", "end_time", "seconds", "study", "experiment_id", "artifact_uri"),
)


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the columns of a table mean. ``params``: column -> the name of its parameter."""

    value: str
    state: str | None
    params: Mapping[str, str]


def read_study(
    path: Path, filename: str, *, study: str = "", value: str = "", direction: str = ""
) -> Study:
    """Read a study of Optuna (its SQLite file or its journal) or a table of trials (CSV).

    ``study``: its name, where a file has several; ``value``: the column of a table that says how
    good a trial was; ``direction``: which values are better, where the file does not say. Nothing
    of the file is run. Raises ``InvalidInput`` for what is none of these, is of several objectives,
    or has more than 20,000 trials.
    """
    if path.stat().st_size > _LARGEST:
        raise InvalidInput("A history has at most 256 MiB.", where=filename)
    with path.open("rb") as file:
        begin = file.read(4096)
    if begin.startswith(_SQLITE):
        found = read_database(path, filename, study)
    elif _is_journal(begin):
        found = read_journal(path, filename, study)
    else:
        found = _read_table(path, filename, value, direction)
    if len(found.trials) > _MOST_TRIALS:
        raise InvalidInput(f"It has more than {_MOST_TRIALS:,} trials.", where=filename)
    return found


def _is_journal(begin: bytes) -> bool:
    first_line = begin.lstrip().partition(b"\n")[0]
    return b'"op_code"' in first_line


def _read_table(path: Path, filename: str, value: str, direction: str) -> Study:
    lines = csv.DictReader(io.StringIO(_text_of(path, filename)), restkey="")
    try:
        return _study_of(lines, filename, value, direction)
    except csv.Error as error:
        raise InvalidInput(f"The table cannot be read: {error}", where=filename) from error


def _study_of(lines: "csv.DictReader[str]", filename: str, value: str, direction: str) -> Study:
    columns = list(filter(None, lines.fieldnames or []))
    value_column = _value_column(columns, value, filename)
    better, notes = _direction_of(value_column, direction)
    meant = _Columns(value_column, _state_column(columns), _parameters(columns, value_column))
    trials = [_trial_of(number, line, meant) for number, line in enumerate(lines)]
    if not trials:
        raise InvalidInput("The table has no rows.", where=filename)
    return Study("", better, trials, notes)


def _text_of(path: Path, filename: str) -> str:
    """Return the text of a file. Raises ``InvalidInput`` for one that is none."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unknown(filename) from error
    if "\0" in text:
        raise _unknown(filename)
    return text


def _unknown(filename: str) -> InvalidInput:
    return InvalidInput(
        "This is not a study that can be read.",
        where=filename,
        remedy="Give Optuna's SQLite file or journal, or a table of trials as CSV.",
    )


def _value_column(columns: Sequence[str], asked: str, filename: str) -> str:
    """Return the column that says how good a trial was: the one asked for, or one of a usual name."""
    if asked in columns:
        return asked
    remedy = f"Name it (value); there are: {', '.join(columns[:20])}."
    if asked:
        raise InvalidInput(f"There is no column {asked!r}.", where=filename, remedy=remedy)
    known = _by_bare_name(columns)
    usual = next(filter(known.__contains__, _VALUES), None)
    if usual is None:
        raise InvalidInput("No column says how good a trial was.", where=filename, remedy=remedy)
    return known[usual]


def _by_bare_name(columns: Sequence[str]) -> dict[str, str]:
    """Return columns by their names in small letters, with and without a prefix of values.

    A column that has a name of its own goes before one that has it behind a prefix.
    """
    known = {column.lower(): column for column in columns}
    for column in columns:
        bare = _without_prefix(column, _VALUE_PREFIXES)
        known.setdefault(bare.lower(), column)
    return known


def _direction_of(column: str, asked: str) -> tuple[Direction, list[str]]:
    if asked:
        return Direction(asked), []
    bare = column.lower().rpartition(".")[2]
    if any(word in bare for word in _LOWER_IS_BETTER):
        guessed, better = Direction.MINIMIZE, "lower"
    else:
        guessed, better = Direction.MAXIMIZE, "higher"
    return guessed, [f"Taken to be better where '{column}' is {better}; the file does not say."]


def _state_column(columns: Sequence[str]) -> str | None:
    return next((column for column in columns if column.lower() in _STATES), None)


def _parameters(columns: Sequence[str], value: str) -> dict[str, str]:
    """Return the columns of parameters, each with the name of its parameter.

    Where some columns have a prefix of parameters, only the model may go without.
    """
    has_prefix = any(column.startswith(_PREFIXES) for column in columns)
    params = {}
    for column in filter(_may_be_parameter, columns):
        bare = _without_prefix(column, _PREFIXES)
        is_meant = bare != column or not has_prefix or column.lower() in _MODELS
        if is_meant and column != value:
            params[column] = bare
    return params


def _may_be_parameter(column: str) -> bool:
    is_other = column.lower() in (*_STATES, *_NO_PARAMETERS)
    return not is_other and not column.startswith(_VALUE_PREFIXES)


def _without_prefix(column: str, prefixes: Sequence[str]) -> str:
    prefix = next(filter(column.startswith, prefixes), "")
    return column.removeprefix(prefix)


def _trial_of(number: int, line: Mapping[str, Any], columns: _Columns) -> Trial:
    """Return the trial of a row. An empty cell is no parameter: another model's trial has it."""
    params = {}
    for column, name in columns.params.items():
        if line[column]:
            params[name] = _read(line[column])
    value = number_of(line[columns.value]) if _has_finished(line, columns.state) else None
    return Trial(_name_of(line, number), params, value)


def _has_finished(line: Mapping[str, Any], state_column: str | None) -> bool:
    """Whether a trial came to its end; one of which no state is told did."""
    state = line[state_column] if state_column else ""
    if not state:
        return True
    return state.rpartition(".")[2].lower() in _FINISHED


def _name_of(line: Mapping[str, Any], number: int) -> str:
    names = filter(None, map(line.get, _NAMES))
    return next(names, str(number))


def _read(text: str) -> Any:
    """Return a cell as a number, a truth value or a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return _PYTHON.get(text, text)
    return value if isinstance(value, int | float | str) else text

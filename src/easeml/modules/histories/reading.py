"""Reading a study of Optuna, or a table of trials."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
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
_LOWER_IS_BETTER = ("loss", "error", "rmse", "mae", "mse", "logloss")
_STATES = ("state", "status")
_FINISHED = ("complete", "completed", "finished", "done", "ok")
_NO_PARAMETERS = (
    *("number", "trial", "trial_id", "run_id", "name", "duration", "datetime_start", "start_time"),
    *("datetime_complete", "end_time", "seconds", "study", "experiment_id", "artifact_uri"),
)


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
    elif begin.lstrip().startswith(b'{"op_code"') or b'"op_code"' in begin.partition(b"\n")[0]:
        found = read_journal(path, filename, study)
    else:
        found = _read_table(path, filename, value, direction)
    if len(found.trials) > _MOST_TRIALS:
        raise InvalidInput(f"It has more than {_MOST_TRIALS:,} trials.", where=filename)
    return found


def _read_table(path: Path, filename: str, value: str, direction: str) -> Study:
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unknown(filename) from error
    if "\0" in text:
        raise _unknown(filename)
    lines = csv.DictReader(io.StringIO(text), restkey="")
    columns = [name for name in lines.fieldnames or [] if name]
    column = _value_column(columns, value, filename)
    better, notes = _direction_of(column, direction)
    trials = []
    try:
        for number, line in enumerate(lines):
            trials.append(_trial_of(number, line, column, columns))
    except csv.Error as error:
        raise InvalidInput(f"The table cannot be read: {error}", where=filename) from error
    if not trials:
        raise InvalidInput("The table has no rows.", where=filename)
    return Study("", better, trials, notes)


def _unknown(filename: str) -> InvalidInput:
    return InvalidInput(
        "This is no study that can be read.",
        where=filename,
        remedy="Give Optuna's SQLite file or journal, or a table of trials as CSV.",
    )


def _value_column(columns: Sequence[str], asked: str, filename: str) -> str:
    if asked in columns:
        return asked
    known = {column.lower(): column for column in columns}
    for column in columns:
        for prefix in _VALUE_PREFIXES:
            if column.startswith(prefix):
                known.setdefault(column.removeprefix(prefix).lower(), column)
    found = [known[name] for name in _VALUES if name in known]
    if asked or not found:
        raise InvalidInput(
            f"There is no column {asked!r}." if asked else "No column says how good a trial was.",
            where=filename,
            remedy=f"Name it (value); there are: {', '.join(columns[:20])}.",
        )
    return found[0]


def _direction_of(column: str, asked: str) -> tuple[Direction, list[str]]:
    if asked:
        return Direction(asked), []
    bare = column.lower().rpartition(".")[2]
    is_loss = any(word in bare for word in _LOWER_IS_BETTER)
    guessed = Direction.MINIMIZE if is_loss else Direction.MAXIMIZE
    better = "lower" if is_loss else "higher"
    return guessed, [f"Taken to be better where '{column}' is {better}; the file does not say."]


def _trial_of(number: int, line: Mapping[str, Any], column: str, columns: Sequence[str]) -> Trial:
    state = next((line[name] for name in columns if name.lower() in _STATES), "") or "done"
    name = next((line[one] for one in ("number", "trial", "run_id") if line.get(one)), str(number))
    has_prefix = any(one.startswith(_PREFIXES) for one in columns)
    params = {}
    for one in columns:
        is_value = one == column or one.startswith(_VALUE_PREFIXES)
        if is_value or one.lower() in (*_STATES, *_NO_PARAMETERS) or not line.get(one):
            continue
        bare = _without_prefix(one)
        is_told = bare != one or not has_prefix or one.lower() in ("model", "estimator")
        if is_told:
            params[bare] = _read(line[one])
    value = number_of(line.get(column))
    is_finished = str(state).rpartition(".")[2].lower() in _FINISHED
    return Trial(str(name), params, value if is_finished else None)


def _without_prefix(column: str) -> str:
    for prefix in _PREFIXES:
        if column.startswith(prefix):
            return column.removeprefix(prefix)
    return column


def _read(text: str) -> Any:
    """Return a cell as a number, a truth value or a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return {"True": True, "False": False, "None": None}.get(text, text)
    return value if isinstance(value, int | float | str) else text

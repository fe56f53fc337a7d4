"""Optuna's SQLite file, read by its tables; Optuna itself is not asked, and the file not changed.

https://github.com/optuna/optuna/blob/master/optuna/storages/_rdb/models.py
"""

import sqlite3
from collections import defaultdict
from contextlib import closing
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


def read_database(path: Path, filename: str, study: str) -> Study:
    """Read a study. Raises ``InvalidInput`` for a file that is none of Optuna's."""
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return _read(connection, filename, study)
    except sqlite3.Error as error:
        raise InvalidInput(
            f"It is not a database of Optuna: {error}",
            where=filename,
            remedy="Give the file of its storage, after the study has ended.",
        ) from error


def _read(connection: sqlite3.Connection, filename: str, asked: str) -> Study:
    connection.execute("PRAGMA trusted_schema=OFF")
    studies = connection.execute("SELECT study_id, study_name FROM studies ORDER BY study_id")
    found = [(number, str(name)) for number, name in studies.fetchmany(1000)]
    place = one_named([name for _, name in found], asked, filename)
    number, name = found[place]
    told = connection.execute(
        "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", (number,)
    ).fetchall()
    (said,) = only_objective(told, filename)
    is_loss = str(said).upper() == "MINIMIZE"
    direction = Direction.MINIMIZE if is_loss else Direction.MAXIMIZE

    params: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for trial, param, value, distribution in connection.execute(
        "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
        " WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)",
        (number,),
    ):
        params[trial][str(param)] = external(value, distribution)
    values = dict(
        connection.execute(
            "SELECT trial_id, value FROM trial_values WHERE objective = 0"
            " AND trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)",
            (number,),
        ).fetchall()
    )
    trials = []
    for trial, label, state in connection.execute(
        "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY number", (number,)
    ):
        value = number_of(values.get(trial)) if str(state).upper() == "COMPLETE" else None
        trials.append(Trial(str(label), params[trial], value))
    return Study(name, direction, trials)

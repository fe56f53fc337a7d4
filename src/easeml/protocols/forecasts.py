"""Forecasts of an endpoint: the next rows of each series, which nobody has to send."""

import json
import re
from typing import Any, NamedTuple, Protocol

import numpy as np

from easeml.data import FORECAST, ColumnTable, Rows, kinds_of, parse_rows, with_gaps
from easeml.data.errors import first_of
from easeml.errors import InvalidInput
from easeml.modules import Predictions
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.forecasting import Past, last_rows, next_rows
from easeml.modules.pipeline import TrainedPipeline
from easeml.schema import Schema

_STEPS = re.compile(rf"{FORECAST}=(\d+)")
_JSON = "application/json"
_SHOWN = 8  # names of columns in one sentence
_MOST_ROWS = 200_000  # of one answer: it is held as a whole, a few times


class Forecasting(Protocol):
    """What an endpoint has (``answers.Served``)."""

    @property
    def trained(self) -> TrainedPipeline | TrainedEnsemble: ...
    @property
    def schema_in(self) -> Schema: ...
    @property
    def schema_out(self) -> Schema: ...


class Forecast(NamedTuple):
    """The next rows, what is predicted of them, and what is told with it.

    ``told``: ``rows``, as an endpoint takes them, and ``known``, the last ones before.
    """

    rows: Rows
    predicted: Predictions
    told: dict[str, Any]


def steps_of(content_type: str) -> int | None:
    """Return how many steps a request asks to forecast; None where it sends the rows itself."""
    found = _STEPS.search(content_type)
    return None if found is None else int(found[1])


def forecast(served: Forecasting, body: bytes, content_type: str, steps: int) -> Forecast:
    """Forecast the next steps of each series.

    The body may hold rows with newer values than the model knows, in any form that rows have; it
    may be empty. Raises ``InvalidInput`` where the model does not forecast, or the rows have no
    values, and as ``parse_rows``.
    """
    past = served.trained.past
    if past is None:
        raise InvalidInput(
            "The model does not forecast: its target does not follow its own past.",
            where=f"query: {FORECAST}",
            remedy="Make an application that does: easeml app create FILE --forecast STEPS.",
        )
    _check_inputs(past, served.schema_in)
    newer = _newer(served, past, body, content_type)
    notes = []
    if newer is not None:
        notes = [*newer.notes, *_notes_of_series(past, newer.with_values)]
        past = past.told(newer.with_values)
    _check_rows(len(np.unique(past.known.series)), steps)
    schema = served.trained.schema_in
    rows = next_rows(past, steps, schema)
    read = parse_rows(json.dumps(rows).encode(), _JSON, served.schema_in, served.schema_out)
    predicted = served.trained.predict(_together(newer, read))
    are_next = np.arange(len(predicted.values)) >= len(predicted.values) - len(rows)
    notes += [*read.notes, *_notes(past, read.table)]
    told = {"rows": rows, "known": last_rows(past, steps, schema), "notes": notes}
    return Forecast(read, predicted.of_rows(are_next), told)


def _check_inputs(past: Past, schema_in: Schema) -> None:
    """Raise ``InvalidInput`` where rows have more than their time and series."""
    own = {past.rule.time, *past.rule.series}
    others = [repr(name) for name in kinds_of(schema_in) if name not in own]
    if others:
        raise InvalidInput(
            f"The next rows need what only you can know ahead: {first_of(others, _SHOWN)}.",
            where=f"query: {FORECAST}",
            remedy="Send the rows, with all columns but the target: easeml predict ID FILE.",
        )


def _check_rows(series: int, steps: int) -> None:
    """Raise ``InvalidInput`` where so many steps of all series are too many rows for an answer."""
    if series * steps <= _MOST_ROWS:
        return
    raise InvalidInput(
        f"{steps:,} steps of {series:,} series are {series * steps:,} rows; one answer has at most "
        f"{_MOST_ROWS:,}.",
        where=f"query: {FORECAST}",
        remedy=f"Ask for at most {_MOST_ROWS // series:,} steps, or send rows of some series.",
    )


def _schema_of_newer(schema_in: Schema, past: Past) -> Schema:
    """Return the schema of rows with newer values: they bring what nobody knows ahead, too."""
    told = schema_in.to_json()
    whole = Schema.from_json({**told, "nodes": {**told["nodes"], **past.nodes}})
    return with_gaps(whole, past.rule.past_only)


def _newer(served: Forecasting, past: Past, body: bytes, content_type: str) -> Rows | None:
    """Return the rows with newer values; None where there are none."""
    if not body.strip():
        return None
    schema_in = _schema_of_newer(served.schema_in, past)
    rows = parse_rows(body, content_type, schema_in, served.schema_out)
    if rows.values is None:
        raise InvalidInput(
            "The rows have no values of the target: they tell nothing new.",
            where="rows",
            remedy="Send its column with them, or no rows at all.",
        )
    return rows


def _together(newer: Rows | None, rows: Rows) -> ColumnTable:
    """Return rows with newer values, if there are some, and then the rows to forecast."""
    if newer is None:
        return rows.table
    told = newer.with_values
    unknown = np.full(len(rows.table), np.nan)
    next_table = ColumnTable(
        dict.fromkeys(told.columns, unknown) | dict(rows.table.columns), len(unknown)
    )
    return ColumnTable.joined([ColumnTable(told.columns, len(told)), next_table])


def past_only(past: Past | None) -> tuple[str, ...]:
    """Return the columns that a model knows of the past alone; none where it does not forecast."""
    return () if past is None else past.rule.past_only


def notes_of(past: Past, rows: Rows) -> list[str]:
    """Return what is to be said of rows that are forecast."""
    table = rows.with_values
    return [*_notes_of_series(past, table), *_notes(past.told(table), table)]


def _notes_of_series(past: Past, table: ColumnTable) -> list[str]:
    """Return what is said of rows with values of series that nobody knows."""
    unused = past.unused_values(table)
    if not unused:
        return []
    names = first_of(list(map(repr, past.rule.series)), _SHOWN)
    return [
        f"{unused:,} of {len(table):,} rows have values of series that are new to the model "
        f"({names}): they are not used. Make an application with all rows."
    ]


def _notes(past: Past, table: ColumnTable) -> list[str]:
    far = int((past.distances(table) > past.rule.ahead).sum())
    if not far:
        return []
    rows = f"{far:,} of {len(table):,} rows lie"
    if len(table) == 1:
        rows = "The row lies"
    return [
        f"{rows} more than {past.rule.ahead} steps after what is known of '{past.rule.target}', "
        "further than the model learned to look: do not trust what is said of it. Send newer values "
        "with the request, or feed them to the application."
    ]

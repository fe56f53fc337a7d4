"""Answers of a model to requests that wait together: each reads its own rows and gets its own
answer, and one call predicts the rows of all.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pydantic_core import PydanticSerializationError, from_json, to_json

from easeml.contract import measures
from easeml.contract.models import Measure
from easeml.data import EXPLAIN, ColumnTable, Rows, kinds_of, parse_rows
from easeml.data.errors import first_of
from easeml.engine.serving import explained
from easeml.errors import EasemlError
from easeml.modules import Predictions, interval, known_rows, measured
from easeml.modules.ensemble import TrainedEnsemble
from easeml.modules.known_rows import KnownRows
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.programs import ProgramFailed
from easeml.protocols import forecasts
from easeml.protocols.endpoint import answer_of, problem
from easeml.schema import Schema

_MOST_NAMES = 8  # of columns, in one sentence
Given = TypeVar("Given")


@dataclass(frozen=True)
class Served:
    """A loaded model, and what belongs to its answers."""

    model_id: str
    name: str
    objective: str
    trained: TrainedPipeline | TrainedEnsemble
    schema_in: Schema
    schema_out: Schema
    known: KnownRows | None = None  # of the rows that it learned from


class Request(NamedTuple):
    """Rows to predict, as they came."""

    content_type: str
    body: bytes


class Answer(NamedTuple):
    """HTTP status and JSON bytes: of a prediction, or of a problem."""

    status: int
    content: bytes


def answer_each(served: Served, requests: Sequence[Request]) -> list[Answer]:
    """Return the answer to each request.

    A model predicts a row alone as it does among others (``modules.conformance`` holds it), so one
    call predicts the rows of all. Where it fails, each request is predicted by itself: rows that
    break a model break the answer to who sent them.
    """
    read = [_guarded(lambda one=one: _read(served, one)) for one in requests]
    whole = [rows for rows in read if isinstance(rows, Rows)]
    predicted = iter(_predicted_together(served, whole))
    answers = []
    for request, rows in zip(requests, read, strict=True):
        if isinstance(rows, Answer):
            answers.append(rows)
        else:
            answers.append(_answered(served, request, rows, next(predicted)))
    return answers


def _predicted_together(served: Served, requests: Sequence[Rows]) -> list[Predictions | None]:
    """Return the predictions for each request; None of those that are predicted by themselves."""
    alone: list[Predictions | None] = [None] * len(requests)
    if len(requests) < 2 or served.trained.past is not None:
        return alone  # what one request tells of the past is not for others
    found = _guarded(lambda: _predict_all(served, requests))
    if isinstance(found, Answer):
        return alone
    return [*found]


def _read(served: Served, request: Request) -> Rows | Answer:
    """Return the rows of a request, or the answer to one that sends none."""
    steps = forecasts.steps_of(request.content_type)
    if steps is None:
        return _rows_of(served, request)
    found = forecasts.forecast(served, request.body, request.content_type, steps)
    answer = _told(served, found.rows, found.predicted)
    return Answer(200, dumps({**answer, **found.told}))


def _rows_of(served: Served, request: Request) -> Rows:
    schemas = served.schema_in, served.schema_out
    past_only = forecasts.past_only(served.trained.past)
    rows = parse_rows(request.body, request.content_type, *schemas, loads, past_only)
    if EXPLAIN in request.content_type:
        explained.check(rows)
    return rows


def _predict_all(served: Served, requests: Sequence[Rows]) -> list[Predictions]:
    """Return the predictions of the rows of each request, made by one call."""
    tables = [rows.table for rows in requests]
    predicted = served.trained.predict(ColumnTable.joined(tables))
    ends = np.cumsum(list(map(len, tables)))
    places = np.split(np.arange(ends[-1]), ends[:-1])
    return list(map(predicted.of_rows, places))


def _answered(
    served: Served, request: Request, rows: Rows, predicted: Predictions | None
) -> Answer:
    """Return the answer to rows. ``predicted``: where that is known already."""

    def answer() -> Answer:
        made = served.trained.predict(rows.with_values) if predicted is None else predicted
        told = _told(served, rows, made)
        if EXPLAIN in request.content_type:
            _tell_attributions(served, rows, made, told)
        return Answer(200, dumps(told))

    return _guarded(answer)


def _guarded(call: Callable[[], Given]) -> Given | Answer:
    """Return what a call gives, or the problem that it ends with."""
    try:
        return call()
    except ProgramFailed as error:
        return Answer(500, problem(500, "The model failed", error))
    except EasemlError as error:
        return Answer(422, problem(422, "The rows cannot be predicted", error))
    except MemoryError:
        said = EasemlError("The rows need too much memory.", remedy="Send fewer at a time.")
        return Answer(413, problem(413, "Too many rows", said))
    except (
        Exception
    ) as error:  # a model may fail on input it never saw: the caller learns it, serving goes on
        failure = EasemlError(
            f"The model failed on these rows: {type(error).__name__}.",
            remedy="Try other rows, or roll back.",
        )
        return Answer(500, problem(500, "The model failed", failure))


def loads(body: bytes) -> Any:
    """Read JSON as ``json.loads`` does, raising alike, in a third of its time."""
    try:
        return from_json(body)
    except ValueError:  # no JSON, or one that is not in UTF-8: this tells, or reads it
        return json.loads(body)


def dumps(told: dict[str, Any]) -> bytes:
    """Write JSON in a fifth of the time of ``json.dumps``."""
    try:
        return to_json(told)
    except PydanticSerializationError:  # a file's name may hold what is not Unicode: it is escaped
        return json.dumps(told).encode()


def _told(served: Served, rows: Rows, predicted: Predictions) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "model_id": served.model_id,
        "model_name": served.name,
        **answer_of(rows, predicted, served.trained.manifest, served.known),
    }
    if served.trained.past is not None:
        reply["notes"] += forecasts.notes_of(served.trained.past, rows)
    if rows.labels is not None:
        with suppress(ProgramFailed):  # an uploaded objective; the predictions are good
            reply["quality"] = _quality(served, rows.labels, predicted)
            _tell_training_rows(served, rows, predicted, reply)
    return reply


def _tell_attributions(
    served: Served, rows: Rows, predicted: Predictions, reply: dict[str, Any]
) -> None:
    """Say which columns moved each prediction, or why that is not told."""
    reason = explained.why_not(rows, predicted)
    if reason:
        reply["notes"].append(reason)
        return
    reply["attributions"] = explained.attributions(served.trained, rows, predicted)


def _quality(served: Served, labels: Any, predicted: Predictions) -> dict[str, Any]:
    """Return the score of predictions with its interval, and the measure in its own unit."""
    value, low, high = interval(served.objective, labels, predicted)
    target = next(iter(kinds_of(served.schema_out)), "")
    return {
        "objective": served.objective,
        "value": value,
        "low": low,
        "high": high,
        "rows": len(labels),
        "measure": asdict(measured(served.objective, labels, predicted, target=target)),
    }


def _tell_training_rows(
    served: Served, rows: Rows, predicted: Predictions, reply: dict[str, Any]
) -> None:
    """Say how many rows the model learned from, and how good it is on the others: what is known by
    heart flatters.
    """
    if served.known is None or rows.labels is None:
        return
    if rows.absent:
        reply["notes"].append(_not_recognised(rows.absent[0]))
        return
    known = served.known.are_known(rows.table.columns, rows.labels)
    filled = known_rows.have_no_value(rows.table, rows.filled)
    if filled.any():
        reply["notes"].append(_not_recognised_where_empty(int(filled.sum()), rows.filled))
    if not known.any():
        return
    reply["quality"]["training_rows"] = int(known.sum())
    said = _known_by_heart(int(known.sum()), len(known))
    are_new = ~(known | filled)
    if are_new.any():
        others = _quality(served, rows.labels[are_new], predicted.of_rows(are_new))
        reply["quality"]["others"] = others
        said += f" {_on_the_others(others)}"
    reply["notes"].append(said)


def _not_recognised_where_empty(rows: int, columns: Sequence[str]) -> str:
    names = first_of(list(map("'{}'".format, columns)), _MOST_NAMES)
    return (
        f"Rows with an empty cell in {names}: {rows:,}. "
        "It cannot be told whether the model was trained on them. They count with no others."
    )


def _not_recognised(column: str) -> str:
    return (
        f"Without '{column}' it cannot be told which of these rows the model was trained on. "
        "Those that it was flatter it."
    )


def _known_by_heart(known: int, rows: int) -> str:
    if known > 1:
        are = "rows are rows that the model was trained on; they flatter it."
    elif rows > 1:
        are = "rows is a row that the model was trained on; it flatters the model."
    else:
        are = "row is a row that the model was trained on; it flatters the model."
    return f"{known:,} of {rows:,} {are}"


def _on_the_others(quality: dict[str, Any]) -> str:
    measure = Measure.model_validate(quality["measure"])
    interval = measures.interval(measure)
    between = f" ({interval})" if interval else ""
    where = "row" if quality["rows"] == 1 else f"{quality['rows']:,} rows"
    return f"On the other {where}: {measures.named(measure)}{between}."

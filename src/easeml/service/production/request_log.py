"""Requests and answers that are kept, where the owner of an endpoint wants it."""

import csv
import io
import random
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any

from pydantic_core import from_json

from easeml.contract.production import NewRequestLog, RequestLog
from easeml.data import bare_text, pictures_sent
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.store import Store, Tables, records
from easeml.store.records import Application, ProductionRow
from easeml.store.shapes import OtherAnswer

LARGEST = 4 * 2**20  # bytes of a request, or an answer, that is kept: ten thousand usual rows
_LARGEST_UNPACKED = 4 * LARGEST  # bytes of the pictures in a zip file
_PICTURE = "image"  # the column of pictures that come as files, as in data sets of them
_AT_ONCE = 1_000  # rows of a transaction: others may write between two
_DAY = 86_400.0
_NONE = Counter[str]()


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that was answered: bytes as they came and went, nothing was looked into."""

    request_id: str
    tenant_id: str
    application_id: str
    content_type: str
    body: bytes
    answer: bytes
    share: float = 0.0  # the chance that a model that is rolled out would answer
    failed: bool = False  # it was to, and could not


def set_log(store: Store, caller: Caller, application_id: str, wish: NewRequestLog) -> RequestLog:
    """Keep a share of the requests to an endpoint from now on, or none.

    Requests in JSON, CSV and pictures are kept, up to 4 MiB each. Raises ``NotFound``, and ``InvalidInput``
    for a column to be masked that the data has not. Repeated, it changes nothing.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        _check_columns(tables, application, wish.mask)
        changes = {"share": wish.share, "days": wish.days, "masked": wish.mask}
        log = records.RequestLog(application.id, caller.tenant_id, **changes)
        tables.request_logs.ensure(log)
        tables.request_logs.update(application.id, **changes)
        return show(tables, application)


def get_log(store: Store, caller: Caller, application_id: str) -> RequestLog:
    """Return what is kept of the requests to an endpoint; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tables, tables.applications.get(application_id))


def keeping(store: Store, application_ids: set[str]) -> set[str]:
    """Return which of these applications keep requests."""
    return set(_logs_of_keepers(store, application_ids))


def _logs_of_keepers(store: Store, application_ids: set[str]) -> dict[str, records.RequestLog]:
    """Return what those of these applications keep that keep requests, by their ids."""
    with store.read() as tx:
        logs = tx.unscoped().request_logs.by_id(id=sorted(application_ids))
    return {id: log for id, log in logs.items() if log.share > 0}


def keep(store: Store, seen: list[Seen], not_taken: Counter[str] = _NONE) -> None:
    """Keep the requests that are to be kept.

    ``not_taken``: how many were too long or too many, by application: of these, and of those that
    are not understood, a share is counted like the share that would have been kept.
    """
    asked = {one.application_id for one in seen} | not_taken.keys()
    logs = _logs_of_keepers(store, asked)
    missed = Counter[str]()
    failed = Counter[str]()
    rows = []
    for log in logs.values():
        missed[log.id] = _sampled(not_taken[log.id], log)
    for one in seen:
        log = logs.get(one.application_id)
        if log is None:
            continue
        failed[log.id] += one.failed
        if _sampled(1, log):
            readable = _readable_rows(one, frozenset(log.masked))
            rows += readable
            missed[log.id] += not readable
    for first in range(0, len(rows), _AT_ONCE):
        with store.write() as tx:
            tx.unscoped().production_rows.add_all(rows[first : first + _AT_ONCE])
    if missed.total() or failed.total():
        with store.write() as tx:
            tables = tx.unscoped()
            _add(tables, "missed", missed)
            _add(tables, "failed", failed)


def forget_old(store: Store) -> None:
    """Forget the requests, and what was said of them, that are older than their owners want."""
    with store.read() as tx:
        logs = tx.unscoped().request_logs.list(limit=None)
    for log in logs:
        with store.write() as tx:
            tables = tx.unscoped()
            too_old = tx.now() - log.days * _DAY
            tables.production_rows.forget(too_old, application_id=log.id)
            tables.feedback.forget(too_old, application_id=log.id)


def _sampled(number: int, log: records.RequestLog) -> int:
    """Return how many of so many requests are among the share that is to be kept."""
    return sum(random.random() < log.share for _ in range(number))  # noqa: S311 a sample


def _add(tables: Tables, name: str, numbers: Counter[str]) -> None:
    """Add to a number of each log."""
    for log_id, number in (+numbers).items():
        before = getattr(tables.request_logs.get(log_id), name)
        tables.request_logs.update(log_id, **{name: before + number})


def _readable_rows(seen: Seen, masked: frozenset[str]) -> list[ProductionRow]:
    """Return the rows of a request; none where it is not understood, so that others are kept."""
    try:
        return _rows(seen, masked)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        StopIteration,
        csv.Error,
        InvalidInput,
    ):
        return []


def _rows(seen: Seen, masked: frozenset[str]) -> list[ProductionRow]:
    """Return the rows of a request with what was answered; raises where it is not understood."""
    inputs, answer = _asked(seen), from_json(seen.answer)
    chances = answer.get("probabilities") or [None] * len(inputs)
    other = OtherAnswer(failed=True) if seen.failed else None
    found = []
    for number, (row, said, chance) in enumerate(
        zip(inputs, answer["predictions"], chances, strict=True)
    ):
        kept = ProductionRow(
            id=f"{seen.request_id}.{number:06}",
            tenant_id=seen.tenant_id,
            application_id=seen.application_id,
            request_id=seen.request_id,
            row=number,
            key=_key(row),
            model_id=answer["model_id"],
            inputs={name: value for name, value in row.items() if name not in masked},
            answer={"prediction": said, "probabilities": chance},
            share=seen.share,
            other=other,
        )
        found.append(kept)
    return found


def _asked(seen: Seen) -> list[dict[str, Any]]:
    """Return the rows of a request: in JSON, a table in CSV, whose cells are texts, or pictures."""
    if seen.content_type.startswith("application/json"):
        asked = from_json(seen.body)  # a third of json's time
        return asked["rows"] if isinstance(asked, dict) else asked
    if not seen.content_type.startswith("text/csv"):
        return _of_pictures(seen)
    text, delimiter, *_ = bare_text(seen.body, seen.request_id)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names = next(lines)
    return [_named(names, cells) for cells in lines if cells]


def _of_pictures(seen: Seen) -> list[dict[str, Any]]:
    """Return the pictures of a request as rows; their keys are the names of several files."""
    pictures = pictures_sent(seen.body, seen.content_type, _LARGEST_UNPACKED)
    are_named = len(pictures) > 1
    rows = []
    for name, content in pictures:
        row: dict[str, Any] = {_PICTURE: b64encode(content).decode()}
        if are_named:
            row["key"] = name
        rows.append(row)
    return rows


def _named(names: list[str], cells: list[str]) -> dict[str, Any]:
    """Return the cells of a line by column; an empty one is missing."""
    return {name: cell or None for name, cell in zip(names, cells, strict=True)}


def _key(row: dict[str, Any]) -> str:
    key = row.get("key")
    return "" if key is None else str(key)


def _check_columns(tables: Tables, application: Application, names: list[str]) -> None:
    version = tables.versions.get(application.version_id)
    known = version.columns_by_name
    unknown = list(filterfalse(known.__contains__, names))
    if known and unknown:  # without any the data is not ready
        raise InvalidInput(
            f"The data has no column {unknown[0]!r}.",
            where="mask",
            remedy=f"There are: {', '.join(sorted(known)[:20])}.",
        )


def show(tables: Tables, application: Application) -> RequestLog:
    """Return what is kept of the requests to an application."""
    log = tables.request_logs.find(id=application.id)
    if log is None:
        log = records.RequestLog(application.id, application.tenant_id, share=0.0, days=0.0)
    return RequestLog(
        application_id=application.id,
        share=log.share,
        days=log.days,
        mask=log.masked,
        rows=tables.production_rows.count(application_id=application.id),
        told=tables.feedback.count(application_id=application.id),
        missed=log.missed,
    )

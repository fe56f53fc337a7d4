"""Requests that were answered before an erasure, and written to the log after it.

What rows are known by is forgotten with them; of it only keyed hashes stay, for minutes.
"""

import secrets
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any

from easeml.contract.erasures import Erasure
from easeml.service.retention import erased_traces
from easeml.service.retention.erased_traces import Found
from easeml.store import Store
from easeml.store.records import Json, ProductionRow, Report

LATEST = 180.0
"""Seconds after which no request that was answered before can still be written: the log is written
every second, and its writer waits a minute for the database at most (``store.database``).
"""
_WATCH = "late"  # its key in the report


def watch(where: Mapping[str, str]) -> Json:
    """Return what goes into a report for ``remove``: what late rows are known by, as hashes."""
    salt = secrets.token_hex(16)
    return {_WATCH: {"salt": salt, "cells": _hashed(salt, where)}}


def remove(store: Store, kind: str) -> int:
    """Remove what was written after erasures; return how many rows.

    ``kind``: of their reports. Once it is sure that no more can come, the file of the database is cleaned too.
    """
    with store.read() as tx:
        reports = tx.unscoped().reports.list(kind=kind, limit=None)
    watched = [report for report in reports if _WATCH in report.value]
    removed = [_remove(store, report) for report in watched]
    if watched:
        store.clean()
    return sum(removed)


def _remove(store: Store, report: Report) -> int:
    """Remove what a report watches for; let it watch no more when that is over."""
    with store.write() as tx:
        tables = tx.scoped(report.tenant_id)
        value = tables.reports.get(report.id).value
        told = Erasure.model_validate(value)
        late = value[_WATCH]
        found = Found(
            report.subject, {}, tables.applications.list(dataset_id=report.subject, limit=None)
        )
        is_meant = partial(_is_late, late, told.when + LATEST)
        for application in found.applications:
            erased_traces.find_production(tables, application, is_meant, found, since=told.when)
        erased_traces.remove(tx, tables, found)
        told.production_rows += len(found.production_rows)
        told.told += len(found.feedback)
        is_over = tx.now() > told.when + LATEST
        changed = told.model_dump() | ({} if is_over else {_WATCH: late})
        if changed != value:
            tables.reports.update(report.id, value=changed)
    return len(found.production_rows)


def _is_late(late: Json, until: float, row: ProductionRow) -> bool:
    if row.created > until:
        return False  # it was asked since
    known = erased_traces.cells_of(row)
    wanted: Mapping[str, str] = late["cells"]
    if not wanted.keys() <= known.keys():
        return False
    return _hashed(late["salt"], {name: known[name] for name in wanted}) == wanted


def _hashed(salt: str, cells: Mapping[str, Any]) -> dict[str, str]:
    """Return keyed hashes of cells, by column; numbers are the same however they are written."""
    hashes = {}
    for column, cell in cells.items():
        text = str(cell).strip()
        with suppress(ValueError):
            text = repr(float(text))
        hashes[column] = blake2b(text.encode(), key=bytes.fromhex(salt), digest_size=16).hexdigest()
    return hashes

"""What pandas wrote about the columns of an Arrow table: their types there, kept along operations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_KEY = b"pandas"


def object_columns(table: pa.Table) -> list[str]:
    """Return the columns of text that were Python objects, and not pandas' type of text."""
    return [name for name, entry in _entries(table).items() if _was_object_text(entry)]


def _was_object_text(entry: Mapping[str, Any]) -> bool:
    was_object = entry.get("numpy_type") == "object"
    return was_object and entry.get("pandas_type") in ("unicode", "empty")


def without_type(table: pa.Table, name: str) -> pa.Table:
    """Forget what pandas wrote about a column, which now holds something else."""
    entries = _entries(table)
    entries.pop(name, None)
    return _with_entries(table, entries)


def with_types_of(table: pa.Table, other: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Take over what pandas wrote about columns of another table; ``names``: theirs, and here."""
    entries = _entries(table)
    for name, entry in _entries(other).items():
        if name in names:
            here = names[name]
            entries[here] = {**entry, "name": here, "field_name": here}
    return _with_entries(table, entries)


def _entries(table: pa.Table) -> dict[str, dict[str, Any]]:
    """Return what pandas wrote about each column that is there."""
    present = set(table.column_names)
    entries = {}
    for entry in _written(table).get("columns", ()):
        name = entry["field_name"]
        if name in present:
            entries[name] = entry
    return entries


def _written(table: pa.Table) -> dict[str, Any]:
    """Return all that pandas wrote about a table."""
    metadata = table.schema.metadata or {}
    return json.loads(metadata.get(_KEY, b"{}"))


def _with_entries(table: pa.Table, entries: Mapping[str, dict[str, Any]]) -> pa.Table:
    metadata = dict(table.schema.metadata or {})
    if _KEY not in metadata and not entries:
        return table
    written = {
        "index_columns": [],
        "column_indexes": [],
        **_written(table),
        "columns": list(entries.values()),
    }
    metadata[_KEY] = json.dumps(written).encode()
    return table.replace_schema_metadata(metadata)

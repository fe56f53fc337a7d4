"""Ingest: a table that takes the place of all rows of an application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    import pyarrow as pa

    from easeml.data import Declared
    from easeml.store import Tables
    from easeml.store.records import Task


class ReplaceSpec(Spec):
    """Ingest: rows that take the place of those of a version.

    Inputs ``version`` (folder) and ``source`` (file). Output ``version``. ``table``: as of an upload.
    """

    kind: Literal["ingest-replace"] = "ingest-replace"
    filename: str
    table: int | None = None


def replace_version(spec: ReplaceSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the rows of a file alone; return what ``declare_version`` does.

    Raises ``DatasetError``, naming every difference, for a table that is not the same one.
    """
    from easeml import data

    version = data.read_declared(inputs / "version")
    table = data.read_table(inputs / "source", spec.filename, table=spec.table)
    reports = data.infer_table(table, _target_of(version, table)).columns
    return version_made(data.replaced(version, table, reports, spec.filename), outputs)


def _target_of(version: Declared, table: pa.Table) -> str | None:
    """Return the target where the table has it; where not, the difference is told later."""
    return version.target if version.target in table.column_names else None


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before, and the file with the rows."""
    source = tables.versions.get(task.subject).source_artefact
    return {"version": parent_of(tables, task).artefact, "source": source}


KIND = kind_of_change(
    name="ingest-replace",
    title="Replace the data",
    about="Lets the rows of a file take the place of all rows of an application.",
    spec=ReplaceSpec,
    body=replace_version,
    inputs=inputs,
)

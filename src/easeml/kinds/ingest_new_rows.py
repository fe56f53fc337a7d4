"""Ingest: the rows that a data set has since it was fetched again join an application's data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    from easeml.store import Tables
    from easeml.store.records import Task


class NewRowsSpec(Spec):
    """Ingest: new rows of a data set join an application's data.

    Inputs ``version`` (folder), and the uploads that the application had last (``before``) and is
    to have (``table``). Output ``version``.
    """

    kind: Literal["ingest-new-rows"] = "ingest-new-rows"
    filename: str
    before_id: str
    upload_id: str


def add_new_rows(spec: NewRowsSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the new rows; return what ``declare_version`` does.

    Raises ``DatasetError``, naming every difference, for rows that do not fit.
    """
    from easeml import data

    version = data.read_declared(inputs / "version")
    before, _ = data.read_upload(inputs / "before")
    table, _ = data.read_upload(inputs / "table")
    return version_made(data.renewed(version, before, table, spec.filename), outputs)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before, and both uploads."""
    spec = NewRowsSpec.model_validate(task.payload)
    return {
        "version": parent_of(tables, task).artefact,
        "before": tables.versions.get(spec.before_id).artefact,
        "table": tables.versions.get(spec.upload_id).artefact,
    }


KIND = kind_of_change(
    name="ingest-new-rows",
    title="Add new rows of the source",
    about="Adds the rows that came since the data set was fetched before to an application's data.",
    spec=NewRowsSpec,
    body=add_new_rows,
    inputs=inputs,
)

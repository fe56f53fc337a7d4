"""Ingest: rows that a person's graph of steps made of a version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    from easeml.store import Tables
    from easeml.store.records import Task


class FlowSpec(Spec):
    """Ingest: rows that a flow gave.

    Inputs ``version`` (folder) and ``source`` (Parquet file), and ``before`` (folder), the version
    ``since`` that the file says the differences from. Output ``version``.
    """

    kind: Literal["ingest-flow"] = "ingest-flow"
    filename: str
    since: str = ""


def flow_version(spec: FlowSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the cells of a file; return what ``declare_version`` does.

    Raises ``DatasetError``, naming every difference, for rows that do not fit.
    """
    from easeml import data

    table = data.read_table(inputs / "source", spec.filename)
    version = data.read_declared(inputs / "version")
    since = data.read_declared(inputs / "before") if spec.since else None
    return version_made(data.pushed(version, table, spec.filename, since), outputs)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before, the file with the rows, and the version that these differ from."""
    since = FlowSpec.model_validate(task.payload).since
    source = tables.versions.get(task.subject).source_artefact
    before = {"before": tables.versions.get(since).artefact} if since else {}
    return {"version": parent_of(tables, task).artefact, "source": source, **before}


KIND = kind_of_change(
    name="ingest-flow",
    title="Take rows of a flow",
    about="Makes a version that has the rows as a person's graph of steps gave them.",
    spec=FlowSpec,
    body=flow_version,
    inputs=inputs,
)

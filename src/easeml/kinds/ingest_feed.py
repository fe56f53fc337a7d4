"""Ingest: rows that join a version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    import pyarrow as pa

    from easeml.data import Declared
    from easeml.store import Tables
    from easeml.store.records import Task


class FeedSpec(Spec):
    """Ingest: rows that join a version.

    Inputs ``version`` (folder) and ``source`` (file). Output ``version``. ``table``: as of an upload.
    ``learned``: the roles that rows of production are divided among, of a slice where ``where`` has
    its conditions; ``instead``: rows of before in the slice are set aside.
    """

    kind: Literal["ingest-feed"] = "ingest-feed"
    filename: str
    table: int | None = None
    role: str | None = None  # of all new rows; None: divided as the version was
    where: list[dict[str, Any]] = Field(default_factory=list)  # conditions of a slice: its rows
    anyway: bool = False  # rows that look broken join, too
    learned: list[str] = Field(default_factory=list)
    instead: bool = False


def feed_version(spec: FeedSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the rows of a file; return what ``declare_version`` does.

    Raises ``DatasetError``, naming every difference, for rows that do not fit, or look broken.
    """
    from easeml import data

    version = data.read_declared(inputs / "version")
    table = data.read_table(inputs / "source", spec.filename, table=spec.table)
    if spec.where or spec.learned:
        grown = _learned(spec, version, table)
    else:
        grown = data.feed(version, table, spec.filename, spec.role, anyway=spec.anyway)
    return version_made(grown, outputs)


def _learned(spec: FeedSpec, version: Declared, table: pa.Table) -> Declared:
    """Return the version with the rows of a slice, which are unlike others, and were seen."""
    from easeml import data
    from easeml.lifecycle.debugging import Slice

    slice_ = Slice.from_json(spec.where)
    # An endpoint answers rows with gaps, and some columns nobody sends it.
    rows = data.read_newer(table, version.schema_in, version.schema_out, fills=True)
    table = table.filter(slice_.holds(rows.inputs))
    table = data.with_usual_weight(table, version.weights)
    if not spec.learned:  # a task that an older easeml wrote
        return data.feed(version, table, spec.filename, spec.role, anyway=True)
    outdated = slice_.holds if spec.instead else None
    return data.learn_from(version, table, spec.filename, spec.learned, outdated)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before, and the file with the rows."""
    source = tables.versions.get(task.subject).source_artefact
    return {"version": parent_of(tables, task).artefact, "source": source}


KIND = kind_of_change(
    name="ingest-feed",
    title="Add rows",
    about="Adds the rows of a file to the data of an application.",
    spec=FeedSpec,
    body=feed_version,
    inputs=inputs,
)

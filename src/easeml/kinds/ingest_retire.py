"""Ingest: worn-out test rows that become train rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    from easeml.store import Tables
    from easeml.store.records import Task


class RetireSpec(Spec):
    """Ingest: the first ``rows`` test rows learn from now on, and rows whose ``labels``, by id, a
    gate had bought.

    Input ``version``. Output ``version``.
    """

    kind: Literal["ingest-retire"] = "ingest-retire"
    rows: int = Field(ge=0)
    labels: dict[str, str] = Field(default_factory=dict)


def retire_rows(spec: RetireSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` without the worn-out test rows; return what ``declare_version``
    does.
    """
    from easeml import data

    labels = {int(row): value for row, value in spec.labels.items()}
    version = data.read_declared(inputs / "version")
    return version_made(data.retire(version, spec.rows, labels), outputs)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before."""
    return {"version": parent_of(tables, task).artefact}


KIND = kind_of_change(
    name="ingest-retire",
    title="Retire test rows",
    about="Makes a version in which worn-out test rows are training rows.",
    spec=RetireSpec,
    body=retire_rows,
    inputs=inputs,
)

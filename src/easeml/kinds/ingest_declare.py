"""Ingest: apply a declaration to an uploaded table, and give every row a role."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import (
    VERSION_OUTPUTS,
    VERSION_VALUES,
    parent_of,
    version_failed,
    version_made,
    version_ready,
)
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from easeml.store import Tables
    from easeml.store.records import Task


class DeclareSpec(Spec):
    """Ingest: apply the user's declaration to an uploaded table and give every row a role.

    Input ``table``: the folder written by the upload. Output ``version``: a folder with one Arrow
    file a role.
    """

    kind: Literal["ingest-declare"] = "ingest-declare"
    target: str | None = None  # None: the proposed one
    set: dict[str, str] = Field(default_factory=dict)  # column -> type
    drop: list[str] = Field(default_factory=list)  # besides what is proposed for dropping
    keep: list[str] = Field(default_factory=list)  # although proposed for dropping
    seed: int = 0
    split: str = "random"  # or time:COLUMN, group:COLUMN, given:COLUMN
    weight: str | None = None  # the column that says how much each row counts
    together: list[str] = Field(default_factory=list)  # that are one answer with the target
    series: list[str] | None = None  # the columns that tell apart series that are forecast
    past_only: list[str] = Field(default_factory=list)  # and those that are not known ahead


def declare_version(spec: DeclareSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version``, one Arrow file a role; return ``{columns, schema_in, schema_out,
    summary}``.

    ``summary``: rows in all and by role, target, seed, notes. Raises ``DatasetError`` for what
    cannot be declared.
    """
    from easeml import data

    table, reports = data.read_upload(inputs / "table")
    declared = data.declare(
        table,
        reports,
        spec.target,
        spec.set,
        spec.drop,
        spec.keep,
        spec.seed,
        spec.split,
        spec.weight,
        spec.series,
        spec.together,
        spec.past_only,
    )
    return version_made(declared, outputs)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The uploaded table."""
    return {"table": parent_of(tables, task).artefact}


KIND = Kind(
    name="ingest-declare",
    title="Prepare the data",
    about="Applies the declared types and divides the rows into training, validation and test.",
    spec=DeclareSpec,
    body=declare_version,
    inputs=inputs,
    record=version_ready,
    failed=version_failed,
    group="ingest",
    outputs=VERSION_OUTPUTS,
    values=VERSION_VALUES,
    seconds=INGEST_SECONDS,
)

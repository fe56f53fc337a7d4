"""Ingest: train rows that are switched off or on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made

if TYPE_CHECKING:
    from easeml.store import Tables
    from easeml.store.records import Task


class RefineSpec(Spec):
    """Ingest: train rows that are switched off or on, by id.

    Input ``version``. Output ``version``.
    """

    kind: Literal["ingest-refine"] = "ingest-refine"
    off: list[int] = Field(default_factory=list)
    on: list[int] = Field(default_factory=list)


def refine_version(spec: RefineSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with train rows switched off or on; return what ``declare_version``
    does.
    """
    from easeml import data

    return version_made(
        data.refine(data.read_declared(inputs / "version"), spec.off, spec.on), outputs
    )


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before."""
    return {"version": parent_of(tables, task).artefact}


KIND = kind_of_change(
    name="ingest-refine",
    title="Switch rows off or on",
    about="Makes a version in which other training rows count.",
    spec=RefineSpec,
    body=refine_version,
    inputs=inputs,
)

"""Ingest: what people answered about rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.versions import kind_of_change, parent_of, version_made, version_taken_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class AnswersSpec(Spec):
    """Ingest: what people answered. ``labels``: by row id; ``cells``: row, column and value.

    Input ``version``. Output ``version``.
    """

    kind: Literal["ingest-answers"] = "ingest-answers"
    labels: dict[str, str] = Field(default_factory=dict)
    cells: list[dict[str, Any]] = Field(default_factory=list)


def answer_version(spec: AnswersSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``version`` with the answers; return what ``declare_version`` does."""
    from easeml import data

    labels = {int(row): value for row, value in spec.labels.items()}
    cells = [(int(one["row"]), one["column"], one["value"]) for one in spec.cells]
    version = data.read_declared(inputs / "version")
    return version_made(data.answered(version, labels, cells), outputs)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version before."""
    return {"version": parent_of(tables, task).artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Let the application go on with the version, and look again for what to ask."""
    from easeml.service.work import finding

    version_taken_over(tx, task, result, digests)
    tables = tx.scoped(task.tenant_id)
    for application in tables.applications.list(version_id=task.subject, limit=None):
        finding.go_on(tx, application)


KIND = kind_of_change(
    name="ingest-answers",
    title="Use answers of people",
    about="Makes a version that has the labels and cells that people answered.",
    spec=AnswersSpec,
    body=answer_version,
    inputs=inputs,
    record=record,
)

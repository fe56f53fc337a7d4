"""Advise: what people should be asked about the rows of an application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class FindWorkSpec(Spec):
    """Advise: items for people, about the version that is the task's subject.

    Inputs ``version``; ``model``, where ``model_id`` names what serves; ``scores``, where that is
    the digest of what ``label-errors`` said of train rows.
    """

    kind: Literal["find-work"] = "find-work"
    application_id: str
    model_id: str = ""
    scores: str = ""


def find_work(spec: FindWorkSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{items}``, each as ``service.work.finding.Proposed``."""
    from easeml import data
    from easeml.kinds.shared import work_items

    version = data.read_declared(inputs / "version")
    predict = None
    if spec.model_id:
        from easeml.modules.ensemble import load_model

        predict = load_model(inputs / "model").predict
    items = work_items.of_pool(version, predict)
    if spec.scores:
        items += work_items.of_labels(version, inputs / "scores")
    return TaskResult(ok=True, value={"items": items})


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version, the model that serves, and what was said of its rows."""
    spec = FindWorkSpec.model_validate(task.payload)
    found = {"version": tables.versions.get(task.subject).artefact}
    if spec.model_id:
        found["model"] = tables.models.get(spec.model_id).artefact
    if spec.scores:
        found["scores"] = spec.scores
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the items."""
    from easeml.service.work import finding

    finding.record(tx, task, result.value["items"])


KIND = Kind(
    name="find-work",
    title="Look for work for people",
    about="Finds the rows of which an answer of a person would tell most.",
    spec=FindWorkSpec,
    body=find_work,
    inputs=inputs,
    record=record,
    group="advise",
    values=("items",),
)

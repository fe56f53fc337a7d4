"""Advise: what people should be asked about the rows of an application."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import DatasetVersion, Task


class FindWorkSpec(Spec):
    """Advise: items for people, about the version that is the task's subject.

    Inputs ``version``; ``upload``, where it was made of one; ``model``, where ``model_id`` names
    what serves; ``scores``, where that is the digest of what ``label-errors`` said of train rows;
    ``doubts``, where that is the digest of the candidates of cells. Without, they are looked for,
    and output ``doubts`` has them.
    ``answered``: what people answered so far, each as ``service.work.finding.AnsweredItem``.
    ``code``: of the order that is kept, so that other code looks again. With ``report``, the digest
    of an answer (input ``report``), only what its remedy number ``remedy`` asks. ``of_test``: may
    people be asked about test rows? ``forecasts``: does the target follow its own past?
    """

    kind: Literal["find-work"] = "find-work"
    application_id: str
    model_id: str = ""
    scores: str = ""
    doubts: str = ""
    answered: list[dict[str, Any]] = Field(default_factory=list)
    code: int = 0
    report: str = ""
    remedy: int = 0
    of_test: bool = False
    forecasts: bool = False


def find_work(spec: FindWorkSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{items}``, each as ``service.work.finding.Proposed``.

    Output ``order``, where there is one: what is kept so that it can follow answers.
    """
    from easeml import data
    from easeml.kinds.shared import remedy_items, work_items
    from easeml.lifecycle import questions
    from easeml.relation import Relation

    version = data.read_declared(inputs / "version")
    names = work_items.names_of_rows(version, inputs / "upload")
    predict = None
    if spec.model_id:
        from easeml.modules.ensemble import load_model

        predict = load_model(inputs / "model").predict
    if spec.report:
        told = json.loads((inputs / "report").read_text("utf-8"))["remedies"][spec.remedy]
        items = remedy_items.of_remedy(version, told, predict, names)
        return TaskResult(ok=True, value={"items": items})
    brought = []
    if spec.doubts:
        doubts = Relation.load(inputs / "doubts" / work_items.RELATION)
    else:
        doubts = work_items.doubts_of(version)
        if doubts is not None:
            work_items.write_doubts(outputs / "doubts", doubts)
            brought = ["doubts"]
    scores = inputs / "scores" if spec.scores else None
    items, order = work_items.items_of(
        version,
        doubts,
        predict,
        scores,
        spec.answered,
        names,
        asks_of_judges=not spec.forecasts,
        asks_of_test=spec.of_test,
    )
    if order is not None:
        (outputs / "order").write_bytes(questions.written(order))
        brought.append("order")
    return TaskResult(ok=True, value={"items": items}, outputs=brought)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version, its upload, the model that serves, and what was said of its rows and cells."""
    from easeml.store.shapes import OperationName

    spec = FindWorkSpec.model_validate(task.payload)
    version = tables.versions.get(task.subject)
    found = {"version": version.artefact}
    upload = _upload_of(tables, version)
    if upload.operation.name == OperationName.UPLOAD:
        found["upload"] = upload.artefact
    if spec.model_id:
        found["model"] = tables.models.get(spec.model_id).artefact
    digests = {"scores": spec.scores, "doubts": spec.doubts, "report": spec.report}
    for name, digest in digests.items():
        if digest:
            found[name] = digest
    return found


def _upload_of(tables: Tables, version: DatasetVersion) -> DatasetVersion:
    """Return what a version was made of in the beginning."""
    while version.parents:
        version = tables.versions.get(version.parents[0])
    return version


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the items with their order, and the doubts with the version."""
    from easeml.service.work import finding

    finding.record(tx, task, result.value["items"], digests)


KIND = Kind(
    name="find-work",
    title="Look for work for people",
    about="Finds doubtful cells and labels, and what an answer of a person would bring.",
    spec=FindWorkSpec,
    body=find_work,
    inputs=inputs,
    record=record,
    group="advise",
    values=("items",),
)

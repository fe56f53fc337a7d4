"""Advise: the qualities of trained models by an objective that was added later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import read_predictions
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class MeasureSpec(Spec):
    """Advise: the qualities of trained models by an objective that was added later.

    ``models``: their ids. Inputs ``version``, and ``predictions-0`` ... of the models, in order.
    """

    kind: Literal["measure"] = "measure"
    objective: str
    models: list[str]


def measure(spec: MeasureSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{qualities}``, by id of the model: on the validation rows. Writes no output."""
    from easeml.data import read_version
    from easeml.modules import score

    version = read_version(inputs / "version")
    answers = version.validation.set_index("_row")[version.target]
    qualities = {}
    for place, model_id in enumerate(spec.models):
        rows, predictions = read_predictions(inputs / f"predictions-{place}", "validation")
        qualities[model_id] = score(spec.objective, answers.loc[rows].to_numpy(), predictions)
    return TaskResult(ok=True, value={"qualities": qualities})


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from, and what the models predicted."""
    found = {"version": version_of_job(tables, task.job_id)}
    for place, model_id in enumerate(MeasureSpec.model_validate(task.payload).models):
        found[f"predictions-{place}"] = tables.models.get(model_id).predictions
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the qualities with the models."""
    from easeml.service.modules import measuring

    measuring.record(tx, task, result.value["qualities"])


KIND = Kind(
    name="measure",
    title="Measure by a new objective",
    about="Scores what trained models predicted of validation rows by an objective that was added.",
    group="advise",
    spec=MeasureSpec,
    body=measure,
    inputs=inputs,
    record=record,
    values=("qualities",),
)

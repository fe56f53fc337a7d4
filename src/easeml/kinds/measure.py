"""Advise: trained models are measured by more than what was known when they were trained."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import InvalidInput
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.judged import read_judging
from easeml.kinds.shared.qualities import further_of
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.modules import Predictions
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_OF_MODELS = "noisy("  # measures that ask the model again


class MeasureSpec(Spec):
    """Advise: trained models by an objective that was added later, or by what their owner asks.

    ``models``: their ids. ``objective``: that was added, or else that of their application.
    ``measures``: what is asked, as of ``easeml.modules.further_measures``; none: the objective.
    Inputs ``version``, and ``predictions-0`` ... of the models, in order; ``model-0`` ... as well
    where a measure needs them.
    """

    kind: Literal["measure"] = "measure"
    objective: str
    models: list[str]
    measures: list[str] = Field(default_factory=list)


def measure(spec: MeasureSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{qualities, measures}``, by id of the model: on the validation rows.

    ``measures``: of each model by name, in their own units. Writes no output.
    """
    from easeml.data import read_version
    from easeml.modules import score

    version = read_version(inputs / "version")
    qualities = {}
    measures: dict[str, Any] = {}
    notes: list[str] = []
    for place, model_id in enumerate(spec.models):
        rows, predictions = read_judging(inputs / f"predictions-{place}", version)
        if not spec.measures:
            actual, weights = rows[version.target], weights_of(version, rows["_row"])
            qualities[model_id] = score(spec.objective, actual, predictions, weights)
            continue
        measures[model_id], said = further_of(
            spec.measures,
            spec.objective,
            version,
            rows,
            predictions,
            partial(_predicted, inputs / f"model-{place}"),
        )
        notes += said
    if spec.measures and not any(measures.values()):
        raise InvalidInput(" ".join(dict.fromkeys(notes)))
    value = {"qualities": qualities, "measures": measures}
    return TaskResult(ok=True, value=value, notes=list(dict.fromkeys(notes)))


def _predicted(folder: Path, rows: pd.DataFrame) -> Predictions:
    """Return what a model says of rows; it is loaded only if it is asked."""
    from easeml.modules.ensemble import load_model

    return load_model(folder).predict(rows)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from, and what the models predicted."""
    found = {"version": version_of_job(tables, task.job_id)}
    spec = MeasureSpec.model_validate(task.payload)
    asks_models = any(name.startswith(_OF_MODELS) for name in spec.measures)
    for place, model_id in enumerate(spec.models):
        model = tables.models.get(model_id)
        found[f"predictions-{place}"] = model.predictions
        if asks_models:
            found[f"model-{place}"] = model.artefact
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep qualities and measures with the models."""
    from easeml.service.models import measuring

    measuring.record(tx, task, result.value["qualities"], result.value["measures"])


KIND = Kind(
    name="measure",
    title="Measure trained models",
    about="Measures what trained models predicted of validation rows by what was asked later.",
    group="advise",
    spec=MeasureSpec,
    body=measure,
    inputs=inputs,
    record=record,
    values=("qualities",),
)

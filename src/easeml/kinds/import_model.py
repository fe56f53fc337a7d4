"""Import: a model that was trained elsewhere, checked and judged as those of a search."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import ROLES, write_predictions
from easeml.kinds.shared.qualities import latency_of, qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_SECONDS = 300.0


class ImportModelSpec(Spec):
    """Import: read a model's file, predict validation and test rows, evaluate on validation rows.

    Inputs ``version``, the declared folder, and ``source``, the file (an artefact with the digest
    ``source``). Outputs as of training: ``model``, ``predictions``, ``evaluation``.
    """

    kind: Literal["import-model"] = "import-model"
    name: str
    filename: str
    source: str
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    starts_programs: bool = True  # one reads pickles
    measures: list[str] = Field(default_factory=list)


def import_model(spec: ImportModelSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write outputs ``model``, ``predictions`` and ``evaluation``; return what training returns
    (``kinds.train``).

    Raises ``InvalidInput`` for a file that is no model of this application.
    """
    from easeml.data import read_version
    from easeml.modules import conformal
    from easeml.modules.guard import fault_of
    from easeml.modules.imported import convert, predictions_of
    from easeml.modules.pipeline import load_trained, save

    started = time.perf_counter()
    version = read_version(inputs / "version")
    schemas = spec.schema_in, spec.schema_out
    trained = convert(
        inputs / "source",
        spec.filename,
        version.train,
        schemas,
        spec.objective,
    )
    frames = {role: getattr(version, role) for role in ROLES}
    predictions = {role: predictions_of(trained, rows, role) for role, rows in frames.items()}
    seconds = time.perf_counter() - started
    row_ids = {role: frame["_row"] for role, frame in frames.items()}
    write_predictions(outputs / "predictions", row_ids, predictions)

    target = version.target
    rows = frames["validation"]
    unseen = predictions["validation"]
    weights = weights_of(version, rows["_row"])
    found, unmeasured = qualities_of(spec, version, rows, unseen, trained.predict)
    write_evaluation(outputs / "evaluation", version, rows, unseen)

    folder = outputs / "model"
    save(
        trained,
        folder,
        quality=found["quality"],
        objective=spec.objective,
        interval=conformal.describe(rows[target], unseen, weights),
    )
    load_trained(folder).check_parity()
    learnt_weights = weights_of(version, version.train["_row"])
    fault = fault_of(version.train[target], rows[target], unseen, learnt_weights, weights)
    value = {
        **found,
        "name": spec.name,
        "seconds": seconds,
        "latency": latency_of(trained, rows),
    }
    doubts = [fault] if fault else []
    return TaskResult(
        ok=True,
        value=value,
        outputs=["model", "predictions", "evaluation"],
        notes=[*trained.notes, *doubts, *unmeasured],
    )


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from, and the file."""
    spec = ImportModelSpec.model_validate(task.payload)
    return {"version": version_of_job(tables, task.job_id), "source": spec.source}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep it as a trained model of the application."""
    from easeml.service.models import importing

    importing.record(tx, task, result, digests)


def called(payload: Mapping[str, Any]) -> str:
    """The name of the model."""
    return str(payload["name"])


KIND = Kind(
    name="import-model",
    title="Import a model",
    about="Checks a model that was trained elsewhere, and measures it on the validation rows.",
    group="advise",
    spec=ImportModelSpec,
    body=import_model,
    inputs=inputs,
    record=record,
    outputs=("model", "predictions", "evaluation"),
    values=("quality",),
    seconds=_SECONDS,
    called=called,
)

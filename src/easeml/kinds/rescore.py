"""Advise: the quality of a trained model on the validation rows of a newer version."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class RescoreSpec(Spec):
    """Advise: the quality of a trained model on the validation rows of a newer version.

    Inputs ``model`` (folder) and ``version``, the folder of version ``version_id``.
    """

    kind: Literal["rescore"] = "rescore"
    objective: str
    version_id: str


def score_again(spec: RescoreSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{quality, measure, rows}``: of the trained model, on the validation rows of the
    version. ``measure``: in its own unit, an ``easeml.modules.Measured``.

    Writes no output.
    """
    from easeml.data import read_version
    from easeml.modules import measured, score
    from easeml.modules.ensemble import load_model

    version = read_version(inputs / "version")
    rows = version.validation
    predictions = load_model(inputs / "model").predict(rows)
    answers, weights = rows[version.target], weights_of(version, rows["_row"])
    quality = score(spec.objective, answers, predictions, weights)
    found = measured(
        spec.objective, answers, predictions, weights, resamples=0, target=version.target
    )
    measure = asdict(found)
    return TaskResult(ok=True, value={"quality": quality, "measure": measure, "rows": len(rows)})


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The model, and the newer version."""
    version = tables.versions.get(RescoreSpec.model_validate(task.payload).version_id)
    return {"model": tables.models.get(task.subject).artefact, "version": version.artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the quality."""
    from easeml.service.advice import rescoring

    rescoring.record(tx, task, float(result.value["quality"]), result.value.get("measure"))


def failed(tx: Transaction, task: Task) -> None:
    """Keep that the model could not be scored."""
    from easeml.service.advice import rescoring

    rescoring.record(tx, task, None)


KIND = Kind(
    name="rescore",
    title="Score on new data",
    about="Scores the live model on the validation rows that new data brought.",
    group="advise",
    spec=RescoreSpec,
    body=score_again,
    inputs=inputs,
    record=record,
    failed=failed,
    values=("quality",),
)

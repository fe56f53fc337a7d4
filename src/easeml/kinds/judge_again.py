"""Advise: trained models are judged by another objective, by what they predicted."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.judged import by_role, held_out_of, read_judging
from easeml.kinds.shared.predictions import read_predictions, write_predictions
from easeml.kinds.shared.qualities import qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.modules import Predictions
    from easeml.modules.target import Target
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_SECONDS = 900.0
FILES = ("model", "predictions", "evaluation")


class JudgeAgainSpec(Spec):
    """Advise: what trained models are by another objective, without training them again.

    ``models``: their ids; ``measures``: beside the objectives that fit. Inputs ``version``, the
    declared folder, and ``model-0``, ``predictions-0`` ... of the models, in order. Outputs
    ``model-0``, ``predictions-0``, ``evaluation-0`` of those that say other labels now.
    """

    kind: Literal["judge-again"] = "judge-again"
    objective: str
    schema_out: dict[str, Any]
    models: list[str]
    measures: list[str] = Field(default_factory=list)


def judge_again(spec: JudgeAgainSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{judged}``: by id of the model, what ``qualities_of`` finds, and ``notes``.

    Labels are chosen for the objective as training would choose them.
    """
    from easeml.data import read_version
    from easeml.modules.target import Target

    version = read_version(inputs / "version")
    counts = weights_of(version, version.train["_row"])
    target = Target.learn(version.train, spec.schema_out).deciding_for(spec.objective, counts)
    judged: dict[str, Any] = {}
    written: list[str] = []
    for place, model_id in enumerate(spec.models):
        found, changed = _judged(spec, version, target, inputs, outputs, place)
        judged[model_id] = found
        if changed:
            written += outputs_of(place)
    return TaskResult(ok=True, value={"judged": judged}, outputs=written)


def outputs_of(place: int) -> list[str]:
    """Return the names of the outputs for the model in this place."""
    return [f"{name}-{place}" for name in FILES]


def _judged(
    spec: JudgeAgainSpec, version: Any, target: Target, inputs: Path, outputs: Path, place: int
) -> tuple[dict[str, Any], bool]:
    """Return what a model is found to be, and whether it says other labels now."""
    from easeml.modules import thresholds
    from easeml.modules.judged_again import decided_again, is_decided_alike, notes_again, rewrite

    model = inputs / f"model-{place}"
    rows, before = read_judging(inputs / f"predictions-{place}", version)
    counts = weights_of(version, rows["_row"])
    decided = decided_again(before, target)
    choice, unseen = thresholds.told_by(spec.objective, rows[version.target], decided, counts)
    target = target.choosing(choice)
    frames, said = by_role(version, rows, unseen)
    predict = partial(_predicted, model, target)
    found, notes = qualities_of(spec, version, rows, unseen, predict)
    found |= held_out_of(spec.objective, version, frames, said)
    found["thresholds"] = choice and choice.thresholds
    found["notes"] = notes_again(notes, target)
    if is_decided_alike(before, unseen):
        return found, False

    row_ids = {role: frame["_row"] for role, frame in frames.items()}
    row_ids["test"], test = read_predictions(inputs / f"predictions-{place}", "test")
    said["test"] = decided_again(test, target)
    folder, predictions, evaluation = (outputs / name for name in outputs_of(place))
    shutil.copytree(model, folder)
    rewrite(folder, target, objective=spec.objective, quality=found["quality"])
    write_predictions(predictions, row_ids, said)
    write_evaluation(evaluation, version, rows, unseen)
    return found, True


def _predicted(folder: Path, target: Target, rows: pd.DataFrame) -> Predictions:
    """Return what a model says of rows; it is loaded only if it is asked."""
    from easeml.modules.ensemble import load_model
    from easeml.modules.judged_again import decided_again

    return decided_again(load_model(folder).predict(rows), target)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from, the models, and what they predicted."""
    found = {"version": version_of_job(tables, task.job_id)}
    spec = JudgeAgainSpec.model_validate(task.payload)
    models = tables.models.by_id(id=spec.models)
    for place, model_id in enumerate(spec.models):
        found[f"model-{place}"] = models[model_id].artefact
        found[f"predictions-{place}"] = models[model_id].predictions
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Give the search the results, as if it had trained these models."""
    from easeml.service.search import kept_results

    kept_results.record(tx, task, result.value["judged"], _files(task, digests))


def _files(task: Task, digests: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the digests of what was written anew, by model and by what it is."""
    found = {}
    for place, model_id in enumerate(JudgeAgainSpec.model_validate(task.payload).models):
        names: Iterable[tuple[str, str]] = zip(FILES, outputs_of(place), strict=True)
        files = {name: digests[output] for name, output in names if output in digests}
        if files:
            found[model_id] = files
    return found


KIND = Kind(
    name="judge-again",
    title="Judge by another objective",
    about="Judges the models that there are by another objective, by what they predicted.",
    group="advise",
    spec=JudgeAgainSpec,
    body=judge_again,
    inputs=inputs,
    record=record,
    values=("judged",),
    seconds=_SECONDS,
)

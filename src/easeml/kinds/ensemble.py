"""Ensemble: the models of a search that together predict best, kept and served as one."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, Field

from easeml.contract.states import Lane
from easeml.contract.tasks import MOST_MEMBERS, Spec, TaskResult
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.judged import by_role, held_out_of, read_judging
from easeml.kinds.shared.predictions import read_predictions, write_predictions
from easeml.kinds.shared.qualities import latency_of, qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.data import VersionTables
    from easeml.modules import Predictions
    from easeml.modules.pipeline import TrainedPipeline
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class MayJoin(BaseModel):
    """A model that may be a member. ``latency``: its seconds to predict one row; ``size``: in bytes."""

    model_id: str
    name: str
    latency: float
    size: int = 0


class EnsembleSpec(Spec):
    """Ensemble: choose models by what they predicted of validation rows, and put them together.

    ``latency``: the seconds that the ensemble may take to predict one row, ``size``: the bytes of
    its files; None: any. ``monotonic``: what its members were held to. ``measures``: what it is
    measured by beside the objectives that fit.

    Inputs ``version``, the declared folder, and for model i ``model-i``, its folder, and
    ``predictions-i``. Outputs as of training: ``model``, ``predictions``, ``evaluation``.
    """

    kind: Literal["ensemble"] = "ensemble"
    models: list[MayJoin]
    trained: int  # how many models the search had
    name: str
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    latency: float | None = None
    size: int | None = None
    monotonic: dict[str, str] = Field(default_factory=dict)
    measures: list[str] = Field(default_factory=list)
    seed: int = 0


def ensemble(spec: EnsembleSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write outputs ``model``, ``predictions`` and ``evaluation``; return what training returns
    (``kinds.train``), ``members``: id, name and weight of each, and ``gain``.

    The quality, the interval and the evaluation are of validation rows that were predicted with
    weights which other validation rows chose; ``gain`` is over the model that these others choose.
    """
    from easeml.data import read_version
    from easeml.modules import calibration, conformal, known_rows, row_order, score, thresholds
    from easeml.modules.ensemble import TrainedEnsemble, combined, seal
    from easeml.modules.selection import choose
    from easeml.modules.suspicion import suspicions

    started = time.perf_counter()
    version = read_version(inputs / "version")
    target = version.target
    rows, judged = _judged(spec, inputs, version)
    actual = rows[target]
    counts = weights_of(version, rows["_row"])
    choice = choose(spec.objective, actual, judged, partial(_may_join, spec), spec.seed, counts)
    places = np.flatnonzero(choice.weights).tolist()
    weights = choice.weights[places].tolist()
    of_test = _of_test(spec, inputs, version)
    temperature, unseen = calibration.calibrated(actual, choice.unseen, counts)
    of_labels, unseen = thresholds.told_by(spec.objective, actual, unseen, counts)
    _, best = thresholds.told_by(spec.objective, actual, choice.best, counts)
    frames, predictions = by_role(version, rows, unseen)
    frames["test"] = version.test
    of_members = combined([of_test[place] for place in places], weights)
    of_all = calibration.at(of_members, temperature)
    predictions["test"] = thresholds.decided_by(of_all, of_labels)
    row_ids = {role: frame["_row"] for role, frame in frames.items()}
    write_predictions(outputs / "predictions", row_ids, predictions)
    write_evaluation(outputs / "evaluation", version, rows, unseen)

    folder = outputs / "model"
    members = _members(inputs, folder, places)
    trained = TrainedEnsemble(members, tuple(weights), temperature=temperature, choice=of_labels)
    found, unmeasured = qualities_of(spec, version, rows, unseen, trained.predict)
    gain = found["quality"] - score(spec.objective, actual, best, counts)
    seal(
        trained,
        folder,
        version.train,
        quality=found["quality"],
        objective=spec.objective,
        interval=conformal.describe(actual, unseen, counts, trained.past),
        order=row_order.describe(version.train, version),
    )
    known_rows.write(folder, version.train, target, trained.schema_in)
    told = []
    for place, weight in zip(places, weights, strict=True):
        one = spec.models[place]
        told.append({"model_id": one.model_id, "name": one.name, "weight": weight})
    value = {
        **found,
        **held_out_of(spec.objective, version, frames, predictions),
        "name": spec.name,
        "seconds": time.perf_counter() - started,
        "latency": latency_of(trained, rows),
        "members": told,
        "gain": gain,
        "temperature": temperature,
        "thresholds": of_labels and of_labels.thresholds,
    }
    return TaskResult(
        ok=True,
        value=value,
        outputs=["model", "predictions", "evaluation"],
        notes=[*trained.notes, *suspicions(actual, unseen), *unmeasured],
    )


def _may_join(spec: EnsembleSpec, places: Sequence[int]) -> bool:
    """Whether models may be members together: few enough, and quick and small enough."""
    members = [spec.models[place] for place in places]
    return (
        len(members) <= MOST_MEMBERS  # more cost latency and disk, and bring little
        and _are_within(spec.size, (one.size for one in members))
        and _are_within(spec.latency, (one.latency for one in members))
    )


def _are_within(limit: float | None, parts: Iterable[float]) -> bool:
    return limit is None or sum(parts) <= limit


def _judged(
    spec: EnsembleSpec, inputs: Path, version: VersionTables
) -> tuple[pd.DataFrame, list[Predictions]]:
    """Return the rows that judge the models, and what each said of them, in that order."""
    files = [inputs / f"predictions-{place}" for place in range(len(spec.models))]
    found = [read_judging(file, version) for file in files]
    rows, _ = found[0]
    return rows, [_in_order(one["_row"], said, rows["_row"]) for one, said in found]


def _of_test(spec: EnsembleSpec, inputs: Path, version: VersionTables) -> list[Predictions]:
    """Return what each model predicted of the test rows, in their order."""
    found = []
    for place in range(len(spec.models)):
        ids, said = read_predictions(inputs / f"predictions-{place}", "test")
        found.append(_in_order(ids, said, version.test["_row"]))
    return found


def _in_order(ids: Any, said: Predictions, wanted: Any) -> Predictions:
    """Return what was said of rows with these ids, in the order of the ``wanted`` ones."""
    ids = np.asarray(ids)
    order = np.argsort(ids)
    return said.of_rows(order[np.searchsorted(ids[order], np.asarray(wanted))])


def _members(inputs: Path, folder: Path, places: Sequence[int]) -> tuple[TrainedPipeline, ...]:
    """Copy the members into the folder of the ensemble, and load them from there.

    Files of equal content are kept once in the artefact store, so a copy takes no room there.
    """
    from easeml.modules.ensemble import member_folder
    from easeml.modules.pipeline import load_trained

    members = []
    for number, place in enumerate(places):
        mine = member_folder(folder, number)
        shutil.copytree(inputs / f"model-{place}", mine)
        members.append(load_trained(mine))
    return tuple(members)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from, and files and predictions of the models."""
    found = {"version": version_of_job(tables, task.job_id)}
    spec = EnsembleSpec.model_validate(task.payload)
    for place, one in enumerate(spec.models):
        model = tables.models.get(one.model_id)
        found[f"model-{place}"] = model.artefact
        found[f"predictions-{place}"] = model.predictions
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the ensemble as a trained model of its search."""
    from easeml.service.models import ensembling

    ensembling.record(tx, task, result, digests)


def called(payload: Mapping[str, Any]) -> str:
    """The name of the ensemble."""
    return str(payload["name"])


KIND = Kind(
    name="ensemble",
    title="Put models together",
    about="Chooses the models of a search that together predict best, and keeps them as one.",
    group="advise",
    lane=Lane.SEARCH,
    spec=EnsembleSpec,
    body=ensemble,
    inputs=inputs,
    record=record,
    outputs=("model", "predictions", "evaluation"),
    values=("quality", "gain"),
    called=called,
)

"""Train: fit a candidate on the train rows, predict the others, evaluate on the validation rows."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.evaluation import CurvePoint
from easeml.contract.states import Lane
from easeml.contract.tasks import Pipeline, Spec, TaskResult, checkpoint_of
from easeml.kinds.shared.first_results import keep_first, put_whole
from easeml.kinds.shared.histories import history_of
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.judged import BY_FOLDS, by_role, further_folds, held_out_of, judging
from easeml.kinds.shared.predictions import ROLES, write_predictions
from easeml.kinds.shared.qualities import latency_of, qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from easeml.data import VersionTables
    from easeml.modules import Context, Predictions
    from easeml.modules.leash import Leash
    from easeml.modules.target import Target
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_CURVE_POINTS = 200
_MANY_ROWS = 5000  # from which a model of some rows is kept first
_FIRST_ROWS = 1000
_LONG_LEASH = 40.0  # seconds from which that takes little of a run
_LONGEST, _SLACK = 10.0, 60.0  # wall seconds for one of the leash, and beside it


class TrainSpec(Spec):
    """Train: fit a pipeline, predict validation and test rows, evaluate on validation rows only.

    Input ``version``: the declared folder. Outputs ``model`` (folder), ``predictions`` (Arrow file,
    by row id) and ``evaluation`` (JSON: an ``easeml.contract.evaluation.Evaluation`` of the
    validation rows).
    """

    kind: Literal["train"] = "train"
    pipeline: Pipeline
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    seed: int = 0
    leash: float | None = None  # seconds of its own after which the fit ends with what it has
    measures: list[str] = Field(default_factory=list)  # beside the objectives that fit

    @property
    def longest_seconds(self) -> float | None:
        """See ``Spec``. Others may have the processor meanwhile, and steps may be long."""
        return None if self.leash is None else _LONGEST * self.leash + _SLACK


def train(spec: TrainSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write outputs ``model``, ``predictions`` and ``evaluation``; return ``{quality, low, high,
    metrics, measures, name, seconds, latency, fault, temperature, thresholds}``.

    Quality is on validation rows, and so are ``metrics``, the quality by every objective that fits,
    and ``measures``, the same in their own units (``easeml.modules.Measured``).
    Test rows are predicted, for the ledger, and never scored here. ``low`` and ``high``: 95 %
    interval of the quality. ``seconds``: of fitting and predicting; ``latency``: of predicting one
    row. ``fault``: how the model is worse than the baseline, in a sentence; empty where it is not.
    ``temperature``: of its probabilities, told by validation rows (``easeml.modules.calibration``).
    ``thresholds``: of labels of which a row may have several (``easeml.modules.thresholds``), or
    None.

    Where the leash is long and the rows are many, a model of some of them is kept first. It is the
    result where the attempt is stopped at its limit.
    """
    from easeml.data import read_version
    from easeml.modules.leash import Leash
    from easeml.spans import span

    with span("read"):
        version = read_version(inputs / "version")
    seconds = math.inf if spec.leash is None else spec.leash
    leash = Leash(seconds, folder=outputs.parent)
    rows = len(version.train)
    if spec.leash is None or spec.leash < _LONG_LEASH or rows < _MANY_ROWS:
        return _train(spec, version, outputs, leash)

    first = _train(spec, version, outputs, leash, fidelity=_FIRST_ROWS / rows)
    note = f"It learnt from {_FIRST_ROWS} of {rows} rows."
    keep_first(outputs, first.model_copy(update={"notes": [*first.notes, note]}))
    whole = outputs.parent / "whole"
    whole.mkdir()
    result = _train(spec, version, whole, leash)
    put_whole(whole, outputs)
    return result


def _train(
    spec: TrainSpec,
    version: VersionTables,
    outputs: Path,
    leash: Leash,
    fidelity: float = 1.0,
) -> TaskResult:
    """Train on a share of the rows, and write all outputs; see ``train``."""
    from easeml.modules import calibration, conformal, known_rows, row_order, thresholds
    from easeml.modules.guard import fault_of
    from easeml.modules.pipeline import Context, fit, save
    from easeml.modules.suspicion import suspicions
    from easeml.spans import span

    frames = {role: getattr(version, role) for role in ROLES}
    folds = further_folds(version)
    curve: list[CurvePoint] = []
    context = Context(
        seed=spec.seed,
        threads=int(os.environ.get("OMP_NUM_THREADS", "1")),
        fidelity=fidelity,
        report=partial(_report, curve),
        enough=_part_of(leash, 1, 1 + len(folds)),
        objective=spec.objective,
        checkpoint=outputs.parent / checkpoint_of(0) if fidelity == 1.0 else None,
        weights=weights_of(version, version.train["_row"]),
        history=history_of(version, [spec.pipeline]),
    )
    started = time.perf_counter()
    trained = fit(
        spec.pipeline.model_dump(), version.train, spec.schema_in, spec.schema_out, context
    )
    predictions = dict(zip(frames, trained.predict_each(list(frames.values())), strict=True))
    if folds:
        said = _said_by_folds(spec, version, context, leash, folds, trained.target)
        frames[BY_FOLDS], predictions[BY_FOLDS] = said
    target = version.target
    predictions = {role: calibration.floored(said) for role, said in predictions.items()}
    rows, unseen = judging(frames, predictions)
    weights = weights_of(version, rows["_row"])
    temperature, unseen = calibration.calibrated(rows[target], unseen, weights)
    choice, unseen = thresholds.told_by(spec.objective, rows[target], unseen, weights)
    trained = trained.at_temperature(temperature).choosing(choice and choice.thresholds)
    seconds = time.perf_counter() - started
    _, judged = by_role(version, rows, unseen)
    of_test = calibration.at(predictions["test"], temperature)
    predictions = {**judged, "test": thresholds.decided_by(of_test, choice)}
    row_ids = {role: frame["_row"] for role, frame in frames.items()}
    write_predictions(outputs / "predictions", row_ids, predictions)
    with span("measure"):
        found, unmeasured = qualities_of(spec, version, rows, unseen, trained.predict)
    with span("evaluate"):
        some_of_curve = curve[:: max(1, len(curve) // _CURVE_POINTS)]
        write_evaluation(outputs / "evaluation", version, rows, unseen, some_of_curve)

    folder = outputs / "model"
    with span("store"):
        save(
            trained,
            folder,
            quality=found["quality"],
            objective=spec.objective,
            interval=conformal.describe(rows[target], unseen, weights, trained.past),
            order=row_order.describe(version.train, version),
        )
        known_rows.write(folder, version.train, target, trained.schema_in)
    with span("measure the latency"):
        latency = latency_of(trained, rows)
    fault = fault_of(version.train[target], rows[target], unseen, context.weights, weights)
    value = {
        **found,
        **held_out_of(spec.objective, version, frames, predictions),
        "name": spec.pipeline.model.module,
        "seconds": seconds,
        "latency": latency,
        "fault": fault,
        "temperature": temperature,
        "thresholds": choice and choice.thresholds,
    }
    doubts = [fault] if fault else []
    doubts += suspicions(rows[target], unseen)
    return TaskResult(
        ok=True,
        value=value,
        outputs=["model", "predictions", "evaluation"],
        notes=[*trained.notes, *doubts, *unmeasured],
    )


def _said_by_folds(
    spec: TrainSpec,
    version: VersionTables,
    context: Context,
    leash: Leash,
    folds: Sequence[tuple[pd.DataFrame, pd.DataFrame]],
    target: Target,
) -> tuple[pd.DataFrame, Predictions]:
    """Return the rows of all ``folds``, and what fits say of each that have not learned from it.

    ``target``: of the first fit, as which all choose labels.
    """
    import pandas as pd

    from easeml.modules.joined import joined
    from easeml.modules.judged_again import decided_again
    from easeml.modules.pipeline import fit

    parts = []
    for number, (learned, held) in enumerate(folds, 1):
        own = replace(
            context,
            report=_unheard,
            enough=_part_of(leash, number + 1, 1 + len(folds)),
            checkpoint=context.checkpoint and context.checkpoint.with_name(checkpoint_of(number)),
            weights=weights_of(version, learned["_row"]),
        )
        trained = fit(spec.pipeline.model_dump(), learned, spec.schema_in, spec.schema_out, own)
        parts.append(decided_again(trained.predict(held), target))
    return pd.concat([held for _, held in folds], ignore_index=True), joined(parts)


def _part_of(leash: Leash, fits: int, of: int) -> Callable[[], bool]:
    """Return what tells that the first ``fits`` of so many have had their share of the seconds."""
    return replace(leash, seconds=leash.seconds * fits / of).is_over


def _unheard(step: int, quality: float | None) -> None:
    """The first fit has told how a model learns."""


def _report(curve: list[CurvePoint], step: int, quality: float | None) -> None:
    """Keep what a model says of itself, and print it into the attempt's log."""
    if quality is None:
        print(f"step {step}", flush=True)
        return
    print(f"step {step}: quality {quality:.4f}", flush=True)
    if math.isfinite(quality):
        curve.append(CurvePoint(step=step, quality=quality))


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from."""
    return {"version": version_of_job(tables, task.job_id)}


def failed(tx: Transaction, task: Task) -> None:
    """Tell of a fault of programs that were added."""
    from easeml.service.modules import faults

    faults.of_training(tx, task)


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the trained model; a fault of its module is told to the providers."""
    from easeml.service.models import kept_models
    from easeml.service.modules import faults

    candidate = tx.scoped(task.tenant_id).candidates.get(task.candidate_id)
    fault = str(result.value.get("fault") or "")
    if fault:
        faults.tell(tx, candidate.model, fault)
    kept_models.keep(tx, task, result, digests, candidate.name)


KIND = Kind(
    name="train",
    title="Train a candidate",
    about="Fits a candidate on the training rows and measures it on the validation rows.",
    group="train",
    lane=Lane.SEARCH,
    spec=TrainSpec,
    body=train,
    inputs=inputs,
    record=record,
    failed=failed,
    outputs=("model", "predictions"),
    values=("quality",),
)

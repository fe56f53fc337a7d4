"""Train: fit a candidate on the train rows, predict the others, evaluate on the validation rows."""

from __future__ import annotations

import math
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.evaluation import CurvePoint
from easeml.contract.states import Lane
from easeml.contract.tasks import CHECKPOINT, Pipeline, Spec, TaskResult
from easeml.kinds.shared.first_results import keep_first, put_whole
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import ROLES, write_predictions
from easeml.kinds.shared.qualities import latency_of, qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    metrics, measures, name, seconds, latency}``.

    Quality is on validation rows, and so are ``metrics``, the quality by every objective that fits,
    and ``measures``, the same in their own units (``easeml.modules.Measured``).
    Test rows are predicted, for the ledger, and never scored here. ``low`` and ``high``: 95 %
    interval of the quality. ``seconds``: of fitting and predicting; ``latency``: of predicting one
    row. ``fault``: how the model is worse than the baseline, in a sentence; empty where it is not.

    Where the leash is long and the rows are many, a model of some of them is kept first. It is the
    result where the attempt is stopped at its limit.
    """
    from easeml.data import read_version
    from easeml.modules.leash import Leash
    from easeml.spans import span

    with span("read"):
        version = read_version(inputs / "version")
    seconds = math.inf if spec.leash is None else spec.leash
    enough = Leash(seconds, folder=outputs.parent).is_over
    rows = len(version.train)
    if spec.leash is None or spec.leash < _LONG_LEASH or rows < _MANY_ROWS:
        return _train(spec, version, outputs, enough)

    first = _train(spec, version, outputs, enough, fidelity=_FIRST_ROWS / rows)
    note = f"It learnt from {_FIRST_ROWS} of {rows} rows."
    keep_first(outputs, first.model_copy(update={"notes": [*first.notes, note]}))
    whole = outputs.parent / "whole"
    whole.mkdir()
    result = _train(spec, version, whole, enough)
    put_whole(whole, outputs)
    return result


def _train(
    spec: TrainSpec,
    version: Any,
    outputs: Path,
    enough: Callable[[], bool],
    fidelity: float = 1.0,
) -> TaskResult:
    """Train on a share of the rows, and write all outputs; see ``train``."""
    from easeml.modules import conformal, known_rows
    from easeml.modules.guard import fault_of
    from easeml.modules.pipeline import Context, fit, save
    from easeml.modules.suspicion import suspicions
    from easeml.spans import span

    frames = {role: getattr(version, role) for role in ROLES}
    curve: list[CurvePoint] = []
    context = Context(
        seed=spec.seed,
        threads=int(os.environ.get("OMP_NUM_THREADS", "1")),
        fidelity=fidelity,
        report=partial(_report, curve),
        enough=enough,
        objective=spec.objective,
        checkpoint=outputs.parent / CHECKPOINT if fidelity == 1.0 else None,
        weights=weights_of(version, version.train["_row"]),
    )
    started = time.perf_counter()
    trained = fit(
        spec.pipeline.model_dump(), version.train, spec.schema_in, spec.schema_out, context
    )
    predictions = dict(zip(frames, trained.predict_each(list(frames.values())), strict=True))
    seconds = time.perf_counter() - started
    row_ids = {role: frame["_row"] for role, frame in frames.items()}
    write_predictions(outputs / "predictions", row_ids, predictions)

    target = version.target
    rows = frames["validation"]
    weights = weights_of(version, rows["_row"])
    unseen = predictions["validation"]
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
            interval=conformal.describe(rows[target], unseen, weights),
        )
        known_rows.write(folder, version.train, target, spec.schema_in)
    with span("measure the latency"):
        latency = latency_of(trained, rows)
    fault = fault_of(version.train[target], rows[target], unseen, context.weights, weights)
    value = {
        **found,
        "name": spec.pipeline.model.module,
        "seconds": seconds,
        "latency": latency,
        "fault": fault,
    }
    doubts = [fault] if fault else []
    doubts += suspicions(rows[target], unseen)
    return TaskResult(
        ok=True,
        value=value,
        outputs=["model", "predictions", "evaluation"],
        notes=[*trained.notes, *doubts, *unmeasured],
    )


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

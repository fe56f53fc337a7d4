"""Train: fit a candidate on the train rows, predict the others, evaluate on the validation rows."""

from __future__ import annotations

import math
import os
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.evaluation import CurvePoint, Evaluation
from easeml.contract.states import Lane
from easeml.contract.tasks import Pipeline, Spec, TaskResult
from easeml.kinds.shared.first_results import keep_first, put_whole
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import ROLES, write_predictions
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from easeml.modules import Predictions
    from easeml.modules.pipeline import TrainedPipeline
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_CURVE_POINTS = 200
_RESAMPLES = 100  # for the interval of the quality: a few milliseconds
_MANY_ROWS = 5000  # from which a model of some rows is kept first
_FIRST_ROWS = 1000
_LONG_LEASH = 12.0  # seconds from which that takes little of a run
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
    from easeml.modules import conformal, interval, known_rows
    from easeml.modules.guard import fault_of
    from easeml.modules.pipeline import Context, fit, save
    from easeml.modules.suspicion import suspicions

    frames = {role: getattr(version, role) for role in ROLES}
    curve: list[CurvePoint] = []
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    context = Context(
        seed=spec.seed,
        threads=threads,
        fidelity=fidelity,
        report=partial(_report, curve),
        enough=enough,
    )
    started = time.perf_counter()
    trained = fit(
        spec.pipeline.model_dump(), version.train, spec.schema_in, spec.schema_out, context
    )
    predictions = {role: trained.predict(frame) for role, frame in frames.items()}
    seconds = time.perf_counter() - started
    metrics = _metrics(spec, frames["validation"][version.target], predictions["validation"])
    write_predictions(
        outputs / "predictions",
        {role: frame["_row"] for role, frame in frames.items()},
        predictions,
    )
    latency = _latency(trained, frames["validation"])
    evaluation = _evaluation(frames["validation"], version.target, predictions["validation"])
    evaluation.curve = curve[:: max(1, len(curve) // _CURVE_POINTS)]
    (outputs / "evaluation").write_text(evaluation.model_dump_json())
    folder = outputs / "model"
    band = conformal.describe(frames["validation"][version.target], predictions["validation"])
    save(
        trained,
        folder,
        quality=metrics[spec.objective],
        objective=spec.objective,
        interval=band,
    )
    known_rows.write(folder, version.train, version.target, spec.schema_in)
    name = spec.pipeline.model.module
    value = {
        "quality": metrics[spec.objective],
        "metrics": metrics,
        "name": name,
        "seconds": seconds,
    }
    actual = frames["validation"][version.target]
    _, low, high = interval(spec.objective, actual, predictions["validation"], resamples=_RESAMPLES)
    value |= {"low": low, "high": high, "latency": latency}
    value["measures"] = _measures(
        spec, actual, predictions["validation"], version.train[version.target]
    )
    fault = fault_of(version.train[version.target], actual, predictions["validation"])
    value["fault"] = fault
    notes = [*trained.notes, *([fault] if fault else [])]
    notes += suspicions(actual, predictions["validation"])
    return TaskResult(
        ok=True,
        value=value,
        outputs=["model", "predictions", "evaluation"],
        notes=notes,
    )


def _evaluation(frame: pd.DataFrame, target: str, predictions: Predictions) -> Evaluation:
    """Return how predictions of rows differ from what is known of them."""
    from easeml.lifecycle.evaluation import evaluate
    from easeml.lifecycle.held_out import Unseen

    rows = frame.set_index("_row")
    said = Unseen(predictions.values, predictions.probabilities, predictions.classes)
    answers: pd.Series = rows.pop(target)
    found = evaluate(rows, answers, said)
    return Evaluation.model_validate(asdict(found))


def _latency(trained: TrainedPipeline, frame: Any) -> float:
    """Return the seconds to predict one row: the faster of two, of which the first may have to load
    something.
    """
    took = []
    for _ in range(2):
        began = time.perf_counter()
        trained.predict(frame.iloc[:1])
        took.append(time.perf_counter() - began)
    return min(took)


def _report(curve: list[CurvePoint], step: int, quality: float | None) -> None:
    """Keep what a model says of itself, and print it into the attempt's log."""
    print(f"step {step}" + ("" if quality is None else f": quality {quality:.4f}"), flush=True)
    if quality is not None and math.isfinite(quality):
        curve.append(CurvePoint(step=step, quality=quality))


def _metrics(spec: TrainSpec, actual: Any, predictions: Predictions) -> dict[str, float]:
    from easeml.modules import score

    return {name: score(name, actual, predictions) for name in _objectives(spec)}


def _measures(
    spec: TrainSpec, actual: Any, predictions: Predictions, learnt: Any
) -> dict[str, dict[str, Any]]:
    """Return what every objective says in its own unit, that of the search with its interval."""
    from easeml.modules import measured

    found = {}
    for name in _objectives(spec):
        resamples = _RESAMPLES if name == spec.objective else 0
        measure = measured(
            name,
            actual,
            predictions,
            resamples=resamples,
            learnt=learnt,
            target=str(actual.name),
        )
        found[name] = asdict(measure)
    return found


def _objectives(spec: TrainSpec) -> list[str]:
    """Return the names of the objectives that fit, and of that of the search."""
    from easeml.modules import load_registry
    from easeml.schema import Schema

    fitting = load_registry().objectives_for(Schema.from_json(spec.schema_out))
    return sorted({spec.objective, *(objective.name for objective in fitting)})


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the job learns from."""
    return {"version": version_of_job(tables, task.job_id)}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the trained model; a fault of its module is told to the providers."""
    from easeml.ids import new_id
    from easeml.service.modules import faults
    from easeml.store.records import TrainedModel

    tables = tx.scoped(task.tenant_id)
    job = tables.jobs.get(task.job_id)
    candidate = tables.candidates.get(task.candidate_id)
    fault = str(result.value.get("fault") or "")
    if fault:
        faults.tell(tx, candidate.model, fault)
    tables.models.add(
        TrainedModel(
            id=new_id("mod"),
            tenant_id=task.tenant_id,
            application_id=job.application_id,
            job_id=job.id,
            task_id=task.id,
            candidate_id=task.candidate_id,
            name=candidate.name,
            artefact=digests["model"],
            predictions=digests["predictions"],
            evaluation=digests.get("evaluation", ""),
            quality=float(result.value["quality"]),
            metrics=result.value.get("metrics", {}),
            notes=list(result.notes),
        )
    )


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
    outputs=("model", "predictions"),
    values=("quality",),
)

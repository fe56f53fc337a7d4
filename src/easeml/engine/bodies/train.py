"""Train: fit a candidate on the train rows, predict the others, evaluate on the validation rows."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.contract.tasks import TaskResult, TrainSpec

if TYPE_CHECKING:
    from easeml.modules import Predictions

from .predictions import ROLES, write_predictions


def train(spec: TrainSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write outputs ``model`` and ``predictions``; return ``{quality, metrics, name, seconds}``.

    Quality is on validation rows, and so are ``metrics``: the quality by every objective that fits. Test rows are
    predicted, for the ledger, and never scored here. ``seconds``: of fitting and predicting.
    """
    from easeml.data import read_version
    from easeml.modules.pipeline import Context, fit, save

    version = read_version(inputs / "version")
    frames = {role: getattr(version, role) for role in ROLES}
    context = Context(seed=spec.seed, threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    started = time.perf_counter()
    trained = fit(spec.pipeline.model_dump(), version.train, spec.schema_in, spec.schema_out, context)
    predictions = {role: trained.predict(frame) for role, frame in frames.items()}
    seconds = time.perf_counter() - started
    metrics = _metrics(spec, frames["validation"][version.target], predictions["validation"])
    write_predictions(outputs / "predictions", {role: frame["_row"] for role, frame in frames.items()}, predictions)
    save(trained, outputs / "model", quality=metrics[spec.objective], objective=spec.objective)
    name = spec.pipeline.model.module
    value = {"quality": metrics[spec.objective], "metrics": metrics, "name": name, "seconds": seconds}
    return TaskResult(ok=True, value=value, outputs=["model", "predictions"], notes=list(trained.notes))


def _metrics(spec: TrainSpec, actual: Any, predictions: "Predictions") -> dict[str, float]:
    from easeml.modules import load_registry, score
    from easeml.schema import Schema

    fitting = load_registry().objectives_for(Schema.from_json(spec.schema_out))
    names = {spec.objective, *(objective.name for objective in fitting)}
    return {name: score(name, actual, predictions) for name in sorted(names)}

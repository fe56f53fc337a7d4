"""Refit: the model that a search ended with, fitted once more on all rows but the test rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.states import Lane
from easeml.contract.tasks import Spec, TaskResult, WeightedPipeline
from easeml.kinds.shared.fitting import fit_members, save_members, together
from easeml.kinds.shared.histories import history_of
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.judged import read_judging
from easeml.kinds.shared.predictions import write_predictions
from easeml.kinds.shared.qualities import latency_of
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.data import VersionTables
    from easeml.modules.forecasting import Past
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class RefitSpec(Spec):
    """Refit: fit the pipelines of what serves on train and validation rows, predict test rows.

    ``members``: of an ensemble; or the pipeline of a single model.

    Inputs ``version``, the declared folder, and ``predictions`` of the first fit. Outputs ``model``
    (folder) and ``predictions`` (Arrow file, by row id). ``quality``: of the model on the
    validation rows, measured before. ``temperature`` and
    ``thresholds``: of an ensemble, found before.
    """

    kind: Literal["refit"] = "refit"
    members: list[WeightedPipeline]
    objective: str
    quality: float
    temperature: float = 1.0
    thresholds: list[float] | None = None
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    seed: int = 0


def refit(spec: RefitSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write outputs ``model`` and ``predictions``; return ``{rows, seconds, latency}``.

    ``rows``: how many it learned from; ``latency``: seconds to predict one. No quality is measured
    on them: a validation row tells nothing of a model that has seen it.
    """
    import pandas as pd

    from easeml.data import read_version
    from easeml.modules import known_rows, row_order

    version = read_version(inputs / "version")
    rows = pd.concat([version.train, version.validation], ignore_index=True)
    started = time.perf_counter()
    weights = weights_of(version, rows["_row"])
    history = history_of(version, [one.pipeline for one in spec.members])
    trained = together(spec, fit_members(spec, rows, weights, outputs.parent, history))
    seconds = time.perf_counter() - started
    folder = outputs / "model"
    save_members(
        trained,
        folder,
        quality=spec.quality,
        objective=spec.objective,
        interval=_interval(version, inputs / "predictions", trained.past),
        order=row_order.describe(rows, version),
    )
    predictions = {"test": trained.predict(version.test)}
    write_predictions(outputs / "predictions", {"test": version.test["_row"]}, predictions)
    known_rows.write(folder, rows, version.target, trained.schema_in)
    return TaskResult(
        ok=True,
        value={"rows": len(rows), "seconds": seconds, "latency": latency_of(trained, rows)},
        outputs=["model", "predictions"],
        notes=list(trained.notes),
    )


def _interval(
    version: VersionTables, first_fit: Path, past: Past | None
) -> dict[str, float] | None:
    """Return the interval of the first fit: the model has learned from all rows that could give it
    one by now. It has more rows, so its own would hardly be wider.
    """
    from easeml.modules import conformal

    rows, said = read_judging(first_fit, version)
    weights = weights_of(version, rows["_row"])
    return conformal.describe(rows[version.target], said, weights, past)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the model learned from, and what its first fit predicted."""
    model = tables.models.get(task.subject)
    version = version_of_job(tables, model.job_id)
    return {"version": version, "predictions": model.predictions}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the files, and serve them where the model still serves."""
    from easeml.service.models import refitting

    latency = result.value.get("latency")
    refitting.record(tx, task, digests["model"], digests["predictions"], latency)


KIND = Kind(
    name="refit",
    title="Fit the best model on all rows",
    about="Fits the best model of a search on training and validation rows, as it will serve.",
    group="advise",
    lane=Lane.SEARCH,
    spec=RefitSpec,
    body=refit,
    inputs=inputs,
    record=record,
    outputs=("model", "predictions"),
    values=("rows",),
)

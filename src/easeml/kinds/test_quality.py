"""Advise: the quality of kept predictions on the test rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import read_predictions
from easeml.kinds.shared.row_groups import groups_of
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class TestQualitySpec(Spec):
    """Advise: score kept predictions on the test rows, once, for the ledger.

    Inputs ``version`` and ``predictions``, those of the model as fitted on all other rows where it
    is ``refitted``. ``version_id``: whose answers count; empty: that which the model learned from.
    The value is the only thing that leaves.
    """

    __test__ = False  # not a pytest class

    kind: Literal["test-quality"] = "test-quality"
    objective: str
    schema_out: dict[str, Any]
    refitted: bool = False
    version_id: str = ""


def read_test_quality(spec: TestQualitySpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{value, low, high, rows, measure}``: quality on the test rows with its interval.

    ``measure``: the same in the objective's own unit, an ``easeml.modules.Measured``. Writes no
    output.
    """
    from easeml.data import read_version
    from easeml.modules import interval, measured

    version = read_version(inputs / "version")
    rows, predictions = read_predictions(inputs / "predictions", "test")
    actual = version.test.set_index("_row").loc[rows, version.target]
    weights = weights_of(version, rows)
    groups = groups_of(version, rows)
    value, low, high = interval(
        spec.objective, actual.to_numpy(), predictions, weights, groups=groups
    )
    found = {"value": value, "low": low, "high": high, "rows": len(rows)}
    learnt = version.train[version.target]
    found["measure"] = asdict(
        measured(
            spec.objective,
            actual.to_numpy(),
            predictions,
            weights,
            groups=groups,
            learnt=learnt,
            learnt_weights=weights_of(version, version.train["_row"]),
            target=str(actual.name),
        )
    )
    return TaskResult(ok=True, value=found)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version whose answers count, and what the model predicted."""
    model = tables.models.get(task.subject)
    spec = TestQualitySpec.model_validate(task.payload)
    predictions = model.refitted_predictions if spec.refitted else model.predictions
    version = version_of_job(tables, model.job_id)
    if spec.version_id:
        version = tables.versions.get(spec.version_id).artefact
    return {"version": version, "predictions": predictions}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Enter the reading in the ledger."""
    from easeml.service.advice import test_quality

    test_quality.record(tx, task, result)


KIND = Kind(
    name="test-quality",
    title="Read the test quality",
    about="Scores what a live model predicted for the test rows, once.",
    group="advise",
    spec=TestQualitySpec,
    body=read_test_quality,
    inputs=inputs,
    record=record,
    values=("value", "low", "high", "rows"),
)

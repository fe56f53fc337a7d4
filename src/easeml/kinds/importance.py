"""Advise: which columns a trained model needs, by permutation on the validation rows (L. Breiman,
Machine Learning 45, 2001, section 10; for any model: Fisher, Rudin and Dominici, JMLR 20, 2019).
"""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from easeml.contract.evaluation import Importance, Importances
from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import EasemlError
from easeml.kinds.shared.inputs import version_of_job
from easeml.service.tasks.kinds import Kind

_MOST_ROWS = 1000
_MOST_ROUNDS = 10


if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class ImportanceSpec(Spec):
    """Advise: which columns a model needs, measured for ``seconds`` at most.

    Inputs ``version`` and ``model``.
    """

    kind: Literal["importance"] = "importance"
    objective: str
    seconds: float


def measure_importance(spec: ImportanceSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{importance}``, an ``Importances``: the loss of quality when the values of a column
    are shuffled.

    At most 1,000 rows, and rounds over all columns until ``spec.seconds`` are over; what the first
    round did not reach is not measured. Writes no output.
    """
    from easeml.data import read_version
    from easeml.modules import score
    from easeml.modules.pipeline import load_trained

    version = read_version(inputs / "version")
    model = load_trained(inputs / "model")
    random = np.random.default_rng(0)
    frame = version.validation
    if len(frame) > _MOST_ROWS:
        frame = frame.iloc[np.sort(random.permutation(len(frame))[:_MOST_ROWS])]
    actual = frame[version.target]
    columns = [name for name in frame.columns if name not in ("_row", version.target)]
    began = time.monotonic()
    base = score(spec.objective, actual, model.predict(frame))
    losses: defaultdict[str, list[float]] = defaultdict(list)
    rounds = 0
    while rounds < _MOST_ROUNDS and time.monotonic() - began < spec.seconds:
        for name in columns:
            if time.monotonic() - began >= spec.seconds:
                break
            shuffled = frame.copy(deep=False)
            shuffled[name] = frame[name].iloc[random.permutation(len(frame))].set_axis(frame.index)
            losses[name].append(base - score(spec.objective, actual, model.predict(shuffled)))
        else:
            rounds += 1
    found = Importances(
        columns=len(columns),
        measured=len(losses),
        rounds=rounds,
        rows=len(frame),
        seconds=time.monotonic() - began,
        unmeasured=[name for name in columns if name not in losses],
        items=sorted(
            (_item(name, values) for name, values in losses.items()), key=lambda one: -one.loss
        ),
    )
    return TaskResult(ok=True, value={"importance": found.model_dump()})


def _item(column: str, losses: list[float]) -> Importance:
    error = float(np.std(losses, ddof=1) / np.sqrt(len(losses))) if len(losses) > 1 else None
    return Importance(column=column, loss=float(np.mean(losses)), error=error)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The model that the task in question trained, and the version that it learned from."""
    model = tables.models.find(task_id=task.subject)
    if model is None:
        raise EasemlError("This task has trained no model.", where=task.subject)
    return {"version": version_of_job(tables, model.job_id), "model": model.artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep what was measured."""
    from easeml.service.advice import importance

    importance.record(tx, task, result)


KIND = Kind(
    name="importance",
    title="Weigh the columns",
    about="Measures which columns a live model needs.",
    group="advise",
    spec=ImportanceSpec,
    body=measure_importance,
    inputs=inputs,
    record=record,
    values=("importance",),
)

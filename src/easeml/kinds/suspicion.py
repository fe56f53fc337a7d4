"""Advise: which train rows contradict what is learnt from the other rows?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Pipeline, Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from easeml.data import Declared
    from easeml.modules import Predictions
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_FOLDS = 5


class SuspicionSpec(Spec):
    """Advise: how far train rows contradict what is learnt from the other rows. Input ``version``.

    Output ``suspicion``: an Arrow file with columns ``row``, ``suspicion`` (0 to 1) and
    ``predicted``.
    """

    kind: Literal["suspicion"] = "suspicion"
    application_id: str
    pipeline: Pipeline
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    seed: int = 0


def find_suspicious(spec: SuspicionSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``suspicion``; return ``{rows}``. Every train row is predicted by a model that
    did not see it.

    Suspicion is the probability that the row's answer is wrong, as ``lifecycle.labeling`` finds it;
    NaN for a class too rare to judge. Rows that are off are judged too, and never learnt from.
    """
    import numpy as np

    from easeml.data import read_declared
    from easeml.lifecycle.held_out import fold_numbers

    version = read_declared(inputs / "version")
    train = version.frames["train"]
    answers = train[version.target]
    off = train["_row"].isin(version.off).to_numpy()
    fold = fold_numbers(_codes(answers), _FOLDS, spec.seed)
    predicted = np.full(len(train), None, dtype=object)
    chances = _no_chances(answers)
    for number in np.unique(fold):
        held = fold == number
        found = _predict(spec, version, ~held & ~off, held)
        predicted[held] = found.values
        if chances is not None:
            chances[held] = _chances(answers, found)
    scores = _judge(answers, predicted, chances)
    _write(outputs / "suspicion", train["_row"].to_numpy(), scores, predicted)
    return TaskResult(ok=True, value={"rows": len(train)}, outputs=["suspicion"])


def _predict(
    spec: SuspicionSpec, version: Declared, learnt: np.ndarray, held: np.ndarray
) -> Predictions:
    from easeml.modules.pipeline import Context, fit

    train = version.frames["train"]
    context = Context(seed=spec.seed, threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    frame = train.loc[learnt].reset_index(drop=True)
    trained = fit(spec.pipeline.model_dump(), frame, spec.schema_in, spec.schema_out, context)
    return trained.predict(train.loc[held].reset_index(drop=True))


def _judge(answers: Any, predicted: np.ndarray, chances: np.ndarray | None) -> np.ndarray:
    """Return the probability that each answer is wrong."""
    from easeml.lifecycle.labeling import chances_of_votes, judge_classes, judge_numbers

    if chances is None:
        return judge_numbers(predicted.astype(float), answers.to_numpy(dtype=float)).wrong
    codes = _codes(answers)
    if not chances.any():  # the model says a class only
        votes = answers.cat.categories.astype(str).get_indexer(predicted.astype(str))
        chances = chances_of_votes(votes, codes, chances.shape[1])
    return judge_classes(chances, codes).wrong


def _chances(answers: Any, predictions: Predictions) -> np.ndarray:
    """Return the model's class chances in the order of the column's categories; zeros where it
    gives none, or has not learnt a class.
    """
    import numpy as np

    categories = answers.cat.categories.astype(str)
    chances = np.zeros((len(predictions.values), len(categories)))
    if predictions.probabilities is not None and predictions.classes is not None:
        places = categories.get_indexer([str(name) for name in predictions.classes])
        chances[:, places] = predictions.probabilities
    return chances


def _no_chances(answers: Any) -> np.ndarray | None:
    """Return zeros, a column a class; None where the answers are numbers."""
    import numpy as np

    if str(answers.dtype) != "category":
        return None
    return np.zeros((len(answers), len(answers.cat.categories)))


def _codes(answers: Any) -> np.ndarray:
    """Return class codes; zeros where the answers are numbers."""
    import numpy as np

    if str(answers.dtype) != "category":
        return np.zeros(len(answers), dtype=np.int64)
    return answers.cat.codes.to_numpy().astype(np.int64)


def _write(path: Path, rows: np.ndarray, scores: np.ndarray, predicted: np.ndarray) -> None:
    import pyarrow as pa
    from pyarrow import ipc

    kind = pa.float64() if all(isinstance(value, float) for value in predicted) else pa.string()
    values = predicted.tolist() if kind == pa.float64() else [str(value) for value in predicted]
    columns = {
        "row": pa.array(rows),
        "suspicion": pa.array(scores),
        "predicted": pa.array(values, kind),
    }
    table = pa.table(columns)
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version in question."""
    return {"version": tables.versions.get(task.subject).artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the scores of the rows."""
    from easeml.service.advice import suspicious_rows

    suspicious_rows.record(tx, task, digests["suspicion"])


KIND = Kind(
    name="suspicion",
    title="Look for wrong labels",
    about="Scores how far each training row contradicts what is learned from the others.",
    group="advise",
    spec=SuspicionSpec,
    body=find_suspicious,
    inputs=inputs,
    record=record,
    outputs=("suspicion",),
)

"""Advise: which train rows contradict what is learnt from the other rows?"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.contract.tasks import SuspicionSpec, TaskResult

if TYPE_CHECKING:
    import numpy as np

    from easeml.data import Declared
    from easeml.modules import Predictions

_FOLDS = 5


def suspicion(spec: SuspicionSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``suspicion``; return ``{rows}``. Every train row is predicted by a model that
    did not see it.

    Of a category, suspicion is 1 - the probability of the row's class (0 or 1 where the model gives
    none); of a number, the share of rows that are predicted better. Rows that are off are scored
    too, and never learnt from.
    """
    import numpy as np

    from easeml.data import read_declared

    version = read_declared(inputs / "version")
    train = version.frames["train"]
    off = train["_row"].isin(version.off).to_numpy()
    fold = _folds(train[version.target], spec.seed)
    scores, predicted = np.full(len(train), np.nan), np.full(len(train), None, dtype=object)
    for number in np.unique(fold):
        held = fold == number
        found = _predict(spec, version, ~held & ~off, held)
        scores[held] = _surprise(train.loc[held, version.target], found)
        predicted[held] = found.values
    if not _is_category(train[version.target]):
        scores = scores.argsort().argsort() / max(1, len(scores) - 1)
    _write(outputs / "suspicion", train["_row"].to_numpy(), scores, predicted)
    return TaskResult(ok=True, value={"rows": len(train)}, outputs=["suspicion"])


def _predict(
    spec: SuspicionSpec, version: "Declared", learnt: "np.ndarray", held: "np.ndarray"
) -> "Predictions":
    from easeml.modules.pipeline import Context, fit

    train = version.frames["train"]
    context = Context(seed=spec.seed, threads=int(os.environ.get("OMP_NUM_THREADS", "1")))
    frame = train.loc[learnt].reset_index(drop=True)
    trained = fit(spec.pipeline.model_dump(), frame, spec.schema_in, spec.schema_out, context)
    return trained.predict(train.loc[held].reset_index(drop=True))


def _folds(answers: Any, seed: int) -> "np.ndarray":
    """A fold a row, drawn with ``seed``; each class is spread over the folds."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(answers))
    if _is_category(answers):
        order = order[np.argsort(answers.cat.codes.to_numpy()[order], kind="stable")]
    fold = np.empty(len(answers), dtype=int)
    fold[order] = np.arange(len(answers)) % _FOLDS
    return fold


def _surprise(actual: Any, predictions: "Predictions") -> "np.ndarray":
    """Return 1 - probability of the actual class (NaN for a class that was not learnt), or the size
    of the error.
    """
    import numpy as np

    if predictions.classes is None:
        return np.abs(actual.to_numpy(dtype=float) - predictions.values)
    classes = [str(name) for name in predictions.classes]
    if predictions.probabilities is None:
        return (np.asarray(predictions.values).astype(str) != actual.astype(str).to_numpy()).astype(
            float
        )
    place = np.array(
        [classes.index(name) if name in classes else -1 for name in actual.astype(str)]
    )
    own = np.append(predictions.probabilities, np.full((len(actual), 1), np.nan), axis=1)
    return 1 - own[np.arange(len(actual)), place]


def _is_category(answers: Any) -> bool:
    return str(answers.dtype) == "category"


def _write(path: Path, rows: "np.ndarray", scores: "np.ndarray", predicted: "np.ndarray") -> None:
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

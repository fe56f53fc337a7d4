"""Advise: which columns a trained model needs, by permutation on the validation rows (L. Breiman,
Machine Learning 45, 2001, section 10; for any model: Fisher, Rudin and Dominici, JMLR 20, 2019).
"""

import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from easeml.contract.evaluation import Importance, Importances
from easeml.contract.tasks import ImportanceSpec, TaskResult

_MOST_ROWS = 1000
_MOST_ROUNDS = 10


def importance(spec: ImportanceSpec, inputs: Path, outputs: Path) -> TaskResult:
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

"""Items for people: of which rows an answer would tell most, by what models say of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.data import ROW

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from easeml.data import Declared

MOST_ITEMS = 100  # of each kind
_LOOKED_AT = 20_000  # rows of the pool that are predicted
_OPTIONS = 5
_COLUMNS = 30
_LONGEST = 200  # characters of a cell
_LEAST_SUSPICION = 0.1
_OF_NUMBER = 0.5  # nats that the answer to a row of the pool is taken to tell of a number


def of_pool(version: Declared, predict: Callable[[Any], Any] | None) -> list[dict[str, Any]]:
    """Return items for rows of the pool, those that the model is least sure of.

    What a label tells is the entropy of what is predicted; without a model, of the classes.
    """
    pool = version.frames.get("pool")
    if pool is None or not len(pool):
        return []
    if len(pool) > _LOOKED_AT:
        pool = pool.sample(_LOOKED_AT, random_state=version.summary.get("seed", 0))
    inputs = pool.drop(columns=version.target)
    classes, chances = _predicted(version, inputs, predict)
    information = _entropies(chances)
    order = information.argsort(kind="stable")[::-1][:MOST_ITEMS]
    items = []
    for place in order.tolist():
        options = _options(classes, chances[place]) if classes else []
        asked = {"options": options, "values": _cells(inputs.iloc[place])}
        row = int(pool[ROW].iloc[place])
        items.append(_item("label", row, version.target, float(information[place]), asked))
    return items


def of_labels(version: Declared, scores: Path) -> list[dict[str, Any]]:
    """Return items for labels of train rows that look wrong, by what ``label-errors`` said.

    What an answer tells is the entropy of "it is wrong".
    """
    train = version.frames["train"].set_index(ROW)
    said = _read(scores).set_index("row")
    is_on = said.index.isin(train.index) & ~said.index.isin(version.off)
    likely = is_on & (said["suspicion"] >= _LEAST_SUSPICION).to_numpy()
    said = said.loc[likely].sort_values("suspicion", ascending=False).head(MOST_ITEMS)
    items = []
    for row, suspicion, predicted in said.itertuples():
        given = _text(train.at[row, version.target])
        options = [
            {"value": _text(predicted), "weight": float(suspicion)},
            {"value": given, "weight": float(1 - suspicion)},
        ]
        if options[0]["value"] == given:
            options = options[1:]
        cells = _cells(train.loc[row].drop(version.target))
        asked = {"given": given, "options": options, "values": cells}
        information = _binary_entropy(float(suspicion))
        items.append(_item("check-label", int(row), version.target, information, asked))
    return items


def _item(
    kind: str, row: int, column: str, information: float, question: dict[str, Any]
) -> dict[str, Any]:
    return {
        "kind": kind,
        "row": row,
        "column": column,
        "information": information,
        "question": question,
    }


def _predicted(
    version: Declared, inputs: pd.DataFrame, predict: Callable[[Any], Any] | None
) -> tuple[list[str], np.ndarray]:
    """Return the classes, and their chances for each row; no class where the target is a number."""
    import numpy as np
    import pandas as pd

    answers = pd.Series(version.frames["train"][version.target])
    if not isinstance(answers.dtype, pd.CategoricalDtype):
        return [], np.zeros((len(inputs), 0))
    found = predict(inputs) if predict is not None else None
    if found is not None and found.probabilities is not None:
        return [str(name) for name in found.classes], np.asarray(found.probabilities)
    shares = answers.value_counts(normalize=True, sort=False)
    chances = np.tile(shares.to_numpy(), (len(inputs), 1))
    return [str(name) for name in shares.index], chances


def _entropies(chances: np.ndarray) -> np.ndarray:
    """Return the entropy of each row of chances, in nats."""
    import numpy as np

    if not chances.shape[1]:
        return np.full(len(chances), _OF_NUMBER)
    safe = np.clip(chances, 1e-12, 1.0)
    return -(safe * np.log(safe)).sum(axis=1)


def _options(classes: list[str], chances: np.ndarray) -> list[dict[str, Any]]:
    order = chances.argsort()[::-1][:_OPTIONS]
    return [{"value": classes[place], "weight": float(chances[place])} for place in order]


def _binary_entropy(chance: float) -> float:
    inside = min(max(chance, 1e-12), 1 - 1e-12)
    return -inside * math.log(inside) - (1 - inside) * math.log(1 - inside)


def _cells(row: pd.Series) -> dict[str, str]:
    cells = {}
    for name, value in row.items():
        if name != ROW:
            cells[str(name)] = _text(value)
    return dict(list(cells.items())[:_COLUMNS])


def _text(value: Any) -> str:
    """Return a cell as people read it; empty where it is missing."""
    import pandas as pd

    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, dict | list):
        return str(value)[:_LONGEST]
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value)[:_LONGEST]


def _read(path: Path) -> pd.DataFrame:
    from pyarrow import ipc

    with ipc.open_file(path) as file:
        return file.read_all().to_pandas()

"""The rows that judge a model, with what was said of them by fits that had not learned from them.

Of a small version these are its validation rows and, by folds, its train rows
(``easeml.data.versions.folds``); of others the validation rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeml.kinds.shared.predictions import read_predictions, roles_in
from easeml.kinds.shared.row_weights import weights_of

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import VersionTables
    from easeml.modules import Predictions

HELD_OUT, BY_FOLDS = "validation", "train"
"""Under which roles predictions are kept: of one fit, and of those that follow by folds."""


def further_folds(version: VersionTables) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Return for each fold after the validation rows the rows to learn from, and those of the fold.

    None where the validation rows judge alone.
    """
    import pandas as pd

    if version.folds is None:
        return []
    rows: Any = pd.concat([version.validation, version.train], ignore_index=True)
    fold = version.folds.loc[rows["_row"]].to_numpy()
    numbers = range(1, int(fold.max()) + 1)
    return [
        (rows[fold != number].reset_index(drop=True), rows[fold == number].reset_index(drop=True))
        for number in numbers
    ]


def judging(
    rows: Mapping[str, pd.DataFrame], predictions: Mapping[str, Predictions]
) -> tuple[pd.DataFrame, Predictions]:
    """Return the rows that judge, and what was said of each; both are given by role."""
    import pandas as pd

    from easeml.modules.joined import joined

    if BY_FOLDS not in predictions:
        return rows[HELD_OUT], predictions[HELD_OUT]
    frame = pd.concat([rows[HELD_OUT], rows[BY_FOLDS]], ignore_index=True)
    said = joined([predictions[HELD_OUT], predictions[BY_FOLDS]])
    return frame, said


def read_judging(file: Path, version: VersionTables) -> tuple[pd.DataFrame, Predictions]:
    """Return the rows of a version that judge a model, and what was said of each.

    ``file``: the predictions that training kept. Rows that are switched off or gone are left out.
    """
    import numpy as np

    frames: dict[str, Any] = {}
    predictions = {}
    for role in roles_in(file) & {HELD_OUT, BY_FOLDS}:
        ids, said = read_predictions(file, role)
        rows = getattr(version, role).set_index("_row")
        is_there = np.isin(ids, rows.index)
        frames[role] = rows.loc[ids[is_there]].reset_index()
        predictions[role] = said.of_rows(is_there)
    return judging(frames, predictions)


def by_role(
    version: VersionTables, rows: Any, said: Predictions
) -> tuple[dict[str, pd.DataFrame], dict[str, Predictions]]:
    """Return rows that judge, and what was said of each, by the role under which it is kept."""
    is_held_out = rows["_row"].isin(version.validation["_row"]).to_numpy()
    frames = {HELD_OUT: rows[is_held_out].reset_index(drop=True)}
    predictions = {HELD_OUT: said.of_rows(is_held_out)}
    if not is_held_out.all():
        frames[BY_FOLDS] = rows[~is_held_out].reset_index(drop=True)
        predictions[BY_FOLDS] = said.of_rows(~is_held_out)
    return frames, predictions


def held_out_of(
    objective: str,
    version: VersionTables,
    rows: Mapping[str, pd.DataFrame],
    predictions: Mapping[str, Predictions],
) -> dict[str, Any]:
    """Return what else is told of a model that folds have judged; nothing where none have.

    ``held_out``: its quality on the validation rows alone, by which it is compared with models that
    were judged by them. ``rows`` and ``predictions``: by role.
    """
    from easeml.modules import score

    if BY_FOLDS not in predictions:
        return {}
    held = rows[HELD_OUT]
    counts = weights_of(version, held["_row"])
    return {"held_out": score(objective, held[version.target], predictions[HELD_OUT], counts)}

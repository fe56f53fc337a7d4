"""Folds of a small version: each row but those of test judges once, and teaches the others.

The validation rows of a small table are few, and what is chosen by them is chosen by chance. So the
train rows are divided as well: the validation rows are fold 0, as they are where nothing is divided,
and the train rows are the others. A fit that has not learned from a fold predicts it (decision 0124).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from easeml.data.types.text_tables import ROW
from easeml.data.versions.copies import compared_columns, content_keys, first_copies
from easeml.data.versions.splits import ROLES, Split, scattered

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from easeml.schema import Schema

FOLDS = 4  # the validation rows are a quarter of all that are no test rows
MOST_ROWS = 700  # train and validation rows; more of them gained nothing (decision 0124)
_FEWEST = 5  # train rows of each fold


class Divided(Protocol):
    """What a declared version says of its rows (``easeml.data.versions.declared.Declared``)."""

    @property
    def frames(self) -> Mapping[str, pd.DataFrame]: ...
    @property
    def schema_in(self) -> Schema: ...
    @property
    def schema_out(self) -> Schema: ...
    @property
    def target(self) -> str: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def off(self) -> tuple[int, ...]: ...


def folds_for(version: Divided) -> int:
    """Return by how many folds models of a version are judged; 0: by its validation rows alone.

    Rows that are divided by time or by their owner stay so: later rows teach nothing of earlier
    ones. Pictures, tensors and graphs take too long to be learned several times.
    """
    rows = len(version.frames["train"]) - len(version.off) + len(version.frames["validation"])
    if rows > MOST_ROWS or not compared_columns(version.schema_in, version.schema_out):
        return 0
    split = Split.of(version.summary)
    if split.way not in ("random", "group"):
        return 0
    if split.way == "group" and split.column not in version.frames["train"].columns:
        return 0
    units = len(set(_units(version, _learned(version)).tolist()))
    return FOLDS if units >= _FEWEST * (FOLDS - 1) else 0


def with_folds(version: Divided) -> dict[str, Any]:
    """Return the summary of a version with by how many folds its models are judged, if by any."""
    summary = dict(version.summary)
    summary.pop("folds", None)
    folds = folds_for(version)
    if folds:
        summary["folds"] = folds
    return summary


def fold_numbers(version: Divided) -> pd.Series | None:
    """Return the fold (rows,) of each row by its id, test rows and those that are off left out.

    None: where models are judged by validation rows alone, as the summary says. Rows of one group,
    and copies, have the same; else classes are spread evenly. The same version gives the same.
    """
    import numpy as np
    import pandas as pd

    folds = version.summary.get("folds", 0)
    if not folds:
        return None
    learned = _learned(version)
    units = _units(version, learned)
    if Split.of(version.summary).way == "group":
        numbers = _by_size(units, folds - 1)
    else:
        numbers = _in_turn(units, learned, version.target, folds - 1)
    validation = version.frames["validation"][ROW].to_numpy()
    found = np.concatenate([np.zeros(len(validation), dtype=int), 1 + numbers])
    return pd.Series(found, index=np.concatenate([validation, learned[ROW].to_numpy()]))


def group_numbers(version: Divided) -> pd.Series | None:
    """Return the group (rows,) of each row with a role, by its id; rows of one are not independent.

    None: where rows are not divided by group, or the column of the groups is no input.
    """
    import pandas as pd

    split = Split.of(version.summary)
    if split.way != "group" or split.column not in version.frames["train"].columns:
        return None
    rows = pd.concat([version.frames[role] for role in ROLES], ignore_index=True)
    return pd.Series(_units(version, rows), index=rows[ROW].to_numpy())


def _learned(version: Divided) -> pd.DataFrame:
    """Return the train rows that are on."""
    train = version.frames["train"]
    return train.loc[~train[ROW].isin(version.off)].reset_index(drop=True)


def _units(version: Divided, rows: pd.DataFrame) -> np.ndarray:
    """Return what each row (rows,) stays together with: its group, or its copies, by number."""
    import numpy as np

    split = Split.of(version.summary)
    if split.way == "group":
        names = rows[split.column].astype(str).to_numpy()
        return np.unique(names, return_inverse=True)[1]
    columns = compared_columns(version.schema_in, version.schema_out)
    return first_copies(content_keys(rows, columns))


def _by_size(units: np.ndarray, folds: int) -> np.ndarray:
    """Return the fold of each row (rows,): units, the largest first, go where there is least."""
    import numpy as np

    sizes = np.bincount(units)
    filled = np.zeros(folds, dtype=int)
    of_unit = np.zeros(len(sizes), dtype=int)
    for unit in np.argsort(-sizes, kind="stable"):
        of_unit[unit] = filled.argmin()
        filled[of_unit[unit]] += sizes[unit]
    return of_unit[units]


def _in_turn(units: np.ndarray, rows: pd.DataFrame, target: str, folds: int) -> np.ndarray:
    """Return the fold of each row (rows,): units of a class, in an order that is as good as random,
    go to one fold after the other.
    """
    import numpy as np
    import pandas as pd

    heads, unit = np.unique(units, return_inverse=True)
    first = rows.iloc[heads]
    codes = np.zeros(len(heads), dtype=int)
    if isinstance(rows[target].dtype, pd.CategoricalDtype):
        codes = first[target].cat.codes.to_numpy()
    order = np.lexsort([scattered(first[ROW].to_numpy()), codes])
    of_unit = np.empty(len(heads), dtype=int)
    of_unit[order] = np.arange(len(heads)) % folds
    return of_unit[unit]

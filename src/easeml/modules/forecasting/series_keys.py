"""The key of a series: the values by which it is told apart, as one text."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.forecasting.rule import Rule

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import ColumnTable

_END = "\n"  # of each name in a key
_NAMELESS = "\x1f"  # stands for a name that is missing
_LINE_END = "\x1e"  # and this for an end of a line in a name


def of_rows(rule: Rule, table: "pd.DataFrame | ColumnTable") -> NDArray[Any]:
    """Return the key of the series of each row (rows,)."""
    keys = np.full(len(table), "", dtype=object)
    for column in rule.series:
        keys += _as_names(np.asarray(table[column])) + _END
    return keys.astype(str)


def names(key: str) -> list[str | None]:
    """Return the values that a key is made of, as texts; None for a missing one."""
    return list(map(_unescaped, key.split(_END)[:-1]))


def lack_a_name(keys: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which keys have a value that is missing (rows,)."""
    return np.char.find(keys, _NAMELESS + _END) >= 0


def _as_names(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as texts (rows,) without line ends."""
    import pandas as pd

    texts = pd.Series(values.astype(str), dtype=object)
    texts = texts.str.replace(_END, _LINE_END, regex=False)
    return texts.mask(pd.isna(values), _NAMELESS).to_numpy()


def _unescaped(name: str) -> str | None:
    if name == _NAMELESS:
        return None
    return name.replace(_LINE_END, _END)

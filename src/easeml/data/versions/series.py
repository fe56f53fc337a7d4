"""Series that are forecast: each has one value at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import filterfalse
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, first_of

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 8  # names of columns in one sentence


def check_series(rows: pd.DataFrame, time: str, series: Sequence[str]) -> None:
    """Raise DatasetError where a row has no time, or rows of one series have the same: then what
    may tell series apart is named.

    ``series``: the columns by which series are told apart; none where there is one.
    """
    without = int(rows[time].isna().to_numpy().sum())
    if without:
        raise DatasetError(
            f"{without:,} rows have no time, so nobody knows what came before them.",
            where=f"column '{time}'",
            remedy="Write their times, or leave these rows out of the file.",
        )
    again = rows.duplicated([*series, time])
    if not again.any():
        return
    first = rows.loc[again].iloc[0]
    among = f" of one series ({', '.join(series)})" if series else ""
    raise DatasetError(
        f"{int(again.sum()):,} rows have the time of another row{among}, such as {first[time]}.",
        where=f"column '{time}'",
        remedy=_remedy(rows, time, series),
    )


def forecast_notes(inputs: Sequence[str], target: str, told: Collection[str]) -> list[str]:
    """Return what is said of the inputs of a forecast that have to be known ahead: all but those of
    which something else is told (its time, its series, what is looked at in the past only).
    """
    ahead = list(filterfalse(told.__contains__, inputs))
    if not ahead:
        return []
    names = first_of(list(map("'{}'".format, ahead)), _SHOWN)
    return [
        f"To forecast '{target}', these columns have to be known ahead: {names}. Say which are not "
        "(--past-only COLUMN): they would know what nobody knows then."
    ]


def _remedy(rows: pd.DataFrame, time: str, series: Sequence[str]) -> str:
    """Return what to do about rows of the same time: another column may tell series apart."""
    categories = rows.select_dtypes("category").columns
    for name in categories.difference([*series], sort=False):
        if not rows.duplicated([*series, name, time]).any():
            return f"Name the column that tells series apart, perhaps '{name}' (--series COLUMN)."
    return "Name the columns that tell series apart (--series COLUMN), or keep one row a time."

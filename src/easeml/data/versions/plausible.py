"""Rows that are added are looked at first: a column that is plainly broken lets none of them join.

What is rare stays rare in a feed, and what drifts does so by less than all that was seen before. A
unit that was changed, or a sensor that fell out, shows on most of the rows. Only that is held back:
whether rows are of another time is for watching to tell.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.column_report import ColumnReport

if TYPE_CHECKING:
    import pandas as pd

_FEWEST = 20  # rows by which a column is judged
_MOST = 0.5  # of them that may be below 0, or without a value
_NEARLY_ALL = 0.9  # of them that may be far from all others
_COMPLETE = 0.05  # share without a value of a column that hardly ever lacks one
_USED = ("input", "target")


def check(columns: list[ColumnReport], before: pd.DataFrame, new: pd.DataFrame, name: str) -> None:
    """Check that no column of rows that are added is plainly broken.

    ``columns``: their reports; ``before``: the rows with answers that there are. Fewer than 20 new
    rows are not judged. ``name``: of the file.

    Raises:
        DatasetError: naming each broken column, and how the rows may join all the same.
    """
    if min(len(before), len(new)) < _FEWEST:
        return
    used = filter(_is_used, columns)
    faults = list(filter(None, map(partial(_fault, before, new), used)))
    if not faults:
        return
    lines = "\n".join(map("- {}".format, faults))
    raise DatasetError(
        f"these rows look broken; nothing was changed:\n{lines}\n",
        where=name,
        remedy="Correct the file and feed it again; if it is right: "
        "easeml app feed ID FILE --anyway",
    )


def _is_used(report: ColumnReport) -> bool:
    return report.role in _USED


def _fault(before: pd.DataFrame, new: pd.DataFrame, report: ColumnReport) -> str:
    """Return what is broken about a column of new rows; empty where nothing is."""
    import pandas as pd

    known, values = pd.Series(before[report.name]), pd.Series(new[report.name])
    lacking = float(values.isna().mean())
    is_complete = float(known.isna().mean()) <= _COMPLETE
    # Rows without an answer are usual, and can be labelled.
    if report.role == "input" and is_complete and lacking > _MOST:
        return f"column '{report.name}': {lacking:.0%} have no value; hardly any row lacked it."
    if report.type != "number":
        return ""
    return _out_of_range(report.name, known.dropna(), values.dropna())


def _out_of_range(name: str, before: pd.Series, new: pd.Series) -> str:
    """Return that numbers lie where none came near; empty where they do not.

    That is most on the other side of 0, or nearly all further away than the whole range. A counter
    goes on where it was, so that some of it is near.
    """
    if min(len(before), len(new)) < _FEWEST:
        return ""
    least = float(before.min())
    largest = float(before.max())
    spread = largest - least
    negative = float((new < min(least, 0.0)).mean())
    if least >= 0 and negative > _MOST:
        return f"column '{name}': {negative:.0%} are below 0, and no value was before."
    near = float(new.between(least - spread, largest + spread).mean())
    if 1 - near <= _NEARLY_ALL:
        return ""
    return (
        f"column '{name}': {1 - near:.0%} are far from all that was there, {least:g} to "
        f"{largest:g}, such as {float(new.median()):g}."
    )

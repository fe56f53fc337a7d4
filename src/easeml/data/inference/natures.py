"""What columns are among the others: time order and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def with_natures(reports: Sequence[ColumnReport], table: dict[str, pa.Array]) -> list[ColumnReport]:
    """The reports with ``time`` and ``group`` where that shows.

    ``table``: the columns by name, in order of rows.
    """
    moments = 0
    for report in reports:
        if report.type == "timestamp" and report.role == "input":
            moments += 1

    made = []
    for report in reports:
        if report.role == "input":
            made.append(_with_nature(report, table[report.name], only=moments == 1))
        else:
            made.append(report)
    return made


def _with_nature(report: ColumnReport, array: pa.Array, *, only: bool) -> ColumnReport:
    """The report of an input as a time or a group, where it is one."""
    found = _time(report, array, only=only)
    if found is None:
        found = _group(report, len(array))
    return report if found is None else found


def _time(report: ColumnReport, array: pa.Array, *, only: bool) -> ColumnReport | None:
    """Timestamps, or numbers named like a moment, in whose order the rows are."""
    import numpy as np

    if report.type == "timestamp":
        values = v.to_timestamps(array, report.format).values.astype("int64").astype(float)
        values[values == np.iinfo("int64").min] = np.nan
    elif _is_named_moment(report):
        values = v.to_numbers(plain_numbers(array, report.format)).values
    else:
        return None

    if report.distinct > 2 and _are_in_order(values):
        sure = 0.95 if report.type == "timestamp" else 0.85
        return _as_time(report, sure, "The rows are in its order: think of a split by time.")
    if report.type == "timestamp" and only:
        return _as_time(report, 0.5, "The only time of the rows, which are in another order.")
    return None


def _are_in_order(values: np.ndarray) -> bool:
    """Whether several numbers never fall, or never rise; those that are missing do not count."""
    import numpy as np

    steps = np.diff(values[~np.isnan(values)])
    if not len(steps):
        return False
    return bool((steps >= 0).all() or (steps <= 0).all())


def _as_time(report: ColumnReport, sure: float, why: str) -> ColumnReport:
    evidence = f"{report.evidence} {why}"
    return replace(report, nature="time", nature_confidence=sure, evidence=evidence)


def _is_named_moment(report: ColumnReport) -> bool:
    """Whether a column of many numbers is named like a moment: year, day."""
    if report.type != "number" or report.distinct <= 20:
        return False
    return not set(names.words(report.name)).isdisjoint(names.MOMENTS)


def _group(report: ColumnReport, rows: int) -> ColumnReport | None:
    """Labels of somebody or something that several rows share."""
    if report.type in {"number", "timestamp"} or report.distinct < 5:
        return None
    each = rows * (1 - report.missing) / report.distinct
    if each < 1.01 or not names.names_entity(report.name):
        return None
    together = f"Rows of the same '{report.name}' belong together: think of a split by group."
    found = replace(
        report,
        nature="group",
        nature_confidence=0.75 if each >= 1.3 else 0.6,
        evidence=f"{report.evidence} {together}",
    )
    is_identifier = each <= 2 and names.names_identifier(report.name)
    if not is_identifier:
        return found
    said = f"{found.evidence} As an identifier it tells a model nothing."
    return replace(found, role="drop", evidence=said)

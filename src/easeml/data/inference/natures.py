"""What columns are among the others: time order and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.types import values as v
from easeml.data.types.column_report import ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_FEWEST_MOMENTS = {"timestamp": 3, "number": 21}  # that differ, by type
_SURE_OF_TIME = {"timestamp": 0.95, "number": 0.85}  # where rows are in its order, by type


def with_natures(
    reports: Sequence[ColumnReport], table: dict[str, pa.Array], rows: int
) -> list[ColumnReport]:
    """The reports with ``time`` and ``group`` where that shows.

    ``table``: the columns by name, in order of rows, of which some are looked at; ``rows``: all.
    """
    stamps = [report.name for report in reports if _is_timed_input(report)]
    return [_with_nature(report, table[report.name], stamps, rows) for report in reports]


def _is_timed_input(report: ColumnReport) -> bool:
    return report.type == "timestamp" and report.role == "input"


def _with_nature(
    report: ColumnReport, array: pa.Array, stamps: list[str], rows: int
) -> ColumnReport:
    """The report, of an input as a time or a group where it is one; ``stamps``: all timestamps."""
    if report.role != "input":
        return report
    return (
        _time_in_order(report, array)
        or _only_time(report, stamps)
        or _group(report, rows)
        or report
    )


def _time_in_order(report: ColumnReport, array: pa.Array) -> ColumnReport | None:
    """Timestamps, or numbers named like a moment, in whose order the rows are."""
    varies = report.distinct >= _FEWEST_MOMENTS.get(report.type, inf)
    is_called_time = report.type == "timestamp" or names.has_word(report.name, names.MOMENTS)
    is_time = varies and is_called_time and _are_in_order(_moments(report, array))
    if not is_time:
        return None
    why = "The rows are in its order: think of a split by time."
    return _as_time(report, _SURE_OF_TIME[report.type], why)


def _only_time(report: ColumnReport, stamps: list[str]) -> ColumnReport | None:
    """The only timestamps of the rows, which tell of time in whatever order."""
    if stamps != [report.name]:
        return None
    return _as_time(report, 0.5, "The only time of the rows, which are in another order.")


def _moments(report: ColumnReport, array: pa.Array) -> np.ndarray:
    """A number a row that rises with time; NaN is missing."""
    import numpy as np

    if report.type == "number":
        return v.to_numbers(plain_numbers(array, report.format)).values
    times = v.to_timestamps(array, report.format).values
    return np.where(np.isnat(times), np.nan, times.astype("int64").astype(float))


def _are_in_order(values: np.ndarray) -> bool:
    """Whether several numbers never fall, or never rise; those that are missing do not count."""
    import numpy as np

    steps = np.diff(values[~np.isnan(values)])
    return len(steps) > 0 and not steps.min() < 0 < steps.max()


def _as_time(report: ColumnReport, sure: float, why: str) -> ColumnReport:
    evidence = f"{report.evidence} {why}"
    return replace(report, nature="time", nature_confidence=sure, evidence=evidence)


def as_target(report: ColumnReport, sure: float) -> ColumnReport:
    """The report of a column that is the target: its rows are not parts of a group."""
    evidence = report.evidence.replace(_belong_together(report.name), "").rstrip()
    return replace(report, nature="target", nature_confidence=sure, evidence=evidence)


def _belong_together(name: str) -> str:
    return f"Rows of the same '{name}' belong together: think of a split by group."


def _group(report: ColumnReport, rows: int) -> ColumnReport | None:
    """Labels of somebody or something that several rows share."""
    are_labels = report.type not in {"number", "timestamp"}
    each = rows * (1 - report.missing) / max(report.distinct, 1)
    are_shared = report.distinct >= 5 and each >= 1.01
    is_group = are_labels and are_shared and names.names_entity(report.name)
    if not is_group:
        return None

    found = replace(
        report,
        nature="group",
        nature_confidence=0.75 if each >= 1.3 else 0.6,
        evidence=f"{report.evidence} {_belong_together(report.name)}",
    )
    is_identifier = each <= 2 and names.names_identifier(report.name)
    if not is_identifier:
        return found
    evidence = f"{found.evidence} As an identifier it tells a model nothing."
    return replace(found, role="drop", evidence=evidence)

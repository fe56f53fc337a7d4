"""What columns are among the others: time order, groups, the target, and suspects of leaking it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from easeml.data.inference import name_words as names
from easeml.data.inference.leaks import leaks
from easeml.data.types import values as v
from easeml.data.types.column_report import SUSPICION, ColumnReport
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import pyarrow as pa

_TELLING = (
    "target",
    "label",
    "class",
    "y",
    "outcome",
    "response",
)  # the first that occurs is the target
_SUGGESTIVE = (
    *(
        "survived",
        "churn",
        "churned",
        "diagnosis",
        "species",
        "saleprice",
        "sale_price",
        "price",
        "fraud",
        "is_fraud",
    ),
    *(
        "spam",
        "disease",
        "attrition",
        "default",
        "sentiment",
        "rating",
        "quality",
        "demand",
        "revenue",
        "sales",
    ),
)
_TAIL = re.compile(r"[ _.-](target|label|class|outcome)$|[a-z](Target|Label|Class|Outcome)$")


def with_natures(reports: Sequence[ColumnReport], table: dict[str, pa.Array]) -> list[ColumnReport]:
    """The reports with ``time`` and ``group`` where that shows; ``table``: the columns by name, in
    order of rows.
    """
    moments = [
        report for report in reports if report.type == "timestamp" and report.role == "input"
    ]
    made = []
    for report in reports:
        found = None
        if report.role == "input":
            found = _time(report, table[report.name], only=len(moments) == 1) or _group(
                report, len(table[report.name])
            )
        made.append(found or report)
    return made


def with_target(
    reports: Sequence[ColumnReport], table: dict[str, pa.Array], target: str
) -> list[ColumnReport]:
    """The reports with the target, and with what seems to leak it."""
    made = {report.name: report for report in reports}
    values = [report for report in reports if report.name in table]
    suspects = (
        leaks(values, table, target) if target in table else {}
    )  # pictures and the like are not looked into
    for name, (why, sure) in suspects.items():
        report = made[name]
        remedy = f"Drop it if it is not known when you predict (--drop '{name}')."
        evidence = f"{report.evidence}{SUSPICION} '{target}': {why}. {remedy}"
        made[name] = replace(report, nature="leak", nature_confidence=sure, evidence=evidence)
    return list(made.values())


def propose_target(reports: Sequence[ColumnReport]) -> tuple[str, float, str] | None:
    """A suitable column whose name tells, else the last suitable one, else None; how sure, and why."""
    suitable = [r for r in reports if r.role == "input" and r.distinct > 1 and _can_be_target(r)]
    suitable = [r for r in suitable if not set(names.words(r.name)) & names.PREDICTIONS] or suitable
    lower = {report.name.lower(): report.name for report in reversed(suitable)}
    for words, sure, why in (
        (_TELLING, 0.95, "is what a target is called"),
        (_SUGGESTIVE, 0.8, "is often predicted"),
    ):
        for word in words:
            if word in lower:
                return lower[word], sure, f"Proposed as the target: '{lower[word]}' {why}."
    tailed = [report.name for report in suitable if _TAIL.search(report.name)]
    if tailed:
        return tailed[-1], 0.9, "Proposed as the target: its name ends like that of a target."
    likely = [report for report in suitable if report.nature not in ("time", "group")] or suitable
    if not likely:
        return None
    return likely[-1].name, 0.5, "Proposed as the target: the last column that could be one."


def _can_be_target(report: ColumnReport) -> bool:
    return report.type in ("number", "category") or (
        report.type == "tensor" and report.name.lower() in _TELLING
    )


def _time(report: ColumnReport, array: pa.Array, *, only: bool) -> ColumnReport | None:
    """Timestamps, or numbers named like a moment, in whose order the rows are."""
    import numpy as np

    if report.type == "timestamp":
        values = v.to_timestamps(array, report.format).values.astype("int64").astype(float)
        values[values == np.iinfo("int64").min] = np.nan
    elif (
        report.type == "number"
        and set(names.words(report.name)) & names.MOMENTS
        and report.distinct > 20
    ):
        values = v.to_numbers(plain_numbers(array, report.format)).values
    else:
        return None
    steps = np.diff(values[~np.isnan(values)])
    if len(steps) and report.distinct > 2 and ((steps >= 0).all() or (steps <= 0).all()):
        sure = 0.95 if report.type == "timestamp" else 0.85
        said = f"{report.evidence} The rows are in its order: think of a split by time."
        return replace(report, nature="time", nature_confidence=sure, evidence=said)
    if report.type == "timestamp" and only:
        said = f"{report.evidence} The only time of the rows, which are in another order."
        return replace(report, nature="time", nature_confidence=0.5, evidence=said)
    return None


def _group(report: ColumnReport, rows: int) -> ColumnReport | None:
    """Labels of somebody or something that several rows share."""
    if report.type in {"number", "timestamp"} or report.distinct < 5:
        return None
    each = rows * (1 - report.missing) / report.distinct
    if each < 1.01 or not names.names_entity(report.name):
        return None
    said = f"{report.evidence} Rows of the same '{report.name}' belong together: think of a split by group."
    if each <= 2 and names.names_identifier(report.name):
        report, said = (
            replace(report, role="drop"),
            f"{said} As an identifier it tells a model nothing.",
        )
    return replace(
        report, nature="group", nature_confidence=0.75 if each >= 1.3 else 0.6, evidence=said
    )

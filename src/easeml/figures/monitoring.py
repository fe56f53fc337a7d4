"""The figure of a model's quality over batches, estimated without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.figures.description import Axis, Mark, Reference, Series, column, grouped
from easeml.figures.figure import Figure

_TONES = {
    "ok": "good",
    "inputs as before": "3",
    "watch": "warn",
    "alert": "bad",
    "cannot tell": "muted",
}


def monitored(reports: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the estimated quality of successive batches with its interval, coloured by status.

    ``reports`` are monitoring reports as JSON, one a batch. The quality on the reference data is a
    line across.
    """
    series = []
    for status, chosen in grouped(reports, "status").items():
        series.append(_of_status(status, chosen))
    labelled = [report for report in reports if report["labelled"] is not None]
    if labelled:
        series.append(_labelled(labelled))
    references = ()
    if reports:
        references = (Reference(reports[0]["reference"], "reference quality"),)

    return Figure(
        "Quality of the deployed model",
        Axis("batch"),
        Axis("estimated quality", low=0.0, high=1.02),
        tuple(series),
        references,
    )


def _of_status(status: str, reports: list[Mapping[str, Any]]) -> Series:
    mark: Mark = "ring" if status == "cannot tell" else "dot"
    return Series(
        status,
        column(reports, "batch"),
        column(reports, "score"),
        kind="points",
        tone=_TONES.get(status, "muted"),
        mark=mark,
        low=column(reports, "low"),
        high=column(reports, "high"),
        notes=tuple(report["advice"] for report in reports),
    )


def _labelled(reports: list[Mapping[str, Any]]) -> Series:
    return Series(
        "queried labels alone",
        column(reports, "batch"),
        column(reports, "labelled"),
        kind="points",
        tone="4",
        mark="square",
    )

"""Columns of numbers among which more than a few cells are none: they are learned as words."""

from collections.abc import Sequence

from easeml.data.inference.text_hints import BUT_FOR
from easeml.data.types.column_report import ColumnReport


def nearly_number_notes(reports: Sequence[ColumnReport]) -> list[str]:
    """Return a note for each column that is used and that a few rows keep from being a number."""
    notes = []
    for report in reports:
        _, found, rest = report.evidence.partition(BUT_FOR)
        if not found or report.role == "drop":
            continue
        example = rest.partition("'.")[0]
        notes.append(
            f"Column '{report.name}' is taken as a {report.type}: each number is a word, and none "
            f"is larger than another. {BUT_FOR}{example}'. If these are numbers too, write all "
            "cells in one unit, and leave the unit out."
        )
    return notes

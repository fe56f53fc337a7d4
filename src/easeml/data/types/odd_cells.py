"""What is said of a few odd cells in a column of numbers or dates, and how it is taken back."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

from easeml.data.errors import first_of, told_setting
from easeml.data.types.column_report import ColumnReport

_BEGIN = " Odd cells:"
_SHOWN = 5  # odd texts of a column


def told_odd(name: str, kind: str, read: Sequence[str], unread: Sequence[str]) -> str:
    """Return the sentences on the odd cells of a column of numbers or timestamps.

    ``read``: those that are read all the same, and as what; ``unread``: those that are not. Both
    say in which rows they are.
    """
    said = [f"{first_of(read, _SHOWN)}."] if read else []
    if unread:
        counts = "counts" if len(unread) == 1 else "count"
        said.append(
            f"{first_of(unread, _SHOWN)} cannot be read as a {kind} and {counts} as missing."
        )
    return f"{_BEGIN} {' '.join(said)}{_way_out(name)}"


def odd_notes(report: ColumnReport) -> list[str]:
    """Return a note on the odd cells of a column; none where there are none."""
    _, begin, rest = report.evidence.partition(_BEGIN)
    if not begin:
        return []
    said, end, _ = rest.partition(_way_out(report.name))
    return [f"Column '{report.name}' has odd cells (the first row is row 0):{said}{end}"]


def without_odd(report: ColumnReport) -> ColumnReport:
    """Return the report of a column whose odd cells are values like the others."""
    before, begin, rest = report.evidence.partition(_BEGIN)
    if not begin:
        return report
    _, _, after = rest.partition(_way_out(report.name))
    return replace(report, evidence=before + after, missing_codes=[])


def codes_in(said: str) -> list[str]:
    """Return the codes of missing values in a setting: commas between, one with a comma in quotes."""
    found = next(csv.reader([said], skipinitialspace=True), [])
    return list(filter(None, map(str.strip, found)))


def codes_told(codes: Sequence[str]) -> str:
    """Return codes of missing values as a setting, which ``codes_in`` reads."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(codes)
    return out.getvalue()


def _way_out(name: str) -> str:
    return f" Correct the file, or let the column be another type ({told_setting(name, 'text')})."

"""Classes that differ only in capitals: they are learned as several, and may be one."""

from collections.abc import Sequence

from easeml.data.types.column_report import ColumnReport

_SHOWN = 3


def spelling_notes(reports: Sequence[ColumnReport]) -> list[str]:
    """Return a note for each column with classes that differ only in capitals."""
    notes = []
    for report in reports:
        if report.type != "category" or report.role == "drop":
            continue
        alike = _alike(report.classes)
        if alike:
            shown = "; ".join(", ".join(map(repr, one)) for one in alike[:_SHOWN])
            notes.append(
                f"Column '{report.name}': {shown} differ only in capitals. Each counts as a class "
                "of its own; if they are one, write them alike."
            )
    return notes


def _alike(classes: Sequence[str]) -> list[list[str]]:
    by_letters: dict[str, list[str]] = {}
    for name in classes:
        by_letters.setdefault(name.casefold(), []).append(name)
    return [names for names in by_letters.values() if len(names) > 1]

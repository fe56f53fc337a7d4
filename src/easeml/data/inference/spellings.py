"""Classes that differ only in capitals: they are learned as several, and may be one."""

from collections.abc import Sequence

from easeml.data.types.column_report import ColumnReport

_SHOWN = 3


def spelling_notes(reports: Sequence[ColumnReport]) -> list[str]:
    """Return a note for each column with classes that differ only in capitals."""
    notes = []
    for report in filter(_is_used_category, reports):
        alike = _alike(report.classes)
        if alike:
            notes.append(_note(report.name, alike[:_SHOWN]))
    return notes


def _is_used_category(report: ColumnReport) -> bool:
    return report.type == "category" and report.role != "drop"


def _note(column: str, alike: Sequence[Sequence[str]]) -> str:
    groups = [", ".join(map(repr, labels)) for labels in alike]
    return (
        f"Column '{column}': {'; '.join(groups)} differ only in capitals. Each counts as a class "
        "of its own; if they are one, write them alike."
    )


def _alike(classes: Sequence[str]) -> list[list[str]]:
    by_letters: dict[str, list[str]] = {}
    for name in classes:
        by_letters.setdefault(name.casefold(), []).append(name)
    return [names for names in by_letters.values() if len(names) > 1]

"""What any tool answered, made ready for the macro of ``reports.html``."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from easeml.contract.reports import Report
from easeml.figures import Figure

_FIGURES = TypeAdapter(tuple[Figure, ...])


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report, with its figures ready to be drawn."""

    report: Report
    figures: tuple[Figure, ...]


def shown(report: Report) -> ShownReport:
    """Return a report as pages show it."""
    return ShownReport(report, _FIGURES.validate_python(report.figures))

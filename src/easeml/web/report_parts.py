"""What any tool answered, made ready for the macro of ``reports.html``."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from easeml.contract.reports import Report
from easeml.figures import Figure

_FIGURE = TypeAdapter(Figure)


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report, with its figure ready to be drawn."""

    report: Report
    figure: Figure | None


def shown(report: Report) -> ShownReport:
    """Return a report as pages show it."""
    figure = None if report.figure is None else _FIGURE.validate_python(report.figure)
    return ShownReport(report, figure)

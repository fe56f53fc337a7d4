"""What any tool answered, made ready for the macro of ``reports.html``."""

import re
from dataclasses import dataclass

from pydantic import TypeAdapter

from easeml.contract.reports import Report
from easeml.figures import Figure
from easeml.web.titles import Titles

_ID = re.compile(r" \(mod_\w+\)")
_FIGURES = TypeAdapter(tuple[Figure, ...])


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A report, with its figures ready to be drawn."""

    report: Report
    figures: tuple[Figure, ...]


def shown(titles: Titles, report: Report) -> ShownReport:
    """Return a report as pages show it: models are called by their titles, without their ids."""
    told = report.with_texts(lambda text: titles.in_text(_ID.sub("", text)))
    return ShownReport(told, _FIGURES.validate_python(told.figures))

"""What is found in the rows of one request: notes, and faults that are told all at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from easeml.data.errors import DatasetError
from easeml.data.types.text_tables import ROWS_COUNT

MOST_FAULTS = 20
_MOST_NOTES = 20


@dataclass
class Findings:
    """Notes and faults.

    ``fill_absent``: whether columns that may be empty may be absent as well.
    """

    fill_absent: bool = False
    notes: list[str] = field(default_factory=list)
    faults: list[DatasetError] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether there are so many faults that looking on is of no use."""
        return len(self.faults) > MOST_FAULTS

    def note(self, said: str) -> None:
        """Keep a note; of very many the first ones."""
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(said)

    def fault(self, message: str, where: str, remedy: str = "") -> None:
        """Keep a fault, to be raised by ``check``."""
        if not self.full:
            self.faults.append(DatasetError(message, where=where, remedy=remedy))

    def check(self) -> None:
        """Raise the faults that were found, several in one DatasetError."""
        if not self.faults:
            return
        if len(self.faults) == 1:
            raise _with_base(self.faults[0])
        lines = [f"- {fault}" for fault in self.faults[:MOST_FAULTS]]
        if self.full:
            lines.append("- and more.")
        count = f"more than {MOST_FAULTS}" if self.full else str(len(self.faults))
        heading = f"the rows have {count} faults ({ROWS_COUNT}):"
        raise DatasetError(
            "\n".join([heading, *lines, ""]),
            remedy="Correct them all and send the rows again.",
        )


def _with_base(fault: DatasetError) -> DatasetError:
    """A fault that stands alone says from where its row is counted."""
    if not fault.where.startswith("row "):
        return fault
    remedy = f"{fault.remedy} ({ROWS_COUNT.capitalize()}.)".strip()
    return DatasetError(fault.message, where=fault.where, remedy=remedy)

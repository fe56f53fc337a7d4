"""What is found in the rows of one request: notes, and faults that are told all at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from easeml.data.errors import DatasetError, first_of, shown, told_respelt
from easeml.data.types.text_tables import ROWS_COUNT

MOST_FAULTS = 20
"""Faults that one answer tells; those that are alike in many rows of a column are one."""
MISSING = "missing"
"""The kind of the fault of a cell without a value."""
ALLOW_ABSENT = "fill_absent=true in the query"
"""How a request allows absent columns; commands and pages tell their own way instead."""
ALLOW_EMPTY = "fill_empty=true in the query"
"""How a request allows empty cells in columns that had none in training; told likewise."""
_ALLOW = f"Or allow empty cells: {ALLOW_EMPTY}."
_ABSENT = "absent"
_About = tuple[str, str | int]  # a kind of faults, and the column or the remedy that it has
_MOST_NOTES = 20
_MOST_PLACES = 3  # of rows with the same fault, beside the first one
_MOST_VALUES = 3  # of a column that were not there in training


@dataclass
class _Fault:
    """A fault, where it was found first, and in how many more rows it is."""

    first: DatasetError
    others: list[str] = field(default_factory=list)  # the next places
    columns: list[str] = field(default_factory=list)  # that are absent, where this is the fault
    more: int = 0  # places, of which ``others`` are the first

    def told(self) -> DatasetError:
        """The fault as one error, which says in which other rows it is."""
        if len(self.columns) > 1:
            return self._told_of_columns()
        if not self.more:
            return self.first
        places = ", ".join(self.others)
        if self.more > len(self.others):
            places += ", ..."
        rows = "row is" if self.more == 1 else "rows are"
        message = f"{self.first.message} {self.more:,} more {rows} like it ({places})."
        return DatasetError(message, where=self.first.where, remedy=self.first.remedy)

    def _told_of_columns(self) -> DatasetError:
        names = first_of(list(map("'{}'".format, self.columns)), MOST_FAULTS)
        message = f"{len(self.columns)} columns are not there: {names}."
        where = self.first.where.partition(",")[0]
        remedy = self.first.remedy.replace("Send it", "Send them").replace("it out", "them out")
        remedy = remedy.replace("without it,", "without them,")
        return DatasetError(message, where=where, remedy=remedy)


@dataclass
class _Unseen:
    """Values of a column that were not there in training, and in how many rows they are."""

    rows: int = 0
    values: dict[str, str] = field(default_factory=dict)  # the first ones, with their place

    def note(self, column: str) -> str:
        """What is said of the column."""
        if self.rows == 1:
            [(value, where)] = self.values.items()
            return f"{where}: {value} is new in '{column}'; it is treated as missing."
        such = ", ".join(f"{value} ({where})" for value, where in self.values.items())
        return (
            f"{self.rows:,} rows have values that are new in '{column}', such as {such}; "
            "they are treated as missing."
        )


@dataclass
class _Empty:
    """How many cells of a column are empty that may not be, and the rows of the first ones."""

    rows: int = 0
    places: list[str] = field(default_factory=list)

    def told(self, column: str) -> str:
        """The column, and how many rows and which."""
        places = first_of(self.places, _MOST_PLACES, ", ...")
        return f"'{column}' in {self.rows:,} {'row' if self.rows == 1 else 'rows'} ({places})"


@dataclass
class Findings:
    """Notes and faults.

    ``fill_absent``: whether columns that may be empty may be absent as well. ``fill_empty``:
    whether cells may be empty in columns that had no empty one in training. ``past_only``: columns
    that a forecast knows of the past alone.
    """

    fill_absent: bool = False
    fill_empty: bool = False
    past_only: Collection[str] = ()
    said: list[str] = field(default_factory=list)
    faults: dict[_About, _Fault] = field(default_factory=dict)
    count: int = 0  # of all faults, also of those that are not kept
    unseen: dict[str, _Unseen] = field(default_factory=dict)
    empty: dict[str, _Empty] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)  # columns that may be
    unknown: list[str] = field(default_factory=list)  # columns that the model does not know
    misspelt: set[str] = field(default_factory=set)  # columns that are there by another name

    @property
    def notes(self) -> list[str]:
        """What was unusual; of very much the first."""
        unseen = [found.note(column) for column, found in self.unseen.items()]
        return [*self.said, *self._told_of_empty(), *unseen][:_MOST_NOTES]

    def _told_of_empty(self) -> list[str]:
        """What is said of the columns with empty cells that had none in training, if any has."""
        if not self.empty:
            return []
        found = [empty.told(column) for column, empty in self.empty.items()]
        return [
            f"No value, where all training rows had one: {first_of(found, MOST_FAULTS)}. "
            "These predictions are less certain than the test quality says."
        ]

    def note(self, said: str) -> None:
        """Keep a note, once; of very many the first ones."""
        if len(self.said) < _MOST_NOTES and said not in self.said:
            self.said.append(said)

    def without(self, column: str) -> None:
        """Keep that a column is absent, which is allowed; of a table in parts once."""
        if column not in self.absent:
            self.absent.append(column)
        self.note(f"The column '{column}' is not there; it is treated as missing.")

    def empty_cell(self, column: str, where: str, remedy: str) -> None:
        """Keep that the cell at ``where`` is empty in a column that had no such cell in training.

        It is a fault, unless such cells are allowed.
        """
        if not self.fill_empty:
            said = "the value is missing."
            self.fault_of_cell(MISSING, said, where, column, remedy)
            return
        found = self.empty.setdefault(column, _Empty())
        found.rows += 1
        if len(found.places) <= _MOST_PLACES:
            found.places.append(where)

    def more_empty_cells(self, column: str, rows: int) -> None:
        """Count rows with empty cells like those that were kept."""
        if self.fill_empty:
            self.empty[column].rows += rows
        else:
            self.like_it(MISSING, column, rows)

    def new_value(self, column: str, value: object, where: str) -> None:
        """Keep that the category at ``where`` was not there in training."""
        found = self.unseen.setdefault(column, _Unseen())
        found.rows += 1
        if len(found.values) < _MOST_VALUES:
            found.values.setdefault(shown(value), where)

    def more_new_values(self, column: str, rows: int) -> None:
        """Count rows with values that were not there in training, beside those that were kept."""
        if rows:
            self.unseen[column].rows += rows

    def fault(self, message: str, where: str, remedy: str = "") -> None:
        """Keep a fault, to be raised by ``check``."""
        self._keep(("one", self.count), DatasetError(message, where=where, remedy=remedy), where)

    def misspelt_columns(self, meant: Mapping[str, str], where: str) -> None:
        """Keep that columns have other names than in training.

        ``meant``: those of training, by those given.
        """
        self.misspelt = set(meant.values())
        self.fault(told_respelt(meant), where, "Write the names as in training.")

    def absent_column(self, where: str, column: str, remedy: str) -> None:
        """Keep that a column is absent, once: a table that is read in parts has it in each.

        Columns with the same remedy are one fault.
        """
        if column in self.misspelt:
            return
        about = (_ABSENT, remedy)
        known = self.faults.get(about)
        if known is None:
            place = f"{where}, column '{column}'"
            fault = DatasetError("the column is not there.", where=place, remedy=remedy)
            self._keep(about, fault, where, columns=[column])
        elif column not in known.columns:
            self.count += 1
            known.columns.append(column)

    def fault_of_cell(self, kind: str, message: str, where: str, column: str, remedy: str) -> None:
        """Keep the fault of a cell; those of one kind in a column are told as one.

        ``where`` names the row.
        """
        if column in self.misspelt:
            return
        error = DatasetError(message, where=f"{where}, column '{column}'", remedy=remedy)
        self._keep((kind, column), error, where)

    def like_it(self, kind: str, column: str, rows: int) -> None:
        """Count rows that have the fault of a cell that was kept of other rows."""
        self.count += rows
        if (kind, column) in self.faults:
            self.faults[kind, column].more += rows

    def _keep(
        self, about: _About, error: DatasetError, place: str, columns: Sequence[str] = ()
    ) -> None:
        self.count += 1
        known = self.faults.get(about)
        if known is None:
            if len(self.faults) <= MOST_FAULTS:
                self.faults[about] = _Fault(error, columns=list(columns))
            return
        known.more += 1
        if len(known.others) < _MOST_PLACES:
            known.others.append(place)

    def sort(self, columns: Sequence[str]) -> None:
        """Put the faults in the order of their columns, missing values first.

        They are found in another order where a table is read in parts.
        """
        place = {column: number for number, column in enumerate(columns)}

        def order(fault: tuple[_About, _Fault]) -> tuple[int, bool]:
            (kind, about), kept = fault
            column = next(iter(kept.columns), str(about))
            return place.get(column, -1), kind != MISSING

        self.faults = dict(sorted(self.faults.items(), key=order))

    def check(self) -> None:
        """Raise the faults that were found, several in one DatasetError."""
        if not self.faults:
            return
        told = list(map(_Fault.told, self.faults.values()))
        error = _with_base(told[0]) if len(told) == 1 else self._together(told)
        if any(kind == MISSING for kind, _ in self.faults):
            remedy = f"{error.remedy} {_ALLOW}"
            error = DatasetError(error.message, where=error.where, remedy=remedy)
        raise error

    def _together(self, told: list[DatasetError]) -> DatasetError:
        """Several faults as one, a line each; of very many the first."""
        lines = list(map("- {}".format, told[:MOST_FAULTS]))
        if len(told) > MOST_FAULTS:
            lines.append("- and more.")
        heading = f"the rows have {self.count:,} faults ({ROWS_COUNT}):"
        return DatasetError(
            "\n".join([heading, *lines, ""]),
            remedy="Correct them all and send the rows again.",
        )


def _with_base(fault: DatasetError) -> DatasetError:
    """A fault that stands alone says from where its row is counted."""
    if not fault.where.startswith("row "):
        return fault
    remedy = f"{fault.remedy} ({ROWS_COUNT.capitalize()}.)".strip()
    return DatasetError(fault.message, where=fault.where, remedy=remedy)

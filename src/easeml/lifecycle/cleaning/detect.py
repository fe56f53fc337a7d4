"""Find the cells of a table that may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import detectors
from easeml.lifecycle.cleaning.misspellings import find_misspellings
from easeml.lifecycle.cleaning.rules import Rule
from easeml.lifecycle.result import Progress, Result, listener

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

METHODS = (
    "missing",
    "format",
    "outlier",
    "misspelling",
    "dependency",
    "rule",
    "duplicate",
    "label",
)


@dataclass(frozen=True)
class SuspectCell:
    """A cell that may be wrong, with the evidence of one method.

    ``row`` counts data rows from 0; ``column`` is empty where the whole row is meant (duplicates).
    ``confidence`` lies in (0, 1].
    """

    row: int
    column: str
    value: str
    method: str
    reason: str
    suggestion: str
    confidence: float


@dataclass(frozen=True)
class ErrorReport(Result):
    """What may be wrong in a table of ``rows`` x ``columns``: ``cells`` by falling confidence."""

    cells: tuple[SuspectCell, ...]
    rows: int
    columns: tuple[str, ...]
    by_method: dict[str, int]
    by_column: dict[str, int]

    @property
    def advice(self) -> str:
        """What was found, and where to begin."""
        if not self.cells:
            return (
                f"Nothing looks wrong in {self.rows} rows. "
                "Errors that look like any other value stay hidden."
            )
        places = {(cell.row, cell.column) for cell in self.cells}
        kinds = ", ".join(f"{count} {method}" for method, count in self.by_method.items())
        found = f"{len(places)} suspicious places in {self.rows} rows ({kinds})."
        worst = [column for column, _ in Counter(self.by_column).most_common(2) if column]
        if worst:
            found += f" Look at column {' and '.join(map(repr, worst))} first."
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row a finding."""
        import pandas as pd

        names = ["row", "column", "value", "method", "reason", "suggestion", "confidence"]
        return pd.DataFrame(list(map(vars, self.cells)), columns=names)

    def suspects(self) -> dict[str, dict[int, SuspectCell]]:
        """Return the most confident finding of each cell, by column and row; no duplicates."""
        found: dict[str, dict[int, SuspectCell]] = {}
        for cell in self.cells:  # the most confident finding comes first
            if cell.column:
                found.setdefault(cell.column, {}).setdefault(cell.row, cell)
        return found

    def figure(self) -> Figure:
        """Draw findings by column and method."""
        from easeml.figures.cleaning import suspects

        return suspects(self.to_json())

    def mask(self) -> np.ndarray:
        """Return (N, D) bool: the cells with a finding; duplicates are left out, as they have no column."""
        found = np.zeros((self.rows, len(self.columns)), bool)
        for column, cells in self.suspects().items():
            found[list(cells), self.columns.index(column)] = True
        return found


def detect_errors(
    table: pd.DataFrame,
    *,
    target: str | None = None,
    rules: Sequence[Rule] = (),
    methods: Sequence[str] = METHODS,
    seed: int = 0,
    progress: Progress | None = None,
) -> ErrorReport:
    """Find cells that may be wrong, by what they look like and by what the rest of the table says.

    Args:
        table: (N, D) any frame; values are compared as they are written, so read files as text.
        target: column of labels; with it, labels that the other columns contradict are found too.
        rules: dependencies that are known to hold.
        methods: which to use, of ``METHODS``. "dependency" finds rules in the table itself.
        seed: of the forest behind "label".
        progress: called with the share of the work that is done.

    Raises:
        InvalidInput: for unknown methods or columns, repeated column names, or an empty table.
    """
    text = as_text(table)
    _check(text, target, rules, methods)
    missing = detectors.mark_missing(text)
    ways: dict[str, Callable[[], pd.DataFrame]] = {
        "missing": lambda: detectors.find_missing(text, missing),
        "format": lambda: detectors.find_format(text, missing),
        "outlier": lambda: detectors.find_outliers(text, missing),
        "misspelling": lambda: find_misspellings(text, missing),
        "dependency": lambda: detectors.find_dependencies(text, missing),
        "rule": lambda: detectors.find_violations(text, missing, rules),
        "duplicate": lambda: detectors.find_duplicates(text, missing),
        "label": lambda: detectors.find_wrong_labels(text, missing, str(target), seed=seed),
    }
    if not target:
        del ways["label"]
    wanted = [method for method in METHODS if method in methods and method in ways]
    tell = listener(progress)
    cells: list[SuspectCell] = []
    for number, method in enumerate(wanted):
        cells += _cells(ways[method](), method, text)
        tell((number + 1) / len(wanted))
    cells.sort(key=lambda cell: (-cell.confidence, cell.row, cell.column))
    return ErrorReport(
        cells=tuple(cells),
        rows=len(text),
        columns=tuple(text),
        by_method=dict(Counter(cell.method for cell in cells)),
        by_column=dict(Counter(cell.column for cell in cells)),
    )


def _check(
    text: pd.DataFrame, target: str | None, rules: Sequence[Rule], methods: Sequence[str]
) -> None:
    """Refuse names of methods and columns that do not exist."""
    unknown = [method for method in methods if method not in METHODS]
    if unknown:
        raise InvalidInput(
            f"there is no method {unknown[0]!r}.", remedy=f"Use some of: {', '.join(METHODS)}."
        )
    named = {target} if target else set()
    for rule in rules:
        named |= {*rule.given, rule.then}
    strange = sorted(named - set(text))
    if strange:
        raise InvalidInput(
            f"there is no column {strange[0]!r}.",
            remedy=f"There are: {', '.join(list(text)[:20])}.",
        )


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of stripped strings with rows 0..N-1; missing values are empty.

    Raises:
        InvalidInput: if the table has no rows or columns, or a column name twice.
    """
    if not table.size:
        raise InvalidInput("The table is empty.", remedy="Give at least one row and one column.")
    names = list(map(str, table.columns))
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InvalidInput(f"there are two columns {twice!r}.", remedy="Rename one of them.")
    filled = table.astype(object).where(table.notna().to_numpy(), "")
    text = filled.map(lambda value: str(value).strip())
    text.columns = names
    return text.reset_index(drop=True)


def _cells(found: pd.DataFrame, method: str, text: pd.DataFrame) -> list[SuspectCell]:
    """Findings as cells; of several by one method about one cell, the most confident."""
    ranked = found.sort_values("confidence", ascending=False, kind="stable")
    cells = []
    for row, column, reason, suggestion, confidence in ranked.drop_duplicates(
        ["row", "column"]
    ).itertuples(index=False):
        cell = SuspectCell(
            row=int(row),
            column=str(column),
            value=str(text.at[int(row), column]) if column else "",
            method=method,
            reason=str(reason),
            suggestion=str(suggestion),
            confidence=float(np.clip(confidence, 0.01, 1.0)),
        )
        cells.append(cell)
    return cells

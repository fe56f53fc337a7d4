"""From dirty tables to rows with candidates and complete validation points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import detectors
from easeml.lifecycle.cleaning.detect import METHODS, SuspectCell, as_text, detect_errors
from easeml.lifecycle.cleaning.doubtful_columns import DoubtfulColumn
from easeml.lifecycle.cleaning.frames import Frame
from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.repairs import row_options
from easeml.lifecycle.cleaning.rough_matrix import quick_matrix
from easeml.lifecycle.cleaning.rules import Rule

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.result import Progress

_CELL_METHODS = tuple(method for method in METHODS if method not in ("duplicate", "label"))


@dataclass(frozen=True)
class TableCandidates:
    """A dirty table as rows with candidates.

    ``row_ids`` (N,): which data row of the table each row is (those without a label are left out).
    ``options[i]``: for each candidate of row i, the cells in doubt and their values; empty dicts
    for clean rows. ``fixed``: how many cells had a single possible repair, which was taken.
    ``X_valid`` (V, D) and ``y_valid``: the validation rows.
    """

    rows: Incomplete
    row_ids: np.ndarray
    options: tuple[tuple[dict[str, Any], ...], ...]
    X_valid: np.ndarray
    y_valid: np.ndarray | None
    fixed: int
    notes: tuple[str, ...]


def candidates_of(
    train: pd.DataFrame,
    valid: pd.DataFrame,
    target: str,
    *,
    rules: Sequence[Rule] = (),
    methods: Sequence[str] = _CELL_METHODS,
    most: int = 25,
    seed: int = 0,
    progress: Progress | None = None,
) -> TableCandidates:
    """Find doubtful cells of a training table and make candidates for them (``detect_errors``,
    ``repairs``).

    Columns of which 80% are numbers are numbers, all others categories; numbers are scaled to unit
    spread, a category that differs counts as a distance of 1, and of more than 100 values the rarer
    ones count as one. What is learned for that comes from trusted cells only and is the same in all
    worlds. Validation rows are taken as they are; where they have no value, the median or the
    commonest value is filled in, with a note.

    Args:
        train: table with ``target``; read files as text.
        valid: table with the same columns; the target may be missing there.
        target: column of labels.
        rules: dependencies known to hold.
        methods: how to find doubtful cells: names of ``METHODS`` that find cells.
        most: candidates a row at most; see ``row_options``.
        seed: of the models that make repairs.
        progress: called with the share of the work that is done.

    Raises:
        InvalidInput: where columns are missing, or no row has a label.
    """
    text: Frame = as_text(train)
    points: Frame = as_text(valid)
    for name, table in (("the training table", text), ("the validation table", points)):
        absent = [c for c in text if c not in table and c != target] if target in text else [target]
        if absent:
            raise InvalidInput(
                f"has no column {absent[0]!r}.",
                where=name,
                remedy="Use tables with the same columns.",
            )
    labels = text[target]
    row_ids = np.flatnonzero(~detectors.mark_missing(text[[target]])[target])
    if len(row_ids) == 0:
        raise InvalidInput("no row has a label.", where=f"column {target!r}")
    inputs = text.drop(columns=target).iloc[row_ids].reset_index(drop=True)
    notes = [f"Training rows without a label, left out: {len(text) - len(row_ids)}."] * (
        len(row_ids) < len(text)
    )
    inputs, more = _useful(inputs)
    notes += more
    half = None if progress is None else lambda share: progress(share / 2)
    report = detect_errors(inputs, rules=_inside(rules, inputs), methods=methods, progress=half)
    missing = detectors.mark_missing(inputs)
    suspects: dict[str, dict[int, SuspectCell]] = {column: {} for column in inputs}
    for cell in report.cells:  # the most confident finding comes first
        if cell.column:
            suspects[cell.column].setdefault(cell.row, cell)
    others = quick_matrix(inputs, missing)
    columns = []
    for number, name in enumerate(inputs):
        doubtful = inputs[name], missing[name], suspects[name], points[name]
        columns.append(DoubtfulColumn(name, *doubtful, others=others, seed=seed))
        if progress is not None:
            progress(0.5 + 0.5 * (number + 1) / inputs.shape[1])
    notes += [column.note for column in columns if column.note]
    y_valid = None
    if target in points and not detectors.mark_missing(points[[target]])[target].any():
        y_valid = points[target].to_numpy(dtype=str)
    rows, options, fixed = _combined(columns, labels.iloc[row_ids].tolist(), most)
    X_valid = np.concatenate([column.points for column in columns], axis=1)
    return TableCandidates(rows, row_ids, options, X_valid, y_valid, fixed, tuple(notes))


def _combined(
    columns: Sequence[DoubtfulColumn], labels: Sequence[str], most: int
) -> tuple[Incomplete, tuple[tuple[dict[str, Any], ...], ...], int]:
    """Combine the options of cells to candidates of rows; see ``TableCandidates`` for what comes
    back.
    """
    base = np.concatenate([column.codes for column in columns], axis=1)
    spans = np.cumsum([0, *[column.codes.shape[1] for column in columns]])
    candidates, weights, options, fixed = [], [], [], 0
    for row in range(len(labels)):
        cells = {column.name: column.options[row] for column in columns if row in column.options}
        fixed += sum(len(found) == 1 for found in cells.values())
        worlds = row_options(cells, most) if cells else [({}, 1.0)]
        block = np.repeat(base[row : row + 1], len(worlds), axis=0)
        for place, column in enumerate(columns):
            if column.name in cells:
                block[:, spans[place] : spans[place + 1]] = [
                    column.encode(world[column.name]) for world, _ in worlds
                ]
        candidates.append(block)
        weights.append([weight for _, weight in worlds])
        doubtful = [name for name, found in cells.items() if len(found) > 1]
        options.append(tuple({name: world[name] for name in doubtful} for world, _ in worlds))
    return Incomplete.of(candidates, labels, weights), tuple(options), fixed


def _useful(inputs: Frame) -> tuple[Frame, list[str]]:
    """Leave out columns that cannot help to predict: with one value, or, if not numbers, another
    one in every row.
    """
    kept, notes = [], []
    for name in inputs:
        different = inputs[name].nunique()
        missing = detectors.mark_missing(inputs[[name]])[name]
        names_rows = different == len(inputs) > 1 and not detectors.measures(
            inputs.loc[~missing, name].to_numpy(dtype=object)
        )
        if different == 1 or missing.all() or names_rows:
            notes.append(
                f"Column {name!r} is not used: {'it names rows' if names_rows else 'it never changes'}."
            )
        else:
            kept.append(name)
    if not kept:
        raise InvalidInput(
            "no column is of use for predictions.", remedy="Give columns that differ between rows."
        )
    return inputs[kept], notes


def _inside(rules: Sequence[Rule], inputs: Frame) -> list[Rule]:
    return [rule for rule in rules if {*rule.given, rule.then} <= set(inputs)]

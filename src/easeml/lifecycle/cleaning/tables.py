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
from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.repairs import Options, row_options
from easeml.lifecycle.cleaning.rough_matrix import RoughColumns
from easeml.lifecycle.cleaning.rules import Rule
from easeml.lifecycle.result import Progress, listener

if TYPE_CHECKING:
    import pandas as pd

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
    """Find doubtful cells of a training table and make candidates for them.

    By ``detect_errors`` and ``repairs``. Columns of which 80% are numbers are numbers, all others
    categories; numbers are scaled to unit spread, a category that differs counts as a distance of
    1, and of more than 100 values the rarer ones count as one. What is learned for that comes from
    trusted cells only and is the same in all worlds. Validation rows are taken as they are; where
    they have no value, the median or the commonest value is filled in, with a note.

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
    _check_columns(text, points, target)
    row_ids = np.flatnonzero(~_missing(text, target))
    if len(row_ids) == 0:
        raise InvalidInput("no row has a label.", where=f"column {target!r}")
    inputs = text.drop(columns=target).iloc[row_ids].reset_index(drop=True)
    notes = []
    if len(row_ids) < len(text):
        notes.append(f"Training rows without a label, left out: {len(text) - len(row_ids)}.")
    inputs, more = _useful(inputs)
    notes += more
    tell = listener(progress)
    report = detect_errors(
        inputs,
        rules=_inside(rules, inputs),
        methods=methods,
        progress=lambda share: tell(share / 2),
    )
    columns = _doubtful_columns(inputs, points, report.suspects(), seed=seed, tell=tell)
    notes += [column.note for column in columns if column.note]
    rows, options, fixed = _combined(columns, text[target].iloc[row_ids].tolist(), most)
    return TableCandidates(
        rows=rows,
        row_ids=row_ids,
        options=options,
        X_valid=np.concatenate([column.points for column in columns], axis=1),
        y_valid=_labels_of(points, target),
        fixed=fixed,
        notes=tuple(notes),
    )


def _check_columns(text: Frame, points: Frame, target: str) -> None:
    """Refuse tables that lack a column that is needed; validation needs no target."""
    if target not in text:
        raise _lacks(target, "the training table")
    absent = text.columns.drop(target).difference(points.columns, sort=False)
    if len(absent):
        raise _lacks(absent[0], "the validation table")


def _lacks(column: str, table: str) -> InvalidInput:
    return InvalidInput(
        f"has no column {column!r}.", where=table, remedy="Use tables with the same columns."
    )


def _missing(table: Frame, name: str) -> Column:
    """Tell for each row whether a column has no value there."""
    return detectors.mark_missing(table[[name]])[name]


def _labels_of(points: Frame, target: str) -> np.ndarray | None:
    """Return the labels of the validation rows, where all have one."""
    if target not in points or _missing(points, target).any():
        return None
    return points[target].to_numpy(dtype=str)


def _doubtful_columns(
    inputs: Frame,
    points: Frame,
    suspects: dict[str, dict[int, SuspectCell]],
    *,
    seed: int,
    tell: Progress,
) -> list[DoubtfulColumn]:
    """Return the columns with what their doubtful cells could be."""
    missing = detectors.mark_missing(inputs)
    rough = RoughColumns(inputs, missing)
    columns = []
    for number, name in enumerate(inputs):
        column = DoubtfulColumn(
            name,
            inputs[name],
            missing[name],
            suspects.get(name, {}),
            points[name],
            others=rough.without(name),
            seed=seed,
        )
        columns.append(column)
        tell(0.5 + 0.5 * (number + 1) / inputs.shape[1])
    return columns


def _combined(
    columns: Sequence[DoubtfulColumn], labels: Sequence[str], most: int
) -> tuple[Incomplete, tuple[tuple[dict[str, Any], ...], ...], int]:
    """Combine the options of cells to candidates of rows.

    See ``TableCandidates`` for what comes back.
    """
    base = np.concatenate([column.codes for column in columns], axis=1)
    candidates, weights, options = [], [], []
    fixed = 0
    for row in range(len(labels)):
        cells = {column.name: column.options[row] for column in columns if row in column.options}
        worlds, shares = _worlds(cells, most)
        candidates.append(_block(base[row], columns, worlds))
        weights.append(shares)
        # A cell with one option is repaired: only the others are left to people.
        doubtful = [name for name, found in cells.items() if len(found) > 1]
        fixed += len(cells) - len(doubtful)
        options.append(tuple(_part(world, doubtful) for world in worlds))
    return Incomplete.of(candidates, labels, weights), tuple(options), fixed


def _worlds(cells: dict[str, Options], most: int) -> tuple[list[dict[str, Any]], list[float]]:
    """Return what a row's cells could be together, and how likely each is."""
    if not cells:
        return [{}], [1.0]
    worlds, shares = zip(*row_options(cells, most), strict=True)
    return list(worlds), list(shares)


def _block(
    base: np.ndarray, columns: Sequence[DoubtfulColumn], worlds: list[dict[str, Any]]
) -> np.ndarray:
    """Return the vectors (M, D) of a row: ``base`` (D,) with the cells of each world in place."""
    block = np.repeat(base[None, :], len(worlds), axis=0)
    start = 0
    for column in columns:
        end = start + column.codes.shape[1]
        if column.name in worlds[0]:
            block[:, start:end] = [column.encode(world[column.name]) for world in worlds]
        start = end
    return block


def _part(world: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: world[name] for name in names}


def _useful(inputs: Frame) -> tuple[Frame, list[str]]:
    """Leave out columns that cannot help to predict.

    They have one value, or, if they are no numbers, another one in every row.
    """
    kept, notes = [], []
    for name in inputs:
        reason = _why_useless(inputs[name], _missing(inputs, name))
        if reason:
            notes.append(f"Column {name!r} is not used: {reason}.")
        else:
            kept.append(name)
    if not kept:
        raise InvalidInput(
            "no column is of use for predictions.", remedy="Give columns that differ between rows."
        )
    return inputs[kept], notes


def _why_useless(column: Column, missing: Column) -> str:
    """Return why a column cannot help to predict; empty where it can."""
    different = column.nunique()
    values = column[~missing].to_numpy(dtype=object)
    if different == len(column) > 1 and not detectors.measures(values):
        return "it names rows"
    if different == 1 or missing.all():
        return "it never changes"
    return ""


def _inside(rules: Sequence[Rule], inputs: Frame) -> list[Rule]:
    return [rule for rule in rules if {*rule.given, rule.then} <= set(inputs)]

"""Do the rows of another table fit a schema?

All differences, with their places, or the typed columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from easeml.data.errors import DatasetError, did_you_mean, first_of, respelt, shown, told_respelt
from easeml.data.types import values as v
from easeml.data.types.cells import CELLS, BadCell, check, from_arrow, object_array, report_of
from easeml.data.types.comma_files import without_dots_of_thousands
from easeml.data.types.label_lists import cells_of
from easeml.data.types.table_schemas import kind_of, kinds_of, labels_of, node_of
from easeml.data.types.text_tables import column_text
from easeml.data.types.together import with_joined
from easeml.schema import Node, Schema

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    import pyarrow as pa

_SHOWN_CELLS = 3  # of each kind of fault in a column
_SHOWN_CLASSES = 10
_FORMS = {"timestamp": v.form_in_words}  # how a form is told; others are an example
_FEW = 0.05  # share of cells of a column with classes that are new, up to which they are empty
_ANOTHER_TYPE = 0.5  # share of unreadable cells from which the whole column is at fault


@dataclass(frozen=True)
class Fitted:
    """``columns``: typed as in frames, inputs and target.

    ``differences``: sentences, none where the rows fit. ``notes``: what became empty.
    """

    columns: dict[str, Any]
    differences: list[str]
    notes: list[str] = field(default_factory=list)


def fit_table(
    table: pa.Table,
    schema_in: Schema,
    schema_out: Schema,
    *,
    answers: bool,
    only: Collection[str] | None = None,
    few_new: bool = False,
) -> Fitted:
    """Convert a table of text to the types of the schemas.

    ``answers`` False: the target may be absent; a row without a target value fits in any case.
    ``only``: the columns that are looked at; None: all. ``few_new``: classes of an input that are
    not known count as empty where they are few, as they do at an endpoint.
    """
    notes: list[str] = []
    inputs = _chosen(kinds_of(schema_in), only)
    target, target_kind = next(iter(kinds_of(schema_out).items()))
    known = [*kinds_of(schema_in), target, *schema_in.dropped]
    meant = respelt(table.column_names, known)
    differences = [told_respelt(meant)] if meant else []
    # Their cells are looked at, too: all differences are told at once.
    table = table.rename_columns(list(map(meant.get, table.column_names, table.column_names)))
    try:
        table = with_joined(table, schema_out.columns[target])
    except DatasetError as error:
        return Fitted({}, [*differences, str(error)])
    if len(table.column_names) > 1 and not set(known) & set(table.column_names):
        return Fitted({}, [_another_table(table.column_names, known)])
    kinds = {**kinds_of(schema_in), target: target_kind}
    numbers = [name for name, kind in kinds.items() if kind == "number"]
    table = without_dots_of_thousands(table, numbers)
    differences += _unknown_columns(table, known)
    columns = {}
    for name, kind in inputs.items():
        forgiven = notes if few_new else None
        columns[name] = _column(table, name, kind, schema_in, differences, forgiven=forgiven)
    if only is not None and target not in only:
        return Fitted(columns, differences, notes)
    may_lack = not {*schema_out.parts, *schema_out.labels_of_rows}
    if may_lack and answers and target not in table.column_names:
        differences.append(
            f"column '{target}', the target, is missing (rows without it can be fed as pool)."
        )
    else:
        columns[target] = _column(table, target, target_kind, schema_out, differences, gaps=True)
    return Fitted(columns, differences, notes)


def _chosen(kinds: Mapping[str, str], only: Collection[str] | None) -> dict[str, str]:
    """The kinds of the columns that are looked at."""
    if only is None:
        return dict(kinds)
    wanted = list(filter(only.__contains__, kinds))
    return dict(zip(wanted, map(kinds.__getitem__, wanted), strict=True))


def _unknown_columns(table: pa.Table, known: Sequence[str]) -> list[str]:
    """Say which columns are not among the known ones, and what they may have been meant as."""
    absent = set(known).difference(table.column_names)
    given: list[str] = table.column_names
    said = []
    for name in filterfalse(known.__contains__, given):
        meant = did_you_mean(name, filter(absent.__contains__, known)) if absent else ""
        said.append(f"column '{name}' is not one of the data. {meant}".strip())
    return said


def _another_table(given: Sequence[str], known: Sequence[str]) -> str:
    names = first_of(list(map(repr, given)), _SHOWN_CLASSES)
    wanted = first_of(list(map(repr, known)), _SHOWN_CLASSES)
    return f"this looks like another table: it has {names}, the data has {wanted}."


def _column(
    table: pa.Table,
    name: str,
    kind: str,
    schema: Schema,
    differences: list[str],
    *,
    gaps: bool = False,
    forgiven: list[str] | None = None,
) -> Any:
    """The typed column; missing values where it is absent, which is no fault where ``gaps`` may be.

    ``forgiven``: takes notes of classes that are new and few; None: each is a difference.
    """
    node = schema.columns.get(name)
    if node is not None and node.labels:
        return _label_column(table, name, node, differences)
    if kind in CELLS:
        return _cell_column(table, name, kind, schema, differences, gaps)
    assert node is not None  # only graphs have none
    optional = gaps or node.optional
    return _value_column(table, name, node, schema, optional, differences, forgiven)


def _cell_column(
    table: pa.Table, name: str, kind: str, schema: Schema, differences: list[str], gaps: bool
) -> Any:
    """A column of pictures, tensors or graphs; no cells where it is absent or of another kind."""
    nothing = object_array([None] * table.num_rows)
    if name not in table.column_names:
        if not gaps or node_of(schema, name).parts:
            differences.append(f"column '{name}' is missing.")
        return nothing

    report = report_of(table.schema.field(name))
    now = "a plain value" if report is None else report.type
    if now != kind:
        differences.append(f"column '{name}' was {kind}, and is {now}.")
        return nothing

    found = from_arrow(kind, table.column(name))
    differences += _faults_of_cells(found, name, kind, node_of(schema, name), schema)
    return found


def _label_column(table: pa.Table, name: str, node: Node, differences: list[str]) -> Any:
    """The column of a target whose rows have several labels; none where it is absent."""
    if name not in table.column_names:
        differences.append(f"column '{name}', the target, is missing: rows come with their labels.")
        return object_array([None] * table.num_rows)
    text = column_text(table, name)
    try:
        return cells_of(text, node.labels, node.separator)
    except BadCell as error:
        differences.append(f"column '{name}': a cell {error}.")
        return object_array([None] * table.num_rows)


def _faults_of_cells(
    found: np.ndarray, name: str, kind: str, node: Node, schema: Schema
) -> list[str]:
    """What is wrong with cells, the first of them by name."""
    faults = []
    for row, cell in enumerate(found):
        try:
            check(kind, cell, node, schema)
        except BadCell as error:
            faults.append(f"row {row}, column '{name}': the value {error}.")
    return [*faults[:_SHOWN_CELLS], *_more_cells(name, len(faults))]


def _more_cells(name: str, faults: int) -> list[str]:
    """A sentence about the faults that are not told one by one, where there are such."""
    more = faults - _SHOWN_CELLS
    return [f"column '{name}': {more} more such cells."] if more > 0 else []


def _value_column(
    table: pa.Table,
    name: str,
    node: Node,
    schema: Schema,
    optional: bool,
    differences: list[str],
    forgiven: list[str] | None,
) -> Any:
    """A column of single values. Of an absent one all are missing."""
    text = _text_of(table, name)
    kind = kind_of(node)
    labels = labels_of(schema, node)
    array = v.plain(text, kind, node.format, node.missing)
    made = v.convert(array, kind, labels, node.format)

    if not optional:
        differences += _gaps(table, name, made.missing)
    if kind == "category" and forgiven is not None and _are_few(made):
        forgiven.append(_note_on_new(name, text, made.bad))
    elif kind == "category":
        differences += _new_classes(name, text, made.bad, labels)
    else:
        differences += _unreadable(name, kind, node.format, text, made)
    return made.values


def _gaps(table: pa.Table, name: str, missing: np.ndarray) -> list[str]:
    """What is said of missing values: each one, or that the column is absent."""
    if name not in table.column_names:
        return [f"column '{name}' is missing."]
    return _cells(name, missing, "has no value, and no row lacked one before")


def _text_of(table: pa.Table, name: str) -> pa.Array:
    """A column of a table; one of empty texts where it is absent."""
    import pyarrow as pa

    if name in table.column_names:
        return column_text(table, name)
    return pa.array([""] * table.num_rows, pa.string())


def _unreadable(name: str, kind: str, form: str, text: pa.Array, made: v.Converted) -> list[str]:
    """What is said of values that are not of the type: each one, or that it is another column."""
    in_words = _FORMS.get(kind, "like {}".format)
    expected = f"{kind} written {in_words(form)}" if form else kind
    bad = _count(made.bad)
    there = len(made.bad) - _count(made.missing)
    if bad <= _ANOTHER_TYPE * there:
        return _cells(name, made.bad, f"is not a {expected}", text)

    row = int(made.bad.argmax())
    first = shown(text[row].as_py())
    return [f"column '{name}' was {expected}, and is not: {first} in row {row}, {bad} of {there}."]


def _new_classes(name: str, text: pa.Array, bad: np.ndarray, labels: Sequence[str]) -> list[str]:
    """What is said of labels that are not known, each once."""
    known = first_of(labels, _SHOWN_CLASSES)
    rows = bad.nonzero()[0]
    new, first = _different(text.take(rows))
    said = []
    for value, row in zip(new[:_SHOWN_CELLS], rows[first].tolist(), strict=False):
        what = f"{shown(value)} is not one of its classes ({known})"
        said.append(f"row {row}, column '{name}': {what}.")
    if len(new) > _SHOWN_CELLS:
        said.append(f"column '{name}': and more new classes, in {len(rows)} rows.")
    return said


def _are_few(made: v.Converted) -> bool:
    """Tell whether a column has classes that are not known, and only in a few of its cells."""
    new = _count(made.bad)
    there = len(made.bad) - _count(made.missing)
    return 0 < new <= max(1.0, _FEW * there) and 2 * new <= there


def _note_on_new(name: str, text: pa.Array, bad: np.ndarray) -> str:
    """What is said of cells that became empty, since their classes are not known."""
    import pyarrow as pa

    different, _ = _different(text.filter(pa.array(bad)))
    cells = "1 cell" if _count(bad) == 1 else f"{_count(bad)} cells"
    return (
        f"column '{name}': {cells} with a class that was not there before "
        f"({first_of(different, _SHOWN_CLASSES)}) joined as empty. "
        "Where it matters, make an application of all the data: it is a class there."
    )


def _different(texts: pa.Array) -> tuple[list[str], np.ndarray]:
    """The different texts in the order in which they come, and the place where each comes first."""
    import numpy as np

    encoded = texts.dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    return encoded.dictionary.to_pylist(), first


def _cells(name: str, faulty: np.ndarray, what: str, text: pa.Array | None = None) -> list[str]:
    """What is said of faulty cells, the first of them by row; ``text``: to show their values."""
    rows = faulty.nonzero()[0]
    said = []
    for row in rows[:_SHOWN_CELLS].tolist():
        value = "" if text is None else f"{shown(text[row].as_py())} "
        said.append(f"row {row}, column '{name}': {value}{what}.")
    return [*said, *_more_cells(name, len(rows))]


def _count(mask: np.ndarray) -> int:
    return int(mask.sum())

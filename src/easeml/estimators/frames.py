"""What people hold tables in, as the frames that models learn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.data import DatasetError, declare_columns, infer_table, read_newer
from easeml.data.types.text_tables import text_table
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

TARGET = "answer"
_MARK = "_"  # put before a name until no column has it


@dataclass(frozen=True)
class Table:
    """Typed rows. ``frame``: inputs and the column ``target``.

    ``leak_notes``: of inputs that may know the answers.
    """

    frame: pd.DataFrame
    target: str
    schema_in: Schema
    schema_out: Schema
    leak_notes: tuple[str, ...] = ()


def frame_of(rows: Any) -> pd.DataFrame:
    """Return rows as a pandas frame with names of text.

    ``rows``: a frame of pandas or Polars, an Arrow table, or an array (n, d), whose columns are
    called x0, x1, ... Raises ``ValueError`` for anything of another shape, for names that repeat
    and for complex numbers, and ``TypeError`` for sparse matrices.
    """
    import pandas as pd
    from scipy.sparse import issparse

    if issparse(rows):
        raise TypeError("Sparse data is not supported; pass X.toarray().")
    if isinstance(rows, pd.DataFrame):
        return _with_names(rows)
    if hasattr(rows, "to_pandas"):  # Polars and Arrow
        return frame_of(rows.to_pandas())
    values = np.asarray(rows)
    _check_array(values)
    return pd.DataFrame(values).add_prefix("x").infer_objects()


def _check_array(values: np.ndarray) -> None:
    """Raise ``ValueError`` for an array that is no table, in words that scikit-learn's tests know."""
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported.")
    if values.ndim == 1:
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data.")
    if values.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; a table has 2.")
    if values.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={values.shape}) while a minimum of 1 is required."
        )


def _with_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with names of text. Raises ``ValueError`` for what no model can learn from."""
    named = rows.set_axis(rows.columns.map(str), axis=1)
    repeated = sorted(set(named.columns[named.columns.duplicated()]))
    if repeated:
        raise ValueError(f"Column names have to differ; these occur more than once: {repeated}.")
    complex_ = list(named.select_dtypes(np.complexfloating).columns)
    if complex_:
        raise ValueError(f"Complex data not supported; columns: {complex_}.")
    spans = list(filter(partial(_is_span, named), named))
    return named.assign(**dict(zip(spans, map(partial(_as_texts, named), spans), strict=True)))


def _is_span(rows: pd.DataFrame, name: str) -> bool:
    """Does a column hold intervals, as ``pd.cut`` gives them, or periods?"""
    import pandas as pd

    column = rows[name]
    kind = getattr(column.dtype, "categories", column).dtype
    return isinstance(kind, pd.IntervalDtype | pd.PeriodDtype)


def _as_texts(rows: pd.DataFrame, name: str) -> pd.Series:
    import pandas as pd

    return pd.Series(rows[name]).astype(object).map(str, na_action="ignore")


def _is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers. True and false are two categories, with or without gaps."""
    import pandas as pd

    types = pd.api.types
    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def numbers_of(rows: pd.DataFrame) -> list[str]:
    """Return the names of the columns that hold numbers, at least one each."""
    named = filter(lambda item: _is_number(item[1]), rows.items())
    return [str(name) for name, column in named if _has_value(column)]


def _has_value(column: pd.Series) -> bool:
    return bool(np.isfinite(column.to_numpy(dtype=float, na_value=np.nan)).any())


def free_name(wanted: str, rows: pd.DataFrame) -> str:
    """Return a name that no column has: the wanted one, with marks before it if need be."""
    name = wanted
    while name in rows.columns:
        name = _MARK + name
    return name


def _reports_of(text: Any, target: str, answers: np.ndarray, kind: str) -> list[Any]:
    """Return what is told of the columns. Raises ``ValueError`` for too many different classes."""
    try:
        return infer_table(text, target).columns
    except DatasetError as error:
        if (kind, error.where) != ("category", f"column '{target}'"):
            raise
        raise ValueError(
            f"y has {len(np.unique(answers)):,} different values in {len(answers):,} rows, too many "
            "for classes: use AutoMLRegressor for numbers, or bring more rows of each class."
        ) from error


def typed(rows: pd.DataFrame, answers: np.ndarray, kind: str) -> Table:
    """Return rows with their types.

    Numbers stay numbers, and no such column is left out that has a value; the types of others are
    told by their values. ``kind`` of the answers (n,): category or number. Raises ``DatasetError``
    where nothing can be learned from the columns.
    """
    import pyarrow as pa

    target = free_name(TARGET, rows)
    numbers = numbers_of(rows)
    whole = rows.reset_index(drop=True).assign(**{target: answers})
    arrow = pa.Table.from_pandas(whole, preserve_index=False).replace_schema_metadata(None)
    text = text_table(arrow.to_batches(), arrow.schema, "X")
    types = {target: kind, **dict.fromkeys(numbers, "number")}
    reports = _reports_of(text, target, answers, kind)
    found = declare_columns(reports, target, set=types, keep=numbers)
    schema_in = _with_gaps(found.schema_in)
    read = read_newer(text, schema_in, found.schema_out)
    # The copy lays columns of one type together: rows of thousands of single ones are taken slowly.
    frame = read.inputs.assign(**{target: read.answers}).copy()
    return Table(frame, target, schema_in, found.schema_out, tuple(found.leak_notes))


def _with_gaps(schema: Schema) -> Schema:
    """Return a schema whose cells may all be missing.

    Whether a column had a gap among the rows of ``fit`` is chance: a split may leave it in the
    others.
    """
    document = schema.to_json()
    for node in document["nodes"].values():
        node["optional"] = True
    return Schema.from_json(document)

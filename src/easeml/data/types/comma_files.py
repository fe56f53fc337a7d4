"""Files of countries that write 1.234,5: what a dot means in a column that had none before."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from easeml.data.types.arrow import arrow_compute
from easeml.data.types.text_tables import column_text
from easeml.decimals import decimal_sign

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 200  # rows by which the sign of decimals is told
_GROUPED = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$"


def are_dots_of_thousands(texts: pa.Array) -> bool:
    """Whether there are dots in texts, and all stand before groups of three digits."""
    compute = arrow_compute()
    dotted = texts.filter(compute.match_substring(texts, "."))
    are_grouped = compute.match_substring_regex(dotted, _GROUPED)
    return len(dotted) > 0 and compute.all(are_grouped).as_py()


def decimal_of(texts: Iterable[pa.Array]) -> str:
    """Return what stands before the decimals in the first rows of some columns of text."""
    return decimal_sign([text.slice(0, _SAMPLE).to_pylist() for text in texts])


def decimal_among(table: pa.Table, numbers: Collection[str]) -> str:
    """Return what stands before the decimals in the first rows of some columns of a table."""
    return decimal_of(_texts(table, numbers).values())


def without_dots_of_thousands(
    table: pa.Table, numbers: Collection[str], decimal: str = ""
) -> pa.Table:
    """Return a table of text with 1836 for 1.836 in its columns of ``numbers``, if these have
    decimal commas: a dot is not one of decimals there.

    A column of whole numbers says nothing of such a dot by itself, and would read it as a point.
    ``decimal``: what stands before the decimals; empty: that is found out.
    """
    texts = _texts(table, numbers)
    decimal = decimal or decimal_of(texts.values())
    if decimal == ".":
        return table
    compute = arrow_compute()
    for name, text in texts.items():
        are_grouped = compute.match_substring_regex(text, _GROUPED)
        whole = compute.replace_substring(text, ".", "")
        place = table.column_names.index(name)
        table = table.set_column(place, name, compute.if_else(are_grouped, whole, text))
    return table


def _texts(table: pa.Table, names: Collection[str]) -> dict[str, pa.Array]:
    """The columns of text that have one of some names."""
    texts = {}
    for field in table.schema:
        if field.name in names and str(field.type) == "string":
            texts[field.name] = column_text(table, field.name)
    return texts

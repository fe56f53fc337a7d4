"""Numbers as people write them, with a point or a comma before the decimals."""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice

from easeml.errors import InvalidInput

MARK = "\ufeff"
DELIMITERS = ",;\t|"
_JUDGED = 200  # rows by which it is told how numbers are written
_HEAD = 1 << 18  # characters of a text that are looked at
_WITH_COMMA = re.compile(r"[-+]?\d*,\d*")
_MAY_BE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_DECIMAL_COMMA = re.compile(  # and no comma of thousands
    r"[-+]?(?![1-9]\d{0,2},\d{3}$)(\d+|\d{1,3}([.' \u00a0\u202f]\d{3})+)?,\d+"
)
_DECIMAL_POINT = re.compile(r"[-+]?(?![1-9]\d{0,2}\.\d{3}$)(\d+|\d{1,3}([,' ]\d{3})+)?\.\d+")


@dataclass(frozen=True, slots=True)
class CsvStyle:
    """How a CSV file is written: what stands between its cells, and before decimals.

    ``mark``: what it begins with, so that a spreadsheet reads it as UTF-8.
    """

    delimiter: str = ","
    decimal: str = "."
    mark: str = ""

    @classmethod
    def of(cls, text: str) -> "CsvStyle":
        """Return the style of a text that begins so."""
        head = text[:_HEAD].lstrip("\ufeff \r\n")
        delimiter = most_frequent_delimiter(head)
        rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        return cls(delimiter, decimal_sign(islice(rows, 1, _JUDGED)))

    def written(self, cell: object) -> object:
        """Return a cell as it is written: a number with the sign of this style."""
        if not isinstance(cell, float):
            return cell
        return repr(cell).replace(".", self.decimal)


def most_frequent_delimiter(text: str) -> str:
    """Return the delimiter that is most frequent in the first line of a text."""
    return max(DELIMITERS, key=text.partition("\n")[0].count)


def decimal_sign(rows: Iterable[Iterable[object]]) -> str:
    """Return what stands before the decimals in most numbers of the first rows; a point by default.

    A comma or a point that may be one of thousands tells nothing.
    """
    cells = list(map(str, chain.from_iterable(islice(rows, _JUDGED))))
    commas = len(list(filter(_DECIMAL_COMMA.fullmatch, cells)))
    points = len(list(filter(_DECIMAL_POINT.fullmatch, cells)))
    return "," if commas > points else "."


def with_point(text: str, where: str) -> str:
    """Return a number with a decimal point in the place of a comma; any other text as it is.

    Raises ``InvalidInput``, which names ``where``, for a comma that may be one of thousands.
    """
    if _MAY_BE_THOUSANDS.fullmatch(text):
        digits = text.replace(",", "")
        decimals = text.replace(",", ".")
        raise InvalidInput(
            f"{text!r} may mean {digits} or {decimals}.",
            where=where,
            remedy=f"Write {digits} or {decimals}.",
        )
    return text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text

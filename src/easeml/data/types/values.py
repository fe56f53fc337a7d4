"""From text to typed values, a whole column at once.

Says what counts as missing, as a number, and as a timestamp. Columns come as Arrow string arrays
of stripped values without nulls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from easeml.data.types.arrow import arrow_compute
from easeml.data.types.month_names import has_month, in_english
from easeml.data.types.number_forms import plain_numbers

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

# In any case: the first in every column, the others in numbers and timestamps.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "?", "#n/a", "<na>"})
SHEET_ERRORS = frozenset({
    "#n/a", "#ref!", "#value!", "#div/0!", "#name?", "#null!", "#num!", "#spill!", "#calc!",
})  # fmt: skip
"""What a spreadsheet writes where a formula has no value, in lower case."""
MISSING_NUMBER = MISSING | {
    "none", "unknown", "missing", "-", "--", ".", "n.a.", "n. a.", "nat",
    "k.a.", "k. a.", "keine angabe", "unbekannt", "fehlt", "n.v.", "n. v.",
    "n.d.", "n. d.", "n/d", "inconnu", "inconnue", "desconocido", "sin dato", "sconosciuto",
}  # fmt: skip
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?$"
ISO = r"^\d{4}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d{1,9})?)?( ?(Z|[+-]\d{2}:?\d{2}))?)?$"
_ISO = re.compile(ISO)
_NUMBER = re.compile(NUMBER)
_DAYS = (
    "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%Y/%m/%d",
    "%d.%m.%Y", "%d.%m.%y", "%d-%m-%Y", "%m-%d-%Y",
    "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%B %d, %Y",
    "%d %b %Y", "%d %B %Y", "%Y.%m.%d", "%d/%b/%Y",
    "%d. %b %Y", "%d. %B %Y", "%d.%b %Y", "%d.%B %Y", "%d-%B-%Y",
)  # fmt: skip
_OTHER_DAYS = (
    "%b %Y",
    "%B %Y",
    "%Y-%m",
    "%Y/%m",
    "%a %b %d %H:%M:%S %Y",
    "%Y%m%dT%H%M%S",
    "%Y%m%d %H:%M:%S",
)
_COMPACT = "%Y%m%d"
_WITH_BLANK = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")  # else times would be written with a T
_SWAPPED = {"%m/%d": "%d/%m", "%m-%d": "%d-%m", "%d/%m": "%m/%d", "%d-%m": "%m-%d"}
_DIRECTIVE = re.compile("%[a-zA-Z]")
_WORDS = {
    "%d": "day", "%m": "month", "%Y": "year", "%y": "year", "%b": "month", "%B": "month",
    "%H": "hour", "%I": "hour", "%M": "minute", "%S": "second", "%p": "AM", "%a": "weekday",
}  # fmt: skip
_EIGHT_DIGITS = re.compile(r"(19|20)\d{6}")
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (*(day + time for day in _DAYS for time in _TIMES), *_OTHER_DAYS)
_WITH_MONTHS = sorted(
    filter(has_month, FORMATS), key=lambda form: "%b" in form
)  # whole names first


@dataclass(frozen=True)
class Converted:
    """A typed column: its ``values`` as in training frames, and which cells are no values.

    Those are ``missing``, or ``bad``.
    """

    values: Any  # what a pandas frame takes
    missing: np.ndarray
    bad: np.ndarray  # of a number or timestamp: unreadable; of a category: not one of its labels


def convert(array: pa.Array, kind: str, labels: tuple[str, ...] = (), form: str = "") -> Converted:
    """Convert text to ``kind``: number, category, text or timestamp.

    ``labels``: of a category. ``form``: how a timestamp is written; ISO 8601, as in the files that
    easeml writes, is read as well.
    """
    converters = {
        "number": to_numbers,
        "timestamp": partial(_to_timestamps_or_iso, form=form),
        "category": partial(to_categories, labels=labels),
    }
    return converters.get(kind, to_text)(array)


def plain(array: pa.Array, kind: str, form: str = "", codes: Sequence[str] = ()) -> pa.Array:
    """The column as the functions below read it.

    Numbers lose the marks of ``form``; ``codes`` become empty text.
    """
    if codes:
        array = _without_codes(array, codes_of(codes))
    if kind != "number":
        return array
    return plain_numbers(array, form)


def _without_codes(array: pa.Array, codes: frozenset[str]) -> pa.Array:
    """The column with empty text in place of codes; every different text is looked at once."""
    distinct = array.dictionary_encode()
    kept = []
    for text in distinct.dictionary.to_pylist():
        kept.append("" if is_code(text, codes) else text)
    return _text(kept).take(distinct.indices)


def codes_of(codes: Sequence[str]) -> frozenset[str]:
    """Missing codes as ``is_code`` takes them."""
    return frozenset(map(str.lower, map(plain_number, codes)))


def is_code(text: str, codes: frozenset[str]) -> bool:
    """Whether a value is one of the ``codes``; the numbers among these in any spelling."""
    return not codes.isdisjoint((text.lower(), plain_number(text)))


def _text(values: list[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.string())


def missing_mask(array: pa.Array, kind: str) -> np.ndarray:
    """Where a column of this kind has no value."""
    compute = arrow_compute()
    codes = _missing_codes(kind)
    return compute.is_in(compute.utf8_lower(array), codes).to_numpy(zero_copy_only=False)


@lru_cache(maxsize=8)
def _missing_codes(kind: str) -> pa.Array:
    by_kind = {"number": MISSING_NUMBER, "timestamp": MISSING_NUMBER}
    return _text(sorted(by_kind.get(kind, MISSING)))


def to_numbers(array: pa.Array) -> Converted:
    """Read float64 values; missing and bad ones are NaN. A number beyond float64 is bad."""
    import numpy as np
    import pyarrow as pa

    missing = missing_mask(array, "number")
    values = _cast(array, missing)
    if values is None:
        compute = arrow_compute()
        is_number = compute.match_substring_regex(array, NUMBER)
        unsigned = compute.utf8_ltrim(array, "+")
        numbers = compute.if_else(is_number, unsigned, pa.scalar(None, pa.string()))
        values = _floats(numbers)
        values[np.isinf(values) | missing] = np.nan
    return Converted(values, missing, np.isnan(values) & ~missing)


def _floats(array: pa.Array) -> np.ndarray:
    """Text as float64, null as NaN. Raises ``pyarrow.ArrowInvalid`` where some is no number."""
    import numpy as np
    import pyarrow as pa

    numbers = arrow_compute().cast(array, pa.float64())
    return np.array(numbers.to_numpy(zero_copy_only=False), dtype=float)


def _cast(array: pa.Array, missing: np.ndarray) -> np.ndarray | None:
    """The numbers of a column without any bad value, as Arrow casts them at once.

    None where there may be a bad one.
    """
    import numpy as np
    import pyarrow as pa

    given = array
    if missing.any():
        given = arrow_compute().if_else(pa.array(missing), pa.scalar(None, pa.string()), array)
    try:
        values = _floats(given)
    except pa.ArrowInvalid:
        return None
    # Arrow reads "inf" and "nan", which are no numbers here.
    all_finite = np.array_equal(np.isfinite(values), ~missing)
    if all_finite:
        return values
    return None


def to_categories(array: pa.Array, labels: tuple[str, ...]) -> Converted:
    """Read a Categorical with exactly these labels; a value that is none of them is NaN and bad."""
    import numpy as np
    import pyarrow as pa

    missing = missing_mask(array, "category")
    encoded = array.dictionary_encode()
    found = list(map(label_finder(labels), encoded.dictionary.to_pylist()))
    code_of_text = pa.array(found, pa.int64()).fill_null(-1)
    codes = code_of_text.take(encoded.indices).to_numpy()
    codes = np.where(missing, -1, codes)
    return Converted(categories(codes, labels), missing, (codes < 0) & ~missing)


def to_text(array: pa.Array) -> Converted:
    """Read strings; missing ones are NaN."""
    import numpy as np

    missing = missing_mask(array, "text")
    values = array.to_numpy(zero_copy_only=False).astype(object)
    values[missing] = None
    return Converted(text_array(values), missing, np.zeros(len(missing), dtype=bool))


def to_timestamps(array: pa.Array, form: str) -> Converted:
    """Read datetime64[us] in UTC; ISO 8601 where ``form`` is empty; missing and bad ones are NaT."""
    import numpy as np
    import pandas as pd

    missing = missing_mask(array, "timestamp")
    text = pd.Series(array.to_numpy(zero_copy_only=False), dtype=object)
    if form:
        times = pd.to_datetime(text, format=form, errors="coerce")
        unread = times.isna() & ~missing
        if unread.any():
            others: Any = text[unread]
            english = others.map(partial(in_english, form=form))
            times[unread] = pd.to_datetime(english, format=form, errors="coerce")
    else:
        iso = arrow_compute().match_substring_regex(array, ISO).to_numpy(zero_copy_only=False)
        times = pd.to_datetime(
            text.where(iso),
            format="ISO8601",
            errors="coerce",
            utc=True,
        ).dt.tz_localize(None)
    values = times.to_numpy().astype("datetime64[us]")
    values[missing] = np.datetime64("NaT")
    return Converted(values, missing, np.isnat(values) & ~missing)


def _to_timestamps_or_iso(array: pa.Array, form: str) -> Converted:
    """As ``to_timestamps``, but what is not of the form may be ISO 8601, like which no other is."""
    import numpy as np

    made = to_timestamps(array, form)
    if not form or not made.bad.any():
        return made
    iso = to_timestamps(array, "")
    values = np.where(made.bad, iso.values, made.values)
    return Converted(values, made.missing, made.bad & iso.bad)


def timestamp_format(texts: list[str], *, compact: bool = False) -> str | None:
    """How these (distinct, not missing) texts are written as timestamps: ISO is ``""``.

    That with a blank before the hours has a form of its own. None if they are none.

    ``compact``: eight digits may be a day between 1900 and 2099.
    """
    import pyarrow as pa

    sample = texts[:100]
    if not sample or not all(map(_may_be_time, sample)):
        return None

    forms = [*_WITH_BLANK, "", *FORMATS]
    if compact and all(map(_EIGHT_DIGITS.fullmatch, sample)):
        forms.append(_COMPACT)
    likely = chain(
        filter(partial(_all_read, sample), forms),
        filter(partial(_all_named, sample), _WITH_MONTHS),
    )
    return next(filter(partial(_fits, pa.array(texts)), likely), None)


def _fits(array: pa.Array, form: str) -> bool:
    """Whether all texts of a column are timestamps of this form."""
    return not to_timestamps(array, form).bad.any()


def _all_read(sample: list[str], form: str) -> bool:
    """As ``_fits``, of a few texts: much quicker."""
    return all(map(partial(_reads, form), sample))


def _all_named(sample: list[str], form: str) -> bool:
    """As ``_all_read``, with months that are named as in other languages, or otherwise."""
    return all(map(partial(_reads_in_english, form), sample))


def _may_be_time(text: str) -> bool:
    return 6 <= len(text) <= 40 and any(map(str.isdigit, text))


def _reads(form: str, text: str) -> bool:
    """Whether a text is a timestamp of this form; ISO where it is empty."""
    if not form:
        return _ISO.match(text) is not None
    with suppress(ValueError):
        return _has_marks(text, form) and bool(datetime.strptime(text, form))
    return False


def _reads_in_english(form: str, text: str) -> bool:
    """Whether a text is a timestamp of this form in English, with the month named otherwise."""
    english = in_english(text, form)
    return english != text and _reads(form, english)


def _has_marks(text: str, form: str) -> bool:
    """Whether a text has the marks between the parts of a form: without them it cannot be one.

    ``strptime`` compiles an expression for each new form and forgets all but a few: trying a column
    of numbers took longer than reading its file.
    """
    return all(text.count(mark) >= count for mark, count in _marks(form).items())


@lru_cache(maxsize=256)
def _marks(form: str) -> Counter[str]:
    """Return how often each mark stands between the parts of a form."""
    return Counter(_DIRECTIVE.sub("", form))


def form_in_words(form: str) -> str:
    """Say how timestamps of a form are written, with an example; ISO 8601 where it is empty."""
    form = form or "%Y-%m-%d"
    words = _DIRECTIVE.sub(_word_of, form)
    example = datetime(2026, 11, 28, 17, 30).strftime(form)
    return f"as {words}, such as {example}"


def _word_of(directive: re.Match[str]) -> str:
    return _WORDS.get(directive[0], directive[0])


def swapped_day(form: str) -> str:
    """The form with day and month changed, empty if these cannot be mistaken for one another."""
    swapped = _SWAPPED.get(form[:5], "")
    return swapped and swapped + form[5:]


def parse_timestamp(text: str, form: str) -> np.datetime64:
    """Read one timestamp as ``convert`` does. Raises ValueError."""
    import numpy as np

    if form:
        for written in (text, in_english(text, form)):
            with suppress(ValueError):
                return np.datetime64(datetime.strptime(written, form), "us")
    if not _ISO.match(text):
        raise ValueError(text)
    import pandas as pd

    time = pd.Timestamp(text)
    utc = time.tz_convert(None) if time.tzinfo else time
    return utc.to_datetime64().astype("datetime64[us]")


def plain_number(text: str) -> str:
    """How a number is written as a label: ``1.0`` and ``+1`` are ``1``; other text stays as it is."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number_text(number)


def number_text(number: float) -> str:
    """A number as text: a whole one, as far as floats are exact, without a point."""
    is_exact = number.is_integer() and abs(number) < 1e15
    if is_exact:
        return str(int(number))
    return repr(number)


def label_finder(labels: tuple[str, ...]) -> Callable[[str], int | None]:
    """Return what finds the code of a label, None where a text is none of them.

    Numbers and truth values may be spelled otherwise: ``1.0`` means the label ``1``, ``True`` the
    label ``true``. A table is read from Parquet and asked about in CSV, or the other way round.
    """
    codes = range(len(labels))
    code_of = dict(zip(labels, codes, strict=True))
    if numeric_labels(labels):
        return lambda text: code_of.get(plain_number(text))

    code_of_truth = dict(zip(map(str.lower, labels), codes, strict=True))
    are_truths = code_of_truth.keys() <= {"true", "false"} and len(code_of_truth) == len(labels)
    if are_truths:
        return lambda text: code_of_truth.get(text.lower())
    return code_of.get


LARGEST = (2 - 2**-23) * 2.0**127  # of 32 bits, with which models compute


def numeric_labels(labels: tuple[str, ...]) -> bool:
    """Whether every label is a number as ``plain_number`` writes it.

    Then ``1.0`` means the label ``1``.
    """
    return bool(labels) and all(map(_is_plain_number, labels))


def _is_plain_number(label: str) -> bool:
    return is_number(label) and plain_number(label) == label


def text_array(values: Sequence[str | None] | np.ndarray) -> pd.api.extensions.ExtensionArray:
    """A text column as in every frame; None is missing."""
    import pandas as pd
    import pyarrow as pa

    # Several times quicker for one row than pd.array(values, dtype="str"), which gives the same.
    return pd.arrays.ArrowStringArray(pa.array(values, pa.large_string()), dtype=_text_dtype())


def is_number(text: str) -> bool:
    """Whether text is a number as ``to_numbers`` reads it."""
    return _NUMBER.match(text) is not None


def categories(codes: np.ndarray, labels: tuple[str, ...]) -> pd.Categorical:
    """A category column as in every frame: unordered, text labels in the schema's order.

    Code -1 is missing.
    """
    import pandas as pd

    return pd.Categorical.from_codes(codes, dtype=_category_dtype(labels), validate=False)


@lru_cache(maxsize=4096)
def _category_dtype(labels: tuple[str, ...]) -> pd.CategoricalDtype:
    import pandas as pd

    return pd.CategoricalDtype(pd.Index(list(labels), dtype="str"))


@lru_cache(maxsize=1)
def _text_dtype() -> pd.StringDtype:
    import numpy as np
    import pandas as pd

    return pd.StringDtype("pyarrow", na_value=np.nan)

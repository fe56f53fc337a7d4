"""How people write numbers: decimal comma, thousands, currency, percent, times of day.

A form is named by how it writes 1234.5, or -1234.5 where that has no sign in front: accounts write
``(1.234,5)``, some programs ``1.234,5-``. Errors of measurement may be behind: ``1234.5 ± 0.5``.

``1.234,5`` has a decimal comma and dots between thousands, ``$1,234.5`` a sign in front; the empty
form is ``1234.5``. A time of day is the minutes since midnight: ``20:34:30``, or ``8:34:30 PM``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain, repeat
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.clocks import CLOCKS, Clock

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_EXAMPLE = re.compile(
    r"(?P<prefix>[^\d.,+-]{0,8})1(?P<thousands>[.,' \u00a0\u202f’]?)234(?P<decimal>[.,])5(?P<suffix>\D{0,8})"
)
_AFFIXES = re.compile(
    r"[+-]?(?P<prefix>[^\d.,+-]{0,8})[+-]?[\d.,' \u00a0\u202f’]*\d(?:[eE][+-]?\d{1,4})?"
    r"(?P<suffix>\D{0,8})"
)
_SEPARATORS = (
    (",", "."),
    ("", ","),
    (".", ","),
    (" ", ","),
    (" ", "."),
    ("\u00a0", ","),
    ("\u202f", ","),
    ("'", "."),
    ("’", "."),
)
_SIGNS = re.compile(
    r"\s*(%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|k?g|mg|c?m|mm|km|s|min|h|ms|oz|lbs?|ft|°[CF]?|kWh?|[KMGT]i?B)\s*"
)

_ENDS = {
    ("(", ")"): re.compile(r"\(.*\)"),
    ("", "-"): re.compile(r"\d[.,]\d+\s*-"),  # a whole number with a minus behind may be a grade
    ("\u2212", ""): re.compile(r"\u2212\s*[.,]?\d"),  # the minus of typesetters,
    ("\u2013", ""): re.compile(r"^\D{0,8}\u2013\s*[.,]?\d"),  # or a dash in its place
}
"""What is around negative numbers without a sign in front, and how such texts look."""
_GUESSED_BY = 200  # texts, by which it is guessed how most are written
_MOST = 0.9  # of them


@dataclass(frozen=True)
class NumberForm:
    """The marks of a form; ``thousands`` may be empty."""

    prefix: str
    thousands: str
    decimal: str
    suffix: str

    @classmethod
    def from_example(cls, example: str) -> NumberForm:
        """Read the name of a form. Raises DatasetError if it is not how 1234.5 is written."""
        found = _EXAMPLE.fullmatch(example)
        if found is None or found["thousands"] == found["decimal"]:
            raise DatasetError(
                f"{example!r} is not a form of numbers.",
                remedy="Write 1234.5 as the numbers are written: 1.234,5.",
            )
        return cls(**found.groupdict())

    @property
    def example(self) -> str:
        """How 1234.5 is written; empty where it is just that."""
        text = f"{self.prefix}1{self.thousands}234{self.decimal}5{self.suffix}"
        if text == "1234.5":
            return ""
        return text

    @property
    def removed(self) -> list[str]:
        """The marks that a plain number does not have."""
        marks = [self.prefix.strip(), self.suffix.strip(), self.thousands]
        return list(filter(None, marks))

    @property
    def pattern(self) -> str:
        """A regular expression of the numbers in this form.

        The marks before and behind may be left out.
        """
        mark = re.escape(self.thousands)
        point = re.escape(self.decimal)
        before = re.escape(self.prefix.strip())
        behind = re.escape(self.suffix.strip())

        whole = r"\d+"
        if mark:
            whole = rf"(\d+|[1-9]\d{{0,2}}({mark}\d{{3}})+)"
        start = rf"(({before})?\s*[+-]?|[+-]({before})?)"
        power = r"([eE][+-]?\d{1,4})?"  # as programs write very small and large numbers
        number = rf"({whole}({point}\d*)?|{point}\d+){power}"
        return rf"^{start}\s*{number}\s*({behind})?$"

    @cached_property
    def _matcher(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def fits(self, array: pa.Array) -> bool:
        """Whether all texts of a column are numbers of this form."""
        compute = arrow_compute()
        return compute.all(compute.match_substring_regex(array, self.pattern)).as_py()

    def mask(self, array: pa.Array) -> np.ndarray:
        """Which texts of a column are numbers of this form."""
        matches = arrow_compute().match_substring_regex(array, self.pattern)
        return matches.to_numpy(zero_copy_only=False)

    def plain(self, text: str) -> str:
        """Rewrite a number of this form as ``1234.5``; other text stays as it is."""
        if not self._matcher.match(text):
            return text
        for mark in self.removed:
            text = text.replace(mark, "")
        return "".join(text.split()).replace(self.decimal, ".")

    def plain_array(self, array: pa.Array) -> pa.Array:
        """As ``plain``, of a column."""
        compute = arrow_compute()
        plain = array
        for mark in self.removed:
            plain = compute.replace_substring(plain, mark, "")
        plain = compute.replace_substring_regex(plain, r"\s", "")
        plain = compute.replace_substring(plain, self.decimal, ".")
        is_number = compute.match_substring_regex(array, self.pattern)
        return compute.if_else(is_number, plain, array)


@dataclass(frozen=True)
class AccountForm:
    """A form whose negative numbers have ``ends`` around them, or a minus behind, and no sign.

    ``form``: of the others.
    """

    form: NumberForm
    ends: tuple[str, str]

    @property
    def example(self) -> str:
        """How -1234.5 is written."""
        opening, closing = self.ends
        return f"{opening}{self.form.example or '1234.5'}{closing}"

    @cached_property
    def _negative(self) -> str:
        """A regular expression of the negative numbers; a unit may be outside of the ends."""
        before = re.escape(self.form.prefix.strip())
        behind = re.escape(self.form.suffix.strip())
        opening, closing = map(re.escape, self.ends)
        number = self.form.pattern.removeprefix("^").removesuffix("$")
        return rf"^({before})?\s*{opening}\s*{number}\s*{closing}\s*({behind})?$"

    def fits(self, array: pa.Array) -> bool:
        """Whether all texts of a column are numbers of this form."""
        return bool(self.mask(array).all())

    def mask(self, array: pa.Array) -> np.ndarray:
        """Which texts of a column are numbers of this form."""
        is_negative = arrow_compute().match_substring_regex(array, self._negative)
        return is_negative.to_numpy(zero_copy_only=False) | self.form.mask(array)

    @property
    def _ends(self) -> str:
        """A regular expression of the ends."""
        return f"[{re.escape(''.join(self.ends))}]"

    def plain(self, text: str) -> str:
        """Rewrite a number of this form as ``-1234.5``; other text stays as it is."""
        if not re.match(self._negative, text):
            return self.form.plain(text)
        bare = re.sub(self._ends, "", text)
        return f"-{self.form.plain(bare)}"

    def plain_array(self, array: pa.Array) -> pa.Array:
        """As ``plain``, of a column."""
        compute = arrow_compute()
        bare = compute.replace_substring_regex(array, self._ends, "")
        negative = compute.binary_join_element_wise("-", self.form.plain_array(bare), "")
        is_negative = compute.match_substring_regex(array, self._negative)
        return compute.if_else(is_negative, negative, self.form.plain_array(array))


_ERROR = r"\s*(±|\+/-|\+-)\s*[.,]?\d[\d.,]*([eE][+-]?\d{1,4})?"
_WITH_ERROR = " ± 0.5"


@dataclass(frozen=True)
class ErrorForm:
    """A form whose numbers may have their error behind them: ``12.5 ± 0.2``. It is left out.

    ``form``: of the numbers alone.
    """

    form: NumberForm

    @property
    def example(self) -> str:
        """How 1234.5 is written."""
        return f"{self.form.example or '1234.5'}{_WITH_ERROR}"

    def fits(self, array: pa.Array) -> bool:
        """Whether all texts of a column are numbers of this form."""
        return self.form.fits(_without_errors(array))

    def mask(self, array: pa.Array) -> np.ndarray:
        """Which texts of a column are numbers of this form."""
        return self.form.mask(_without_errors(array))

    def plain(self, text: str) -> str:
        """Rewrite a number of this form as ``1234.5``; other text stays as it is."""
        bare = re.sub(_ERROR, "", text)
        if not re.match(self.form.pattern, bare):
            return text
        return self.form.plain(bare)

    def plain_array(self, array: pa.Array) -> pa.Array:
        """As ``plain``, of a column."""
        bare = _without_errors(array)
        is_number = arrow_compute().match_substring_regex(bare, self.form.pattern)
        return arrow_compute().if_else(is_number, self.form.plain_array(bare), array)


def _without_errors(array: pa.Array) -> pa.Array:
    return arrow_compute().replace_substring_regex(array, _ERROR, "")


_PLAIN = NumberForm("", "", ".", "")


Form = NumberForm | AccountForm | ErrorForm | Clock


@lru_cache(maxsize=4096)
def _form(name: str) -> Form:
    if name.endswith(_WITH_ERROR):
        return ErrorForm(NumberForm.from_example(name.removesuffix(_WITH_ERROR)))
    for ends in _ENDS:
        inner = name.removeprefix(ends[0]).removesuffix(ends[1])
        if f"{ends[0]}{inner}{ends[1]}" == name:
            return AccountForm(NumberForm.from_example(inner), ends)
    return CLOCKS.get(name) or NumberForm.from_example(name)


def is_of_accounts(form: str) -> bool:
    """Tell whether a form is named by how it writes -1234.5."""
    return bool(form) and isinstance(_form(form), AccountForm)


def checked_form(form: str) -> str:
    """Return the name of a form. Raises DatasetError if it is not how 1234.5 is written."""
    return _form(form).example


def plain_numbers(array: pa.Array, form: str) -> pa.Array:
    """Rewrite the numbers of a form as ``1234.5``; other values stay as they are."""
    if not form:
        return array
    return _form(form).plain_array(array)


def plain_number_of(text: str, form: str) -> str:
    """As ``plain_numbers``, of one value."""
    if not form:
        return text
    return _form(form).plain(text)


def number_form(texts: list[str]) -> str | None:
    """The form in which all these (distinct) texts are numbers, or None.

    Tells forms other than the plain one.
    """
    import pyarrow as pa

    array = pa.array(texts, pa.string())
    others = chain(_account_forms(texts), _error_forms(texts))
    forms = chain(CLOCKS.values(), _number_forms(texts[:200]), others)
    return next((form.example for form in forms if form.fits(array)), None)


def _account_forms(texts: list[str]) -> list[AccountForm]:
    """The forms whose negative numbers have no sign in front, if some of the texts look so."""
    found: list[AccountForm] = []
    for ends, marks in _ENDS.items():
        marked = list(filter(marks.search, texts))
        if 0 < len(marked) < len(texts):  # not all are, as notes (1) and (2) are
            looked_at = [*marked[:100], *texts[:100]]
            bare = list(map(partial(re.sub, "[()\u2212\u2013]|-$", ""), looked_at))
            forms = [_PLAIN, *_number_forms(list(map(str.strip, bare)))]
            found += map(AccountForm, forms, repeat(ends))
    return found


def _error_forms(texts: list[str]) -> list[ErrorForm]:
    """The forms whose numbers have their error behind them, if some of the texts look so."""
    marked = list(filter(partial(re.search, _ERROR), texts))
    if not marked:
        return []
    bare = list(map(partial(re.sub, _ERROR, ""), [*marked[:100], *texts[:100]]))
    return list(map(ErrorForm, [_PLAIN, *_number_forms(bare)]))


def has_errors(form: str) -> bool:
    """Tell whether a form has the errors of numbers behind them."""
    return form.endswith(_WITH_ERROR)


def number_form_of_most(texts: list[str]) -> Form | None:
    """The form in which most of these (distinct) texts are numbers, the plain one too; or None."""
    import pyarrow as pa

    sample = texts[:: max(1, len(texts) // _GUESSED_BY)]
    array = pa.array(sample, pa.string())
    usual = _forms_with(*_commonest_affixes(sample))
    others = [*_account_forms(sample), *_error_forms(sample)]
    forms = [_PLAIN, *CLOCKS.values(), *usual, *others]
    fitting = [int(form.mask(array).sum()) for form in forms]
    most = max(fitting)
    if most >= _MOST * len(sample):
        return forms[fitting.index(most)]
    return None


def _commonest_affixes(texts: list[str]) -> tuple[str, str]:
    """What stands before and behind most numbers; nothing where that is no unit or currency."""
    found = filter(None, map(_AFFIXES.fullmatch, texts))
    pairs = Counter((one["prefix"].strip(), one["suffix"].strip()) for one in found)
    marks = max(pairs, key=pairs.__getitem__, default=("", ""))
    are_signs = all(map(_SIGNS.fullmatch, filter(None, marks)))
    if are_signs:
        return marks
    return ("", "")


def _affixes(texts: list[str]) -> tuple[str, str] | None:
    """What stands before and behind the numbers; None where it is not the same for all."""
    prefixes = set()
    suffixes = set()
    for text in texts:
        found = _AFFIXES.fullmatch(text)
        if found is None:
            return None
        prefixes.add(found["prefix"])
        suffixes.add(found["suffix"])
    are_signs = all(map(_one_sign, (prefixes, suffixes)))
    are_units = prefixes == {""} and _is_unit(suffixes)
    if not are_signs and not are_units:
        return None
    return max(prefixes, key=len, default=""), max(suffixes, key=len, default="")


def _number_forms(texts: list[str]) -> Iterator[NumberForm]:
    """The forms in which texts may be numbers, in order; the plain one is not among them."""
    affixes = _affixes(texts)
    if affixes is not None:
        yield from _forms_with(*affixes)


def _forms_with(prefix: str, suffix: str) -> Iterator[NumberForm]:
    """The forms that have these marks, in order; the plain one is not among them."""
    if prefix + suffix:
        yield NumberForm(prefix, "", ".", suffix)
    for thousands, decimal in _SEPARATORS:
        yield NumberForm(prefix, thousands, decimal, suffix)


def signs_of(texts: list[str]) -> Counter[str]:
    """How many of these texts are numbers with each unit or currency around; without one: ``""``."""
    found = filter(None, map(_AFFIXES.fullmatch, texts))
    return Counter(filter(_is_sign_or_nothing, map(_marks_of, found)))


def _marks_of(number: re.Match[str]) -> str:
    return f"{number['prefix']}{number['suffix']}".strip()


def _is_sign_or_nothing(mark: str) -> bool:
    return not mark or _SIGNS.fullmatch(mark) is not None


def _is_unit(suffixes: set[str]) -> bool:
    """Whether one word stands behind all numbers, with a space between, such as µg/l."""
    if len(suffixes) != 1:
        return False
    (suffix,) = suffixes
    return suffix[:1].isspace()


def _one_sign(marks: set[str]) -> bool:
    """Whether at most one unit or currency is before, or behind, all numbers."""
    signs = set(map(str.strip, marks)) - {""}
    return len(signs) <= 1 and all(map(_SIGNS.fullmatch, signs))

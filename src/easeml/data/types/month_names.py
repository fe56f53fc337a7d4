"""Names of months in German, French, Spanish, Italian, Dutch and Portuguese, and how they stand in
dates: ``5. März 2024``, ``1er févr. 2024``, ``12 de marzo de 2024``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_ENGLISH = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NAMES = (
    "januar jan jaenner janner janvier janv enero ene gennaio gen januari janeiro",
    "februar feb feber fevrier fevr fev febrero febbraio februari fevereiro",
    "marz mar maerz mrz mars marzo maart mrt marco",
    "april apr avril avr abril abr aprile",
    "mai mayo may maggio mag mei maio",
    "juni jun juin junio giugno giu junho",
    "juli jul juillet juil julio luglio lug julho",
    "august aug aout agosto ago augustus",
    "september sep sept septembre septiembre setiembre settembre set setembro",
    "oktober okt oct octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "dezember dez dec decembre diciembre dic dicembre december dezembro",
)
"""Of each month, in order, without accents; a dot may follow them."""
_WORD = re.compile(r"([^\W\d_]{3,})(\.?)")
_BETWEEN = re.compile(r"\s+del?\s+")  # Spanish and Portuguese: 12 de marzo de 2024
_ORDINAL = re.compile(r"^(\d{1,2})(?:er|[º°ª])(?=\s)")


def _numbers() -> dict[str, int]:
    found = {}
    for month, names in enumerate(_NAMES):
        found.update(dict.fromkeys(names.split(), month))
    return found


_MONTH_OF = _numbers()


def has_month(form: str) -> bool:
    """Whether a form of dates has a name of a month."""
    return "%b" in form.casefold()


@lru_cache(maxsize=4096)
def in_english(text: str, form: str) -> str:
    """Rewrite a date with the name of a month as ``form`` has it in English.

    It has the whole name, or three letters. What has no month stays as it is.
    """
    found = filter(_month_of, _WORD.finditer(text))
    word = next(found, None)
    if word is None:
        return text
    name = _ENGLISH[_MONTH_OF[_plain(word[1])]]
    if "%b" in form:
        name = name[:3]
    text = f"{text[: word.start()]}{name}{text[word.end() :]}"
    return _ORDINAL.sub(r"\1", _BETWEEN.sub(" ", text))


def _month_of(word: re.Match[str]) -> bool:
    return _plain(word[1]) in _MONTH_OF


def _plain(word: str) -> str:
    """A word in lower case, without accents."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(filter(str.isalpha, letters))

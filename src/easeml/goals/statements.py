"""What people write of a measure: ``AUC >= 0.9``, ``at least 90 % accuracy``, ``error under 5 min``."""

import re
from dataclasses import dataclass, replace

from easeml.decimals import with_point
from easeml.objective_names import is_known

MORE = frozenset({">", ">="})
LESS = frozenset({"<", "<="})
_SIGNS = {"≥": ">=", "=>": ">=", "≤": "<=", "=<": "<=", ":": "="}
_SIGNS |= {sign: sign for sign in (">=", "<=", ">", "<", "=")}
_WORDS = {
    ">=": ("at least", "no less than", "not less than", "not below", "minimum", "min"),
    ">": ("above", "over", "more than", "greater than", "higher than", "better than"),
    "<=": ("at most", "no more than", "not more than", "not above", "up to", "maximum", "max"),
    "<": ("below", "under", "less than", "lower than", "smaller than", "within"),
    "=": ("of", "is", "be", "to", "should", "must"),
}
_SIDES = _SIGNS | {word: side for side, words in _WORDS.items() for word in words}
_LONGEST_FIRST = sorted(_SIDES, key=len, reverse=True)
_WORD = "|".join(word.replace(" ", r"\s+") for word in _LONGEST_FIRST if word not in _SIGNS)
_SIGN = "|".join(sign for sign in _LONGEST_FIRST if sign in _SIGNS)
_AT_END = re.compile(rf"(?P<rest>.*?)(?P<side>(?<![\w-])(?:{_WORD})|{_SIGN})", re.I | re.S)
_AT_START = re.compile(rf"(?P<side>{_WORD})\s+(?P<rest>.*)", re.I | re.S)
_NUMBER = re.compile(r"(?<![\w.,²-])[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?", re.I)
_PERCENT = re.compile(r"(?:%|per\s?cent\b)\s*(?P<rest>.*)", re.I | re.S)
_ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """A measure, a side and a number.

    ``name``: of the measure as written; empty where none is named. ``side``: ``>``, ``>=``, ``<``,
    ``<=``, or empty where none is told. ``value``: of a percentage the share. ``unit``: as written.
    """

    name: str
    side: str
    value: float
    is_percent: bool = False
    unit: str = ""


def read_statement(text: str) -> Statement | None:
    """Return what a text states; None where it has no number, or several.

    Raises ``InvalidInput`` for a comma or point that may be one of thousands.
    """
    # A number in brackets is part of a name, such as a class: ``recall(1)``.
    bare = re.sub(r"\([^)]*\)", lambda held: "x" * len(held[0]), text)
    numbers = list(_NUMBER.finditer(bare))
    if len(numbers) != 1:
        return None
    start, end = numbers[0].span()
    value = float(with_point(text[start:end], "goal"))
    name, side = _name_and_side(text[:start].strip())
    unit = text[end:].strip()
    percent = _PERCENT.fullmatch(unit)
    if percent is not None:
        value /= 100
        unit = percent["rest"].strip()
    stated = Statement(name, side, value, percent is not None, unit)
    return stated if name or not unit else _named_behind(stated)


def _name_and_side(text: str) -> tuple[str, str]:
    """Return a name, and the side that stands behind it or before it."""
    rest = text
    side = ""
    while found := _AT_END.fullmatch(rest) or _AT_START.fullmatch(rest):
        words = re.sub(r"\s+", " ", found["side"].lower())
        said = _SIDES[words]
        if said != "=":
            side = said
        rest = found["rest"].strip()
    return _ARTICLE.sub("", rest), side


def _named_behind(stated: Statement) -> Statement:
    """Return a statement whose measure is named behind the number: ``5 minutes error``."""
    words = stated.unit.split()
    for place in range(len(words)):
        name = " ".join(words[place:])
        if is_known(name):
            return replace(stated, name=name, unit=" ".join(words[:place]))
    return stated

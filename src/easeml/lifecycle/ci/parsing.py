"""Text to conditions, with errors that point at the place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NoReturn

from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.lifecycle.ci.condition import VARIABLES, Both, Clause, Either, Formula, Part, joined
from easeml.lifecycle.ci.groups import Group, read_group

LONGEST = 10_000
"""Characters of a condition at most."""

_DEEPEST = 40
_EXAMPLE = "An example: n - o > 0.02 +/- 0.01 /\\ d < 0.1 +/- 0.01."
_SLASH = (
    "There is no division; '/\\' is 'and'. "
    "In double quotes YAML drops the backslash: write 'and', or no quotes."
)
_GROUPS = 'Groups are written as in n[sex = female], n[age >= 60] or n[city != "New York"].'
_APART = "Compare groups of one column, as in n[sex = female] - n[sex = male] > -0.1 +/- 0.05."
_SIGNS = {"+": 1.0, "-": -1.0}
_LEVELS = {"open": 1, "close": -1}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?(?: ?%)?)"
    r"|(?P<and>/\\|&&|\band\b|∧)|(?P<or>\\/|\|\||\bor\b|∨)|(?P<tolerance>\+/-|±)"
    r"|(?P<compare>>=|<=|>|<)|(?P<sign>[+\-])|(?P<times>\*)|(?P<open>\()|(?P<close>\))"
    r'|(?P<group>\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\])'
    r"|(?P<name>[^\W\d]\w*))"
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


_Variable = tuple[str, Group | None]
"""n, o or d, and the group of rows that it is about; None: all rows."""


@dataclass(frozen=True)
class _Linear:
    """A sum of variables with their weights, none of which is 0, and a number."""

    weights: Mapping[_Variable, float]
    number: float = 0.0

    def plus(self, other: _Linear, factor: float) -> _Linear:
        """Add ``factor`` times ``other``, to 12 decimals: 0.1 n + 0.2 n - 0.3 n is nothing."""
        weights = dict(self.weights)
        for variable, weight in other.weights.items():
            weights[variable] = round(weights.get(variable, 0.0) + factor * weight, 12)
        kept = {variable: weight for variable, weight in weights.items() if weight}
        return _Linear(kept, round(self.number + factor * other.number, 12))

    def times(self, factor: float) -> _Linear:
        """Return ``factor`` times this, to 12 decimals."""
        return _NOTHING.plus(self, factor)

    @property
    def constant(self) -> bool:
        return not self.weights

    def parts(self) -> list[Part]:
        """Return the weights by groups of rows, in the order in which these were named."""
        groups = dict.fromkeys(group for _, group in self.weights)
        found = []
        for group in groups:
            n, o, d = (self.weights.get((name, group), 0.0) for name in VARIABLES)
            found.append(Part(n, o, d, group))
        return found


_NOTHING = _Linear({})


def parse(text: str) -> Formula:
    r"""Return the condition that ``text`` says.

    Clauses are ``EXPRESSION > EXPRESSION +/- TOLERANCE`` (or ``<``), linear in n, o and d, each of
    all rows or of a group, as in ``n[sex = female]``. They are joined by ``/\`` (also ``and``,
    ``&&``) and ``\/`` (``or``, ``||``), of which ``/\`` binds closer, and grouped by brackets.

    Raises:
        InvalidInput: with the column where the text cannot be understood.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("The condition is empty.", where="condition", remedy=_EXAMPLE)
    if len(text) > LONGEST:
        raise InvalidInput(
            f"The condition is longer than {LONGEST:,} characters.", where="condition"
        )
    parser = _Parser(text)
    formula = parser.formula(0)
    token = parser.token
    if token.kind != "end":
        parser.fail(token, f"'{token.text}' is not expected here")
    return formula


class _Parser:
    """Recursive descent over the tokens; ``at`` is the next one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens()
        self.at = 0

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def fail(self, token: _Token, problem: str, remedy: str = _EXAMPLE) -> NoReturn:
        marker = " " * token.position + "^"
        shown = " ".join(self.text.splitlines())
        raise InvalidInput(
            f"{problem}:\n  {shown}\n  {marker}",
            where=f"condition, column {token.position + 1}",
            remedy=remedy,
        )

    def formula(self, depth: int) -> Formula:
        return self._joined("or", Either, self._conjunction, depth)

    def _conjunction(self, depth: int) -> Formula:
        return self._joined("and", Both, self._factor, depth)

    def _joined(
        self,
        kind: str,
        join: type[Both] | type[Either],
        inner: Callable[[int], Formula],
        depth: int,
    ) -> Formula:
        """Read what ``inner`` reads, once or more often, with ``kind`` between."""
        parts = [inner(depth)]
        while self._take(kind):
            parts.append(inner(depth))
        return joined(join, parts)

    def _factor(self, depth: int) -> Formula:
        """Read a clause, or a condition in brackets.

        Brackets may also start the expression of a clause.
        """
        opening = self.token
        if opening.kind != "open" or not self._brackets_hold_a_condition():
            return self._clause(depth)
        if depth > _DEEPEST:
            self.fail(opening, "too many brackets in each other")
        self.at += 1
        formula = self.formula(depth + 1)
        self._close(opening)
        return formula

    def _brackets_hold_a_condition(self) -> bool:
        """Tell whether a comparison stands within the brackets that open here."""
        level = 0
        for token in self.tokens[self.at :]:
            level += _LEVELS.get(token.kind, 0)
            if level == 0:
                return False
            if token.kind == "compare":
                return True
        return False

    def _clause(self, depth: int) -> Clause:
        start = self.token
        left = self._expression(depth)
        compare = self.token
        if not self._take("compare"):
            self.fail(compare, "a comparison, > or <, is missing here")
        right = self._expression(depth)
        # All is brought to the left side: n > o + 0.1 is n - o - 0.1 > 0.
        linear = left.plus(right, -1.0)
        mark = self.token
        if not self._take("tolerance"):
            self.fail(
                mark,
                "the tolerance is missing here",
                "End every clause with '+/- TOLERANCE', as in +/- 0.01.",
            )
        tolerance = self._tolerance(depth)
        if linear.constant:
            self.fail(start, "the clause says nothing of n, o or d")
        first, *others = self._apart(start, linear.parts())
        return Clause(
            n=first.n,
            o=first.o,
            d=first.d,
            above=compare.text[0] == ">",
            threshold=-linear.number + 0.0,  # makes no -0.0
            tolerance=tolerance,
            position=start.position,
            group=first.group,
            others=tuple(others),
        )

    def _apart(self, start: _Token, parts: list[Part]) -> list[Part]:
        """Return the parts of a clause, whose groups must have no row in common.

        What the same row said in two of them would not be independent.
        """
        for one, other in combinations(parts, 2):
            if one.group is None or other.group is None:
                self.fail(start, "a clause is about all rows or about groups, not both", _APART)
            if one.group.is_each or other.group.is_each:
                self.fail(start, "each group of a column is compared with no other", _APART)
            if not one.group.excludes(other.group):
                found = f"[{one.group}] and [{other.group}] may have rows in common"
                self.fail(start, found, _APART)
        return parts

    def _tolerance(self, depth: int) -> float:
        start = self.token
        linear = self._expression(depth)
        number = linear.number
        if not linear.constant or not number > 0:
            self.fail(start, "the tolerance must be a number above 0")
        return number

    def _expression(self, depth: int) -> _Linear:
        """Read a sum of products; the first may have several signs, the others have one each."""
        sign = 1.0
        while self.token.kind == "sign":
            sign *= self._sign()
        total = _NOTHING.plus(self._product(depth), sign)
        while self.token.kind == "sign":
            sign = self._sign()
            total = total.plus(self._product(depth), sign)
        return total

    def _sign(self) -> float:
        sign = _SIGNS[self.token.text]
        self.at += 1
        return sign

    def _product(self, depth: int) -> _Linear:
        value = self._atom(depth)
        times = self.token
        while self._take("times"):
            other = self._atom(depth)
            if other.constant:
                value = value.times(other.number)
            elif value.constant:
                value = other.times(value.number)
            else:
                self.fail(
                    times,
                    "n, o and d cannot be multiplied with each other",
                    "Conditions are linear.",
                )
            times = self.token
        return value

    def _atom(self, depth: int) -> _Linear:
        token = self.token
        self.at += 1
        if token.kind == "number":
            return self._number(token)
        if token.kind == "name":
            return self._variable(token)
        if token.kind != "open" or depth > _DEEPEST:
            self.fail(token, "a number, n, o or d is missing here")
        inner = self._expression(depth + 1)
        self._close(token)
        return inner

    def _number(self, token: _Token) -> _Linear:
        where = f"condition, column {token.position + 1}"
        number = float(with_point(token.text.rstrip(" %"), where))
        if token.text.endswith("%"):
            number /= 100.0
        if not math.isfinite(number):
            self.fail(token, "the number is too large")
        return _Linear({}, number)

    def _variable(self, token: _Token) -> _Linear:
        if token.text not in VARIABLES:
            self.fail(
                token,
                f"'{token.text}' is not known",
                "Use n (new), o (old) and d (changed predictions).",
            )
        return _Linear({(token.text, self._group()): 1.0})

    def _group(self) -> Group | None:
        """Read the group of rows that stands behind a variable; None: there is none."""
        token = self.token
        if not self._take("group"):
            return None
        group = read_group(token.text)
        if group is None:
            self.fail(token, f"'{token.text}' names no group of rows", _GROUPS)
        return group

    def _take(self, kind: str) -> bool:
        taken = self.token.kind == kind
        self.at += taken
        return taken

    def _close(self, opening: _Token) -> None:
        if not self._take("close"):
            self.fail(opening, "this bracket is not closed")

    def _tokens(self) -> list[_Token]:
        found: list[_Token] = []
        position = 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                self._fail_at(position)
            kind = match.lastgroup or ""
            found.append(_Token(kind, match.group(kind), match.start(kind)))
            position = match.end()
        return [*found, _Token("end", "", end)]

    def _fail_at(self, position: int) -> NoReturn:
        """Refuse the first character from ``position`` on that is no space."""
        rest = self.text[position:]
        start = position + len(rest) - len(rest.lstrip())
        character = self.text[start]
        self.fail(
            _Token("", character, start),
            f"'{character}' is not understood",
            _SLASH if character == "/" else _EXAMPLE,
        )

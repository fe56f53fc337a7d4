"""Text to conditions, with errors that point at the place."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import NoReturn

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.condition import VARIABLES, Both, Clause, Either, Formula

LONGEST = 2000
"""Characters of a condition at most."""

_DEEPEST = 40
_EXAMPLE = "An example: n - o > 0.02 +/- 0.01 /\\ d < 0.1 +/- 0.01."
_SLASH = "There is no division; '/\\' is 'and'. In double quotes YAML drops the backslash: write 'and', or no quotes."
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?)"
    r"|(?P<and>/\\|&&|\band\b|∧)|(?P<or>\\/|\|\||\bor\b|∨)|(?P<tolerance>\+/-|±)"
    r"|(?P<compare>>=|<=|>|<)|(?P<sign>[+\-])|(?P<times>\*)|(?P<open>\()|(?P<close>\))|(?P<name>[^\W\d]\w*))"
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


@dataclass(frozen=True)
class _Linear:
    """Weights of n, o, d, and a constant."""

    parts: tuple[float, float, float, float]

    def plus(self, other: _Linear, factor: float) -> _Linear:
        """Add ``factor`` times ``other``, to 12 decimals, so that 0.1 n + 0.2 n - 0.3 n is nothing."""
        n, o, d, constant = (
            round(a + factor * b, 12) for a, b in zip(self.parts, other.parts, strict=True)
        )
        return _Linear((n, o, d, constant))

    @property
    def constant(self) -> bool:
        return not any(self.parts[:3])


def parse(text: str) -> Formula:
    r"""Return the condition that ``text`` says.

    Clauses are ``EXPRESSION > EXPRESSION +/- TOLERANCE`` (or ``<``), linear in n, o and d; they are
    joined by ``/\`` (also ``and``, ``&&``) and ``\/`` (``or``, ``||``), of which ``/\`` binds
    closer, and grouped by brackets.

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
    if (token := parser.token).kind != "end":
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
        return self._joined("or", Either, depth)

    def _conjunction(self, depth: int) -> Formula:
        return self._joined("and", Both, depth)

    def _joined(self, kind: str, join: type[Both] | type[Either], depth: int) -> Formula:
        inner = self._conjunction if join is Either else self._factor
        parts = [inner(depth)]
        while self._take(kind):
            parts.append(inner(depth))
        flat = [
            leaf for part in parts for leaf in (part.parts if isinstance(part, join) else (part,))
        ]
        return flat[0] if len(flat) == 1 else join(tuple(flat))

    def _factor(self, depth: int) -> Formula:
        """A clause, or a condition in brackets; brackets may also start the expression of a clause."""
        if self.token.kind == "open" and self._brackets_hold_a_condition():
            opening = self.token
            if depth > _DEEPEST:
                self.fail(opening, "too many brackets in each other")
            self.at += 1
            formula = self.formula(depth + 1)
            self._close(opening)
            return formula
        return self._clause(depth)

    def _brackets_hold_a_condition(self) -> bool:
        level = 0
        for token in self.tokens[self.at :]:
            level += (token.kind == "open") - (token.kind == "close")
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
        linear = left.plus(self._expression(depth), -1.0)
        mark = self.token
        if not self._take("tolerance"):
            self.fail(
                mark,
                "the tolerance is missing here",
                "End every clause with '+/- TOLERANCE', as in +/- 0.01.",
            )
        sizing = self.token
        tolerance = self._expression(depth)
        if not tolerance.constant or not tolerance.parts[3] > 0:
            self.fail(sizing, "the tolerance must be a number above 0")
        n, o, d, constant = linear.parts
        if linear.constant:
            self.fail(start, "the clause says nothing of n, o or d")
        return Clause(
            n, o, d, compare.text[0] == ">", -constant + 0.0, tolerance.parts[3], start.position
        )

    def _expression(self, depth: int) -> _Linear:
        total = _Linear((0.0, 0.0, 0.0, 0.0))
        sign = 1.0
        while self.token.kind == "sign":
            sign *= -1.0 if self.tokens[self.at].text == "-" else 1.0
            self.at += 1
        total = total.plus(self._product(depth), sign)
        while self.token.kind == "sign":
            sign = -1.0 if self.token.text == "-" else 1.0
            self.at += 1
            total = total.plus(self._product(depth), sign)
        return total

    def _product(self, depth: int) -> _Linear:
        value = self._atom(depth)
        while (times := self.token).kind == "times":
            self.at += 1
            other = self._atom(depth)
            if not (value.constant or other.constant):
                self.fail(
                    times,
                    "n, o and d cannot be multiplied with each other",
                    "Conditions are linear.",
                )
            scale, linear = (value, other) if value.constant else (other, value)
            value = _Linear((0.0, 0.0, 0.0, 0.0)).plus(linear, scale.parts[3])
        return value

    def _atom(self, depth: int) -> _Linear:
        token = self.token
        self.at += token.kind != "end"
        if token.kind == "number":
            number = float(token.text.rstrip("%")) / (100.0 if token.text.endswith("%") else 1.0)
            if not math.isfinite(number):
                self.fail(token, "the number is too large")
            return _Linear((0.0, 0.0, 0.0, number))
        if token.kind == "name" and token.text in VARIABLES:
            weights = [float(token.text == name) for name in VARIABLES]
            return _Linear((weights[0], weights[1], weights[2], 0.0))
        if token.kind == "open" and depth <= _DEEPEST:
            inner = self._expression(depth + 1)
            self._close(token)
            return inner
        if token.kind == "name":
            return self.fail(
                token,
                f"'{token.text}' is not known",
                "Use n (new), o (old) and d (changed predictions).",
            )
        return self.fail(token, "a number, n, o or d is missing here")

    def _take(self, kind: str) -> bool:
        taken = self.token.kind == kind
        self.at += taken
        return taken

    def _close(self, opening: _Token) -> None:
        if not self._take("close"):
            self.fail(opening, "this bracket is not closed")

    def _tokens(self) -> list[_Token]:
        found, position = [], 0
        end = len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                start = position + len(self.text[position:]) - len(self.text[position:].lstrip())
                remedy = _SLASH if self.text[start] == "/" else _EXAMPLE
                self.fail(
                    _Token("", self.text[start], start),
                    f"'{self.text[start]}' is not understood",
                    remedy,
                )
            kind = match.lastgroup or ""
            found.append(_Token(kind, match.group(kind), match.start(kind)))
            position = match.end()
        return [*found, _Token("end", "", end)]

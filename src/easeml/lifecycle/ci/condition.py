"""Conditions over n (new quality), o (old quality) and d (share of changed predictions), and their
logic.

The language of Renggli et al., "Continuous integration of machine learning models with ease.ml/ci"
(MLSys 2019, section 2.2), with disjunctions as in the lifecycle paper (CIDR 2021), linear
expressions on both sides, and brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

VARIABLES = ("n", "o", "d")

Truth = bool | None
"""True, False, or None where it is not known."""


@dataclass(frozen=True)
class Clause:
    """``n * n_weight + o * o_weight + d * d_weight`` compared with ``threshold``, to a tolerance >
    0.
    """

    n: float
    o: float
    d: float
    above: bool
    threshold: float
    tolerance: float
    position: int = field(default=0, compare=False)

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by variable."""
        return {name: weight for name in VARIABLES if (weight := getattr(self, name))}

    def upward(self) -> Clause:
        """Return the same clause as "more than": ``d < 0.1`` becomes ``-d > -0.1``."""
        if self.above:
            return self
        return Clause(
            -self.n, -self.o, -self.d, True, -self.threshold, self.tolerance, self.position
        )

    @property
    def only_d(self) -> bool:
        """Whether no label is needed to decide the clause."""
        return not self.n and not self.o

    @property
    def is_difference(self) -> bool:
        """Whether labels are needed only where the predictions differ: the weights of n and o
        cancel.
        """
        return self.n == -self.o and bool(self.n)

    def __str__(self) -> str:
        terms = "".join(_term(name, weight) for name, weight in self.weights.items())
        left = f"-{terms[3:]}" if terms.startswith(" - ") else terms[3:]
        return (
            f"{left} {'>' if self.above else '<'} {self.threshold:.12g} +/- {self.tolerance:.12g}"
        )


@dataclass(frozen=True)
class Both:
    """All parts hold."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " /\\ ".join(
            f"({part})" if isinstance(part, Either) else str(part) for part in self.parts
        )


@dataclass(frozen=True)
class Either:
    """At least one part holds."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " \\/ ".join(str(part) for part in self.parts)


Formula = Clause | Both | Either


def clauses(formula: Formula) -> Iterator[Clause]:
    """Yield the clauses from left to right."""
    if isinstance(formula, Clause):
        yield formula
    else:
        for part in formula.parts:
            yield from clauses(part)


def evaluate(formula: Formula, truth: Callable[[Clause], Truth]) -> Truth:
    """Return the value of a formula in Kleene's logic of three values."""
    if isinstance(formula, Clause):
        return truth(formula)
    decisive = isinstance(formula, Either)
    values = [evaluate(part, truth) for part in formula.parts]
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _term(name: str, weight: float) -> str:
    size = "" if abs(weight) == 1 else f"{abs(weight):.12g} * "
    return f" {'-' if weight < 0 else '+'} {size}{name}"

"""Conditions over n (new quality), o (old quality) and d (share of changed predictions).

The language of Renggli et al., "Continuous integration of machine learning models with ease.ml/ci"
(MLSys 2019, section 2.2), with disjunctions as in the lifecycle paper (CIDR 2021), linear
expressions on both sides, brackets, and groups of rows: ``n[sex = female]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from easeml.lifecycle.ci.groups import Group

VARIABLES = ("n", "o", "d")

Truth = bool | None
"""True, False, or None where it is not known."""


@dataclass(frozen=True)
class Part:
    """Weights of n, o and d on the rows of a group; None: on all rows."""

    n: float
    o: float
    d: float
    group: Group | None = None

    @property
    def asks_truth(self) -> bool:
        """Whether it is about n or o, which labels tell."""
        return (self.n, self.o) != (0, 0)

    @property
    def is_difference(self) -> bool:
        """Whether the weights of n and o cancel, so that only changed predictions need labels."""
        # Where both models say the same, n - o is 0 whatever the label is.
        return self.n == -self.o and bool(self.n)

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by variable as it is written."""
        where = "" if self.group is None else f"[{self.group}]"
        weights = {f"{name}{where}": getattr(self, name) for name in VARIABLES}
        return {name: weight for name, weight in weights.items() if weight}

    def turned(self) -> Part:
        """Return the part with the other sign."""
        return Part(-self.n, -self.o, -self.d, self.group)


@dataclass(frozen=True)
class Clause:
    """``n * n_weight + o * o_weight + d * d_weight`` above or below ``threshold``.

    ``tolerance`` is above 0; ``position`` is where the clause begins in its text. The variables are
    about the rows of ``group`` (None: all rows). ``others``: what is added of other groups, none of
    which has a row in common with another.
    """

    n: float
    o: float
    d: float
    above: bool
    threshold: float
    tolerance: float
    position: int = field(default=0, compare=False)
    group: Group | None = None
    others: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the clause sums up, a group of rows each."""
        return (Part(self.n, self.o, self.d, self.group), *self.others)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups of rows that it is about; none where it is about all rows."""
        return tuple(filter(None, map(attrgetter("group"), self.parts)))

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by variable as it is written: n, or n[sex = female]."""
        weights: dict[str, float] = {}
        for part in self.parts:
            weights |= part.weights
        return weights

    def upward(self) -> Clause:
        """Return the same clause as "more than": ``d < 0.1`` becomes ``-d > -0.1``."""
        if self.above:
            return self
        return Clause(
            n=-self.n,
            o=-self.o,
            d=-self.d,
            above=True,
            threshold=-self.threshold,
            tolerance=self.tolerance,
            position=self.position,
            group=self.group,
            others=tuple(map(Part.turned, self.others)),
        )

    @property
    def only_d(self) -> bool:
        """Whether no label is needed to decide the clause."""
        # d compares two predictions; the truth is not asked.
        return not any(map(attrgetter("asks_truth"), self.parts))

    @property
    def is_difference(self) -> bool:
        """Whether it is about one difference of the models, 0 wherever their predictions agree."""
        return not self.others and self.parts[0].is_difference

    def __str__(self) -> str:
        terms = "".join(_term(name, weight) for name, weight in self.weights.items())
        # The first term needs no plus, and a minus without spaces.
        left = terms.removeprefix(" + ")
        if left.startswith(" - "):
            left = f"-{left[3:]}"
        compare = ">" if self.above else "<"
        return f"{left} {compare} {self.threshold:.12g} +/- {self.tolerance:.12g}"


@dataclass(frozen=True)
class Both:
    """All parts hold."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        shown = []
        for part in self.parts:
            # "And" binds closer than "or", so an "or" within it needs brackets.
            shown.append(f"({part})" if isinstance(part, Either) else str(part))
        return " /\\ ".join(shown)


@dataclass(frozen=True)
class Either:
    """At least one part holds."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " \\/ ".join(map(str, self.parts))


Formula = Clause | Both | Either


def clauses(formula: Formula) -> Iterator[Clause]:
    """Yield the clauses from left to right."""
    if isinstance(formula, Clause):
        yield formula
        return
    for part in formula.parts:
        yield from clauses(part)


def groups_of(formula: Formula) -> list[Group]:
    """Return the groups of rows that a condition names, each once, from left to right."""
    found: dict[Group, None] = {}
    for clause in clauses(formula):
        found |= dict.fromkeys(clause.groups)
    return list(found)


def of_each_group(formula: Formula, values_of: Callable[[str], list[str]]) -> Formula:
    """Return a condition with one clause for each group where a clause is of ``[column = *]``.

    All of them have to hold. ``values_of``: the values that a column has.
    """
    if not isinstance(formula, Clause):
        parts = [of_each_group(part, values_of) for part in formula.parts]
        return joined(type(formula), parts)
    group = formula.group
    if group is None or not group.is_each:
        return formula
    found = []
    for value in values_of(group.column):
        found.append(replace(formula, group=replace(group, value=value)))
    return joined(Both, found)


def joined(join: type[Both] | type[Either], parts: Sequence[Formula]) -> Formula:
    """Return the parts as one condition: (a and b) and c is a and b and c; one part is itself."""
    flat: list[Formula] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, join) else (part,))
    return flat[0] if len(flat) == 1 else join(tuple(flat))


def compares_models(formula: Formula) -> bool:
    """Tell whether a clause is about the difference of the two models."""
    return any(clause.is_difference for clause in clauses(formula))


def evaluate(formula: Formula, truth: Callable[[Clause], Truth]) -> Truth:
    """Return the value of a formula in Kleene's logic of three values."""
    if isinstance(formula, Clause):
        return truth(formula)
    # One true part decides an "or", one false part an "and".
    decisive = isinstance(formula, Either)
    values = {evaluate(part, truth) for part in formula.parts}
    if decisive in values:
        return decisive
    if None in values:
        return None
    return not decisive


def _term(name: str, weight: float) -> str:
    sign = "-" if weight < 0 else "+"
    size = abs(weight)
    factor = "" if size == 1 else f"{size:.12g} * "
    return f" {sign} {factor}{name}"

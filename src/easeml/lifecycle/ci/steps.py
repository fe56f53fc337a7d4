"""What the ledger of a test set records: its steps, and what other uses have given away."""

from __future__ import annotations

from dataclasses import dataclass

ABANDONED, UNDECIDED = "abandoned", "undecided"


@dataclass(frozen=True)
class Step:
    """One commit: its answer, its labels, and the rows it looked at, from ``start`` on.

    The answer may also be abandoned (another commit came before it was settled) or undecided (all
    that could help was labelled, and it stayed open).
    """

    commit: str
    answer: str
    labels: int
    start: int
    rows: int

    @property
    def end(self) -> int:
        """The first row after those that the step looked at."""
        return self.start + self.rows


@dataclass(frozen=True)
class Spent:
    """What other uses of the same examples have given away.

    ``rows``: so many of the first examples, in the order of ``seed``, have shown more than an
    answer (estimates, or which labels were asked for), and are not used again. ``nats``: ln of the
    number of histories that answers about all examples can have had; models may depend on them, so
    each step needs as much more evidence. ``seed`` gives the order; None: that of the
    configuration.
    """

    rows: int = 0
    nats: float = 0.0
    seed: int | None = None

    def and_also(self, other: Spent) -> Spent:
        """Return what both uses have given away together."""
        seed = other.seed if self.seed is None else self.seed
        return Spent(max(self.rows, other.rows), self.nats + other.nats, seed)

    def sentence(self) -> str:
        """Return a sentence about the other uses; empty where there are none."""
        effects = []
        if self.rows:
            effects.append(f"{self.rows:,} of the examples are spent")
        if self.nats:
            effects.append("what they answered counts here as well")
        if not effects:
            return ""
        return f"These examples have other uses, which share one budget: {' and '.join(effects)}."

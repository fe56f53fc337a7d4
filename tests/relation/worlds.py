"""The oracle: relations as plain lists, and all their worlds one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from hypothesis import strategies as st

from easeml.relation import Candidate, Distribution, Relation, RowCandidates

Row = dict[str, Any]
World = tuple[float, list[Row]]
GROUPS = ["red", "green", "blue"]


@dataclass(frozen=True)
class Doubt:
    """What a block of a row says: cells (None: the row does not exist) with probabilities."""

    row: int
    ways: list[tuple[Row | None, float]]


@dataclass(frozen=True)
class Doubtful:
    """Rows, and what is in doubt."""

    rows: list[Row]
    doubts: list[Doubt]

    def relation(self) -> Relation:
        """The same as a relation."""
        frame = pd.DataFrame(self.rows, columns=["x", "y", "group"]).astype(
            {"x": "Float64", "y": "float64", "group": "object"}
        )
        told = [
            RowCandidates(
                doubt.row,
                [Candidate(way or {}, weight, way is not None) for way, weight in doubt.ways],
            )
            for doubt in self.doubts
        ]
        return Relation.from_frame(frame).with_all(told)

    def worlds(self) -> list[World]:
        """Every choice of one way a doubt."""
        found = []
        for choice in itertools.product(*[doubt.ways for doubt in self.doubts]):
            weight = 1.0
            rows: list[Row | None] = [dict(row) for row in self.rows]
            for doubt, (way, share) in zip(self.doubts, choice, strict=True):
                weight *= share
                row = rows[doubt.row]
                rows[doubt.row] = None if way is None or row is None else {**row, **way}
            found.append((weight, [row for row in rows if row is not None]))
        return found


def probabilities(worlds: list[World], answer: Callable[[list[Row]], Any]) -> dict[Any, float]:
    """Return the distribution of an answer over worlds; None where there is no answer."""
    found: dict[Any, float] = {}
    for weight, rows in worlds:
        value = answer(rows)
        key = None if value is None else round(value, 9)
        found[key] = found.get(key, 0.0) + weight
    return found


def agree(distribution: Distribution, expected: dict[Any, float]) -> None:
    """Compare all that a distribution says with the oracle."""
    assert distribution.exact
    expected = dict(expected)
    assert distribution.undefined == pytest.approx(expected.pop(None, 0.0), abs=1e-9)
    found: dict[float, float] = {}
    for value, share in distribution.distribution.items():
        found[round(value, 9)] = found.get(round(value, 9), 0.0) + share
    assert found == pytest.approx({v: p for v, p in expected.items() if p > 0}, abs=1e-9)
    mass = sum(expected.values())
    if mass > 1e-9:
        mean = sum(v * p for v, p in expected.items()) / mass
        variance = sum((v - mean) ** 2 * p for v, p in expected.items()) / mass
        assert distribution.mean == pytest.approx(mean, abs=1e-7)
        assert distribution.variance == pytest.approx(variance, abs=1e-6)


def known(rows: list[Row], column: str) -> list[float]:
    """Return the numbers of a column that are there."""
    return [row[column] for row in rows if row[column] is not None]


ANSWERS: dict[str, Callable[[list[float]], float | None]] = {
    "sum": sum,
    "average": lambda values: sum(values) / len(values) if values else None,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
}
CELL = {
    "x": st.one_of(st.none(), st.integers(-3, 6).map(float)),
    "y": st.sampled_from([0.1, 0.2, 0.7, 2.5, 3.141592653, -1 / 3]),
    "group": st.sampled_from(GROUPS),
}


@st.composite
def doubts(draw: st.DrawFn, row: int) -> list[Doubt]:
    """What is in doubt of one row: cells apart or together, and whether it exists."""
    parts = draw(
        st.sampled_from([[], [["x"]], [["x"], ["y"]], [["x", "group"]], [["group"], ["y"]], [[]]])
    )
    found = []
    for columns in parts:
        count = draw(st.integers(1, 3))
        shares = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
        ways: list[tuple[Row | None, float]] = []
        for share in shares:
            ways.append(({name: draw(CELL[name]) for name in columns}, share / sum(shares)))
        if not columns:
            ways = [({}, 0.75), (None, 0.25)]
        elif count > 1 and draw(st.booleans()):
            ways[-1] = (None, ways[-1][1])
        found.append(Doubt(row, ways))
    return found


@st.composite
def doubtful(draw: st.DrawFn) -> Doubtful:
    """A few rows of which some are in doubt; at most some hundred worlds."""
    rows = draw(st.lists(st.fixed_dictionaries(CELL), max_size=3))
    found = [doubt for number in range(len(rows)) for doubt in draw(doubts(number))]
    return Doubtful(rows, found)

"""Remedies of several slices are put in one order, and what is the same is said once."""

import pytest

from easeml.lifecycle.debugging.remedies import ranked
from easeml.lifecycle.tool_answer import Remedy


def remedy(kind: str, title: str, corrected: float, about: str = "") -> Remedy:
    ends = corrected - 1, corrected + 1
    return Remedy(kind, title, "", about, corrected, *ends, human_minutes=30.0)


def test_a_column_that_is_repaired_where_it_comes_from_is_one_remedy() -> None:
    title = "Repair age where it comes from"
    found = ranked(
        [
            remedy("repair-source", title, 20.0, "site is west"),
            remedy("collect", "Bring rows", 40.0),
            remedy("repair-source", title, 30.0, "site is south"),
            remedy("repair-source", "Repair x where it comes from", 5.0),
        ]
    )
    first, *others = found
    assert (first.title, first.about) == (title, "site is west; site is south")
    assert (first.low, first.corrected, first.high) == pytest.approx((48.0, 50.0, 52.0))
    assert [one.corrected for one in others] == [40.0, 5.0]


def test_searching_on_is_said_once() -> None:
    found = ranked([remedy("search", "Search", 9.0), remedy("search", "Search", 4.0)])
    assert [one.corrected for one in found] == [9.0]

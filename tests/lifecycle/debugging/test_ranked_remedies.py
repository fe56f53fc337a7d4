"""Remedies of several slices are put in one order, and what is the same is said once."""

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.debugging.causes import Cause, Here, Known
from easeml.lifecycle.debugging.conditions import Condition, Slice
from easeml.lifecycle.debugging.remedies import ranked, remedies_of
from easeml.lifecycle.debugging.rows import Case, Judged
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


@pytest.mark.parametrize(
    ("pool", "title", "corrected"),
    [
        (None, "Bring or label 28 more rows", 14.0),
        (0, "Bring 28 rows with answers", 14.0),
        (1, "Label the row of the pool", 0.5),
        (16, "Label the 16 rows of the pool", 8.0),
        (40, "Label 28 rows of the pool", 14.0),
    ],
)
def test_no_more_rows_are_promised_than_the_pool_holds(
    pool: int | None, title: str, corrected: float
) -> None:
    inputs = pd.DataFrame({"site": ["north"] * 28 + ["west"] * 72})
    is_wrong = (inputs["site"] == "north").to_numpy()
    judged = Judged("validation", inputs, inputs["site"], is_wrong, np.ones(100))
    rows = None if pool is None else pd.DataFrame({"site": ["north"] * pool + ["west"] * 50})
    known = Known(Case(None, judged, None, None, None, rows), seed=0)
    here = Here(Slice((Condition("site", "is", "north"),)), judged, is_wrong, elsewhere=0.0)
    (found,) = remedies_of(here, [Cause("few", 14.0, 7.0, 21.0, "too few")], known)
    assert found.title == f"{title} where site is north"
    assert found.corrected == pytest.approx(corrected)
    assert found.human_minutes == pytest.approx(0.2 * min(28, pool or 28))

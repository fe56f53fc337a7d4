"""Rows that take the place of others: what tells two tables apart makes one of the other."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput, NotFound
from easeml.relation import Relation
from easeml.relation.updates import difference, updated

ROLES = ("train", "test", "pool")
ROWS = st.dictionaries(
    st.integers(0, 9),
    st.tuples(st.sampled_from([None, 1.0, 2.0]), st.sampled_from("ab"), st.sampled_from(ROLES)),
    min_size=1,
)


def relation(rows: dict) -> Relation:
    ids = sorted(rows)
    cells = [rows[row_id] for row_id in ids]
    frame = pd.DataFrame(
        {"x": [cell[0] for cell in cells], "y": [cell[1] for cell in cells]}, index=pd.Index(ids)
    )
    frame["x"] = frame["x"].astype(float)
    return Relation.from_frame(frame, "y", [cell[2] for cell in cells])


@settings(max_examples=60, deadline=None)
@given(before=ROWS, after=ROWS)
def test_what_tells_two_tables_apart_makes_one_of_the_other(before: dict, after: dict):
    old, new = relation(before), relation(after)
    changed, gone = difference(old.content, new.content)
    there = Relation(updated(old.content, changed, gone))
    pd.testing.assert_frame_equal(there.to_frame(), new.to_frame())
    assert there.roles == new.roles
    same = {row_id for row_id in after if before.get(row_id) == after[row_id]}
    brought = set() if changed is None else set(changed.row_ids)
    assert brought == set(after) - same
    assert set(gone) == set(before) - set(after)


def test_doubts_stay_with_their_rows():
    before = relation({1: (1.0, "a", "train"), 3: (2.0, "b", "train"), 5: (1.0, "a", "test")})
    before = before.with_candidates(3, "x", {2.0: 0.7, 1.0: 0.3})
    changed = relation({2: (1.0, "b", "train"), 5: (2.0, "b", "test")})
    changed = changed.with_candidates(2, "y", {"a": 0.4, "b": 0.6})
    found = before.update(changed, [1])
    assert list(found.row_ids) == [2, 3, 5]
    told = found.candidates()
    assert sorted(zip(told["row"], told["column"], told["value"], strict=True)) == [
        (2, "y", "a"),
        (2, "y", "b"),
        (3, "x", 1.0),
        (3, "x", 2.0),
    ]
    assert found.sum("x").mean == pytest.approx(1.0 + 1.7 + 2.0)
    assert np.isclose(found.entropy(), before.entropy() + changed.entropy())


def test_other_columns_and_unknown_rows_are_refused():
    one = relation({1: (1.0, "a", "train")})
    with pytest.raises(InvalidInput, match="Only one"):
        one.update(one.select(["x"]))
    with pytest.raises(NotFound):
        one.update(gone=[7])

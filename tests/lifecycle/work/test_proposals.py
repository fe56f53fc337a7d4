"""What is proposed of a table whose faults are known, and what is learned from answers."""

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.doubts import clean
from easeml.lifecycle.journey import agreement, in_order, learned_seconds, settled
from easeml.lifecycle.work import (
    CELL,
    CHECK,
    LABEL,
    Answered,
    Proposal,
    Rows,
    StandIn,
    calibrated,
    experience,
    propose,
    what_matters,
)
from easeml.relation import Relation


@pytest.fixture
def rows() -> Rows:
    """Labels that follow from x, one of them wrong; a cell that slipped by two decimals."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(10, 1, 120).round(2), "y": rng.normal(0, 1, 120)})
    labels = pd.Series(np.where(frame["x"] > 10, "high", "low"), name="z").astype("category")
    labels[0] = "low" if labels[0] == "high" else "high"
    frame.loc[0, "x"] = 13.0
    labels[0] = "low"
    frame.loc[1, "x"] *= 100
    return Rows(frame[:80], labels[:80], frame[80:100], frame[100:])


def test_the_wrong_label_and_the_slip_come_first_of_their_kinds(rows: Rows) -> None:
    found = propose(rows, doubts=clean(Relation.from_frame(rows.train)))
    first = {}
    for item in found:
        first.setdefault(item.kind, item)
    assert (first[CELL].row, first[CELL].column) == (1, "x")
    assert len([item for item in found if item.kind == LABEL]) == len(rows.pool)
    assert all(item.told > 0 for item in found)
    right = rows.train.copy()
    right.loc[1, "x"] = 10.3
    repaired = Rows(right, rows.answers, rows.pool, rows.counted)
    found = propose(repaired)
    check = next(item for item in found if item.kind == CHECK)
    assert (check.row, check.options[0][0]) == (0, "high")
    assert what_matters(repaired, [check])[0][0] == "x"


@pytest.mark.parametrize("name", ["x", "y", "colour", "day"])
def test_predictions_move_with_one_column_as_if_all_were_encoded_again(
    rows: Rows, name: str
) -> None:
    rng = np.random.default_rng(1)
    colours = pd.Series(rng.choice(["red", "blue", "grey"], len(rows.train)), dtype="category")
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 99, len(rows.train)), "D")
    train = rows.train.assign(colour=colours.to_numpy(), day=days)
    train["colour"] = train["colour"].astype("category")
    train.loc[[3, 5], ["y", "colour"]] = None
    stand_in = StandIn(Rows(train, rows.answers, train[:0], train), 0)
    others = train.assign(**{name: train[name].sample(frac=1.0, random_state=2).to_numpy()})
    others[name] = others[name].astype(train[name].dtype)
    before, after = (stand_in.model.predict(stand_in.encoded(one)) for one in (train, others))
    moved = stand_in.moved(train[name], others[name])
    np.testing.assert_allclose(moved, after - before, atol=1e-12)
    assert np.abs(moved).max() > 0


def test_no_cell_is_marked_beside_a_text_that_the_stand_in_cannot_read(rows: Rows) -> None:
    said = np.where(rows.answers == "high", "it came out rather high", "it was as low as ever")
    notes = [f"{text} on day {day} of the trial" for day, text in enumerate(said)]
    wordy = Rows(rows.train.assign(notes=notes), rows.answers, rows.pool[:0], rows.counted)
    check = Proposal(CHECK, 0, "z", 0.1)
    assert what_matters(rows, [check]) != [[]]
    assert what_matters(wordy, [check]) == [[]]


def test_what_was_answered_is_not_asked_again(rows: Rows) -> None:
    doubts = clean(Relation.from_frame(rows.train))
    known = frozenset({(0, "z"), (1, "x")})
    found = propose(rows, doubts=doubts, known=known)
    assert not {(item.row, item.column) for item in found} & known


def test_tables_without_columns_pool_or_rows_are_no_fault(rows: Rows) -> None:
    bare = Rows(rows.train[[]], rows.answers, rows.pool[[]], rows.counted[[]])
    assert {item.kind for item in propose(bare)} >= {LABEL}
    assert propose(Rows(rows.train[:1], rows.answers[:1], rows.pool, rows.counted)) == []


def test_a_kind_that_brings_more_than_told_is_believed_more(rows: Rows) -> None:
    repaired = rows.train.copy()
    repaired.loc[1, "x"] = 10.3
    now = Rows(repaired, rows.answers, rows.pool, rows.counted)
    told = [Answered(CELL, 1, "x", 1030.0, 1e-9)]
    known = experience(now, told)
    assert known[CELL].came > known[CELL].told
    assert 1 < known[CELL].factor <= 20
    assert known[LABEL].factor == 1
    items = propose(now, doubts=clean(Relation.from_frame(repaired)))
    for item in calibrated(items, known):
        assert item.gain == pytest.approx(item.told * known[item.kind].factor)


def test_the_order_is_gain_for_a_second_after_a_few_of_each_kind() -> None:
    kinds, gains = [LABEL, CELL, CHECK, LABEL], [1.0, 9.0, 2.0, 4.0]
    seconds = learned_seconds([])
    enough = dict.fromkeys(seconds, 5)
    assert in_order(kinds, gains, seconds, enough) == [3, 1, 2, 0]
    assert in_order(kinds, gains, seconds, {**enough, CHECK: 4}) == [2, 3, 1, 0]


def test_an_owners_answer_counts_before_others_and_agreement_is_counted() -> None:
    said = {"ann": "a", "bob": "b", "eve": "b"}
    assert settled(said, experts=()) == "b"
    assert settled(said, experts={"ann"}) == "a"
    found = agreement([said, {"ann": "1", "bob": "1.0"}, {"ann": "x"}])
    assert (found.pairs, found.same) == (4, 2)
    low, high = found.interval
    assert 0 < low < found.share < high < 1

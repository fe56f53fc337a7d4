"""Which answers of rows that judge models people are asked about, and what that should bring."""

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.questions import CHECK, DOUBTED, FAR, FAR_TEST
from easeml.lifecycle.work import Judging, Proposal, Rows, StandIn, judging_checks


def world(seed: int = 0) -> tuple[Rows, Judging]:
    """Return 300 rows whose price follows from their size: to learn from, to judge, and to test."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(1.0, 2.0, 300)
    price = 100.0 * size + rng.normal(0.0, 3.0, 300)
    frame = pd.DataFrame({"size": size})
    prices = pd.Series(price, name="price")
    rows = Rows(frame[:180], prices[:180], frame[:0], frame[180:240])
    return rows, Judging(frame[180:240], prices[180:240].copy(), prices[240:].copy())


def asked(rows: Rows, judging: Judging, said: Unseen | None = None, **wish) -> list[Proposal]:
    return judging_checks(StandIn(rows, 0), judging, said, **wish)


def test_answers_that_slipped_are_asked_first_and_of_test_rows_nothing_else() -> None:
    rows, judging = world()
    judging.answers.loc[[190, 200]] *= 10.0
    judging.answers.loc[210] += 80.0  # wrong, and nearer to the others
    judging.test_answers.loc[250] /= 10.0
    judging.test_answers.loc[260] += 80.0
    found = asked(rows, judging)
    by_row = {one.row: one for one in found}
    assert {190, 200, 210, 250} <= set(by_row)
    assert [row for row in by_row if row >= 240] == [250]
    sources = {row: by_row[row].source for row in (190, 210, 250)}
    assert sources == {190: FAR, 210: DOUBTED, 250: FAR_TEST}
    assert {found[0].row, found[1].row} == {190, 200}
    gains = [one.gain for one in found]
    assert gains == sorted(gains, reverse=True)


def test_nothing_tells_what_a_model_says_of_the_answer() -> None:
    rows, judging = world()
    judging.answers.loc[190] *= 10.0
    for one in asked(rows, judging):
        assert one.kind == CHECK
        assert one.given == judging.answers[one.row]
        assert not one.options


def test_what_was_answered_is_asked_no_more() -> None:
    rows, judging = world()
    judging.answers.loc[[190, 200]] *= 10.0
    known = frozenset({(190, "price")})
    found = {one.row for one in asked(rows, judging, known=known)}
    assert 190 not in found
    assert 200 in found


def test_of_right_answers_hardly_any_is_asked() -> None:
    rows, judging = world()
    found = asked(rows, judging)
    assert len(found) <= 3
    assert not [one for one in found if one.source != DOUBTED]


def test_where_models_agree_an_answer_brings_less() -> None:
    """A wrong answer misleads the choice of models as far as they are apart at its row."""
    rows, judging = world()
    judging.answers.loc[[190, 200]] += 90.0
    stand_in = StandIn(rows, 0)
    values = stand_in.guessed(stand_in.encoded(judging.validation)).values
    values = values + 2.0
    values[20] += 8.0  # of row 200, whose size is another one
    gains = {one.row: one.gain for one in asked(rows, judging, Unseen(values))}
    assert gains[200] > 5.0 * gains[190]


def test_what_all_answers_bring_is_half_of_what_wrong_ones_hide() -> None:
    """By brute force: how much drawn wrong answers move the measured difference of two models."""
    rows, judging = world()
    judging.answers.loc[[190, 200, 210]] *= 10.0
    stand_in = StandIn(rows, 0)
    one = stand_in.guessed(stand_in.encoded(judging.validation)).values
    rng = np.random.default_rng(1)
    other = one + rng.normal(0.0, 4.0, len(one))
    found = asked(rows, judging, Unseen(other))
    spread = float(rows.answers.std())
    wrong = {
        row: judging.answers.loc[row] - 100.0 * judging.validation["size"].loc[row]
        for row in (190, 200, 210)
    }
    places = {row: row - 180 for row in wrong}
    moved = []
    for _ in range(4_000):
        signs = rng.choice([-1.0, 1.0], len(wrong))
        total = 0.0
        for sign, (row, off) in zip(signs, wrong.items(), strict=True):
            apart = (other - one)[places[row]]
            total += sign * 2.0 * off * apart / spread**2 / len(one)
        moved.append(total)
    width = float(np.std(moved))
    told = sum(item.gain for item in found if item.row in wrong)
    assert told == pytest.approx(width / 2.0, rel=0.15)


def test_classes_that_models_doubt_are_asked_about_and_no_test_row() -> None:
    rng = np.random.default_rng(2)
    size = rng.uniform(-1.0, 1.0, 300)
    kinds = pd.Series(np.where(size > 0, "big", "small"), name="kind").astype("category")
    frame = pd.DataFrame({"size": size})
    rows = Rows(frame[:180], kinds[:180], frame[:0], frame[180:240])
    answers = pd.Series(kinds[180:240])
    surest = np.abs(size[180:240]).argsort()[-3:] + 180
    for row in surest.tolist():
        answers.loc[row] = "small" if answers.loc[row] == "big" else "big"
    found = asked(rows, Judging(frame[180:240], answers, kinds[240:]))
    assert set(surest) <= {one.row for one in found}
    assert all(one.row < 240 for one in found)


def test_without_rows_that_judge_nothing_is_asked() -> None:
    rows, judging = world()
    none = Judging(judging.validation[:0], judging.answers[:0], judging.test_answers)
    assert asked(rows, none) == []

"""An order that followed answers, beside one that is reckoned anew from the rows as they are then."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.lifecycle.questions import CELL, CHECK, LABEL, Answer, Order, Surrogate, read, written
from easeml.lifecycle.work import Experience, Proposal, Rows, StandIn, kept_order

TAUGHT = 25  # of 40 train rows: people are asked about the others, too
NO_EXPERIENCE = {kind: Experience(0, 0.0, 0.0) for kind in (LABEL, CHECK, CELL)}
CHOSEN = {"x": ("-1.5", "0.25", "30"), "t": ("a", "b", "never seen")}


def rows_with(answers: pd.Series) -> Rows:
    """Return 40 train rows, 10 of the pool and 15 that count, with holes in both columns."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.normal(size=65), "t": rng.choice(["a", "b", "c"], 65)})
    frame.loc[[2, 43], "x"] = np.nan
    frame.loc[[3, 44], "t"] = None
    return Rows(frame[:40], answers[:40], frame[40:50], frame[50:])


def classes() -> pd.Series:
    drawn = np.random.default_rng(6).choice(["high", "low", "mid"], 65)
    return pd.Series(drawn, name="z", dtype="category")


def numbers() -> pd.Series:
    return pd.Series(np.random.default_rng(7).normal(20, 5, 65), name="z")


def proposals(suggested: object, given: pd.Series) -> list[Proposal]:
    asked = [Proposal(LABEL, row, "z", 1.0) for row in range(40, 50)]
    for row in (1, 4, 9, 22):
        asked.append(Proposal(CHECK, row, "z", 1.0, given[row], ((suggested, 0.7),)))
    for row in (2, 4, 9, 30):
        asked.append(Proposal(CELL, row, "x", 1.0, 0.0, ((1.0, 0.6), (0.0, 0.4))))
    for row in (3, 4, 31):
        asked.append(Proposal(CELL, row, "t", 1.0, None, (("a", 0.5), ("c", 0.5))))
    return asked


class Case:
    """A table with an order that was kept of it, and the values that can be answered."""

    def __init__(self, answers: pd.Series, labels: tuple[str, ...]):
        self.rows = rows_with(answers)
        with patch("easeml.lifecycle.work.stand_in.TAUGHT", TAUGHT):
            self.stand_in = StandIn(self.rows, 0)
        self.labels = labels
        asked = proposals(labels[0], answers)
        order = kept_order(self.stand_in, self.rows, asked, NO_EXPERIENCE)
        assert order is not None
        self.order = read(written(order))

    def anew(self, answers: list[Answer]) -> Order:
        """Fit on the rows with the answers in them: scales and penalty as they were."""
        model = self.order.model
        known = pd.concat([self.rows.train, self.rows.pool])
        labels = self.rows.answers.astype(object).reindex(known.index)
        taught = set(self.stand_in.taught)
        X = self.stand_in.encoded(self.rows.train.loc[self.stand_in.taught])
        penalty = np.linalg.inv(model.inverse) - X.T @ X
        for one in answers:
            if one.kind == CELL:
                value = float(one.value) if one.column == "x" else one.value
                known.loc[one.row, one.column] = value
            else:
                labels[one.row] = one.value
            taught.add(one.row)
        X = self.stand_in.encoded(known)
        Y = np.zeros((len(known), model.weights.shape[1]))
        Y[labels.notna()] = self.stand_in.as_targets.of(labels.dropna())
        learned = known.index.isin(taught)
        inverse = np.linalg.inv(X[learned].T @ X[learned] + penalty)
        weights = inverse @ X[learned].T @ Y[learned]
        places = known.index.get_indexer(self.order.rows.ids)
        rows = replace(self.order.rows, X=X[places], Y=Y[places], taught=learned[places])
        answered = {one.key for one in answers}
        left = tuple(item for item in self.order.items if item.key not in answered)
        fitted = Surrogate(inverse, weights, model.counted, model.error)
        return replace(self.order, model=fitted, rows=rows, items=left)


CASES = {
    "classes": Case(classes(), ("high", "low", "mid")),
    "numbers": Case(numbers(), ("12.5", "31", "20")),
}


@settings(deadline=None, max_examples=30)
@given(data=st.data(), name=st.sampled_from(sorted(CASES)))
def test_an_order_that_follows_answers_is_one_reckoned_anew(data: st.DataObject, name: str) -> None:
    case = CASES[name]
    asked = data.draw(st.lists(st.sampled_from(case.order.items), unique_by=lambda one: one.key))
    answers = []
    for item in asked:
        value = data.draw(st.sampled_from(CHOSEN.get(item.column, case.labels)))
        answers.append(Answer(item.kind, item.row, item.column, value))
    followed = case.order.after(answers)
    gains = case.anew(answers).gains()
    assert followed.gains() == pytest.approx(gains, rel=1e-6, abs=1e-12)
    one_by_one = case.order
    for answer in answers:
        one_by_one = one_by_one.after([answer])
    again = case.order.after([*reversed(answers), *answers])  # in any order, and twice
    assert one_by_one.gains() == pytest.approx(gains, rel=1e-6, abs=1e-12)
    assert again.gains() == pytest.approx(gains, rel=1e-6, abs=1e-12)


def test_answers_to_what_was_not_asked_change_nothing() -> None:
    order = CASES["classes"].order
    assert order.after([Answer(CHECK, 7, "z", "low")]).gains() == order.gains()

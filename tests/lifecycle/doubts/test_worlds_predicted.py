"""Models of drawn worlds: answers have shares, and what is certain is marked."""

import numpy as np
import pandas as pd
import pytest

import easeml
from easeml.errors import InvalidInput
from easeml.lifecycle.doubts import predict_over_worlds


def relation(doubtful: int) -> easeml.Relation:
    """Rows up where a > 0; of the train rows between -1 and 1, some labels are open."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": np.linspace(-3, 3, 160), "b": rng.normal(size=160)})
    frame["kind"] = np.where(frame["a"] > 0, "up", "down")
    roles = np.where(np.arange(160) % 4 == 0, "pool", "train")
    frame.loc[roles == "pool", "kind"] = None
    made = easeml.Relation.from_frame(frame, "kind", list(roles))
    near = [row for row in np.argsort(frame["a"].abs()) if roles[row] == "train"]
    for row in near[:doubtful]:
        made = made.with_candidates(int(row), "kind", {"up": 0.5, "down": 0.5})
    return made


def test_without_doubts_all_is_certain():
    found = predict_over_worlds(relation(0), draws=3)
    assert found.certain.all()
    assert len(found.row_ids) == 40


def test_answers_are_uncertain_where_labels_are():
    made = relation(40)
    found = predict_over_worlds(made, draws=8)
    distance = made.to_frame()["a"].abs().loc[found.row_ids].to_numpy()
    assert not found.certain.all()
    assert distance[~found.certain].mean() < distance[found.certain].mean()
    assert found.unseen == pytest.approx(1 - 0.05 ** (1 / 8))
    row = int(np.flatnonzero(~found.certain)[0])
    assert sum(found.shares(row).values()) == pytest.approx(1)
    labelled = made.predict(draws=8)
    assert len(labelled) == 40
    assert len(labelled.content.blocks) == 40
    worlds = labelled.count("kind == 'up'")
    assert worlds.mean == pytest.approx((found.answers == "up").mean(axis=0).sum())


def test_time_and_worlds_are_bounded():
    ticks = iter(range(100))
    found = predict_over_worlds(relation(4), draws=50, seconds=1.5, clock=lambda: next(ticks))
    assert len(found.answers) == 3
    with pytest.raises(InvalidInput, match="at least 2"):
        predict_over_worlds(relation(0), draws=1)
    with pytest.raises(InvalidInput, match="no rows to predict"):
        predict_over_worlds(relation(0), ("production",))


def test_worlds_are_drawn_by_their_probabilities():
    made = easeml.Relation.from_frame(pd.DataFrame({"x": [1.0, 2.0]}))
    made = made.with_candidates(0, "x", {5.0: 0.25, 6.0: 0.75}).with_optional(1, 0.5)
    worlds = list(made.worlds(2000, seed=1))
    assert np.mean([world.at[0, "x"] == 5.0 for world in worlds]) == pytest.approx(0.25, abs=0.04)
    assert np.mean([len(world) == 2 for world in worlds]) == pytest.approx(0.5, abs=0.04)

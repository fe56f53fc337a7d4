"""Intervals of expected gains hold what chance alone makes of an action."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from easeml.lifecycle.journey import Estimate
from easeml.lineage import gains
from easeml.relation import Relation, cell_candidates

TIMES, ROWS = 40, 60


def relation() -> Relation:
    frame = pd.DataFrame({"size": np.arange(ROWS, dtype=float), "kind": "x"})
    rows = Relation.from_frame(
        frame, "kind", ["train"] * (ROWS // 2) + ["validation"] * (ROWS // 2)
    )
    return rows.with_all([cell_candidates(row, "size", {0.0: 0.5, 1.0: 0.5}) for row in range(10)])


@pytest.mark.parametrize(
    "told",
    [
        lambda rows, seed: gains.labelling_gain(rows, 10, seed),
        lambda rows, seed: gains.cleaning_gain(rows, 0.5, seed),
    ],
    ids=["label", "clean"],
)
def test_what_chance_makes_is_within_nine_of_ten_intervals(
    told: Callable[[Relation, int], Estimate], monkeypatch: pytest.MonkeyPatch
):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(gains.KnownRows, "quality", lambda *_: rng.normal(0.8, 0.02))
    monkeypatch.setattr(gains, "fitted_encoder", lambda frame: (np.asarray, np.asarray(frame)))
    rows = relation()
    inside = 0
    for seed in range(TIMES):
        gain = told(rows, seed)
        came = rng.normal(0.8, 0.02) - rng.normal(0.8, 0.02)
        inside += gain.low <= came <= gain.high
        assert gain.low <= gain.value <= gain.high
    assert inside >= 0.75 * TIMES


def test_trials_settle_only_what_is_in_doubt(monkeypatch: pytest.MonkeyPatch):
    seen = []

    def quality(_: gains.KnownRows, rows: gains.Coded) -> float:
        seen.append(rows)
        return 0.8

    monkeypatch.setattr(gains.KnownRows, "quality", quality)
    gains.cleaning_gain(relation(), 0.5, 0)
    now = seen[0]
    differing = 0
    for world in seen:
        as_now = now.X[now.ids.get_indexer(world.ids)]
        other = world.ids[(as_now != world.X).any(axis=1)]
        assert (other < 10).all()
        differing += len(other) > 0
    assert differing > 20

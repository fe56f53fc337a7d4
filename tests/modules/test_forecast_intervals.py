"""Intervals of forecasts are as wide as so few origins allow."""

import numpy as np
import pandas as pd
import pytest

from easeml.modules import Predictions, conformal
from easeml.modules.forecasting import Past, Rule


def test_few_origins_tell_wider_intervals() -> None:
    held, known = [], []
    for seed in range(40):
        walk = np.random.default_rng(seed).normal(size=150).cumsum()
        rows = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=150), "value": walk})
        past = Past.learn(Rule("value", "time", 14, ()), rows.iloc[:90], rows)
        said = Predictions(past.plain_forecasts(rows.iloc[90:])["latest"], None, None)
        telling, judged = np.arange(30), np.arange(30, 60)
        for told, shares in ((past, held), (None, known)):
            band = conformal.describe(walk[90:120], said.of_rows(telling), past=told)
            assert band is not None
            lower, upper = map(np.asarray, conformal.bounds(band, said.of_rows(judged)))
            shares.append(np.mean((lower <= walk[120:]) & (walk[120:] <= upper)))
    assert np.mean(held) >= 0.88  # 9 of 10 are stated; two origins tell it
    assert np.mean(known) <= 0.84  # as if each day were forecast by itself


def test_many_origins_tell_the_same_as_rows() -> None:
    walk = np.random.default_rng(1).normal(size=4000).cumsum()
    rows = pd.DataFrame({"time": pd.date_range("2014-01-01", periods=4000), "value": walk})
    past = Past.learn(Rule("value", "time", 7, ()), rows.iloc[:2000], rows)
    said = Predictions(past.plain_forecasts(rows.iloc[2000:])["latest"], None, None)
    alone = conformal.describe(walk[2000:], said)
    told = conformal.describe(walk[2000:], said, past=past)
    assert alone is not None
    assert told is not None
    assert told["above"] == pytest.approx(alone["above"], rel=0.01)

"""An estimator whose rows, search and predictions are at a service."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml import AutoMLClassifier
from easeml.errors import NotSignedIn
from easeml.estimators.outcome import Trial
from easeml.export import load_exported
from service_process import EasemlProcess

pytestmark = pytest.mark.service

_FIRST = 150  # rows of the first fit


def test_an_estimator_searches_at_a_service(
    easeml: EasemlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "weight": random.normal(size=210),
            "site": random.choice(["north", "south"], 210),
            "few": random.integers(0, 3, 210),
            "open": random.random(210) < 0.5,
        }
    )
    answers = np.where(rows["weight"] + (rows["site"] == "north") > 0.5, 7, 3)
    groups = np.arange(210) // 3
    counts = random.integers(1, 4, 210)
    heard: list[Trial] = []
    made = AutoMLClassifier(
        time_limit=30.0,
        max_models=2,
        models=("logistic",),
        callback=heard.append,
        url=easeml.url,
        api_key=easeml.key,
    )
    made.fit(rows[:_FIRST], answers[:_FIRST], groups[:_FIRST], counts[:_FIRST])

    assert made.score(rows, answers) > 0.9
    shares = made.predict_proba(rows)
    np.testing.assert_array_equal(made.classes_[shares.argmax(axis=1)], made.predict(rows))
    board = made.leaderboard()
    assert sorted(board["model"]) == sorted(trial.name for trial in heard)
    assert all(board["config"])
    assert "device seconds" in made.fit_summary()
    assert "fitted on all rows except the test rows" in made.fit_summary()
    assert list(made.get_feature_names_out()) == list(rows.columns)

    heard.clear()
    before = made.application_id_
    with pytest.raises(ValueError, match=r"no classes \[5\]"):
        made.partial_fit(rows[:2], [3, 5], groups=[0, 0])
    with pytest.raises(ValueError, match="Weights have to be given"):
        made.partial_fit(rows[:2], [3, 7], groups=[0, 0])
    made.partial_fit(
        rows[_FIRST:], answers[_FIRST:], groups=groups[_FIRST:], sample_weight=counts[_FIRST:]
    )
    assert made.application_id_ == before
    application = easeml.call("GET", f"/api/v1/applications/{before}")
    version = easeml.call("GET", f"/api/v1/versions/{application['version_id']}")
    assert version["operation"]["name"] == "feed"
    roles = {column["name"]: column["role"] for column in version["columns"]}
    assert roles["_weight"] == "weight"  # the rows have a column 'weight', which is an input
    assert len(heard) == 2  # models that have learned from all rows

    made.save(tmp_path / "export")
    taken = load_exported(tmp_path / "export" / "model").predict(rows)
    np.testing.assert_array_equal(taken["prediction"].astype(int), made.predict(rows))
    with pytest.raises(ValueError, match="load_exported"):
        AutoMLClassifier.load(tmp_path / "export")

    copy = pickle.loads(pickle.dumps(made))
    monkeypatch.setenv("EASEML_API_KEY", "eml_none")
    with pytest.raises(NotSignedIn):
        copy.predict(rows)
    monkeypatch.setenv("EASEML_API_KEY", easeml.key)
    np.testing.assert_array_equal(copy.predict(rows), made.predict(rows))


def test_classes_that_the_service_would_read_otherwise_are_refused(easeml: EasemlProcess) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2))
    answers = np.array(["NA", "some", "many"])[np.arange(60) % 3]
    made = AutoMLClassifier(url=easeml.url, api_key=easeml.key)
    with pytest.raises(ValueError, match="Rename them"):
        made.fit(rows, answers)

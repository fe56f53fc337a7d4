"""The estimators as their users meet them: all kinds of tables in, answers for the same rows out."""

import os
import pickle
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

from easeml import AutoMLClassifier, AutoMLRegressor
from easeml.estimators import problem
from easeml.estimators.searching import Trial
from easeml.export import load_exported

FEW = {"time_limit": 20.0, "max_models": 5}
QUICK = {"time_limit": 20.0, "max_models": 2}


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    """Rows with numbers, categories and gaps, and an index of their own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "weight": rng.normal(size=240),
            "site": rng.choice(["north", "south", "east"], size=240),
            "age": rng.integers(20, 80, size=240).astype(float),
        },
        index=[f"patient {number}" for number in range(240)],
    )
    frame.loc[frame.index[::9], "age"] = np.nan
    ill = frame["weight"] + (frame["site"] == "north") + rng.normal(scale=0.3, size=240) > 0.5
    return frame.assign(ill=np.where(ill, "yes", "no"))


@pytest.fixture(scope="module")
def classifier(mixed: pd.DataFrame) -> AutoMLClassifier:
    heard: list[Trial] = []
    made = AutoMLClassifier(**FEW, callback=heard.append)
    made.fit(mixed.drop(columns="ill"), mixed["ill"])
    assert len(heard) == len(made.trials_) == FEW["max_models"]
    return made


@pytest.fixture(scope="module")
def regressor() -> AutoMLRegressor:
    return AutoMLRegressor(**FEW).fit(*load_diabetes(return_X_y=True))


def test_a_table_of_all_kinds_is_learned(classifier: AutoMLClassifier, mixed: pd.DataFrame) -> None:
    rows = mixed.drop(columns="ill")
    assert list(classifier.classes_) == ["no", "yes"]
    assert classifier.quality_ > 0.8
    assert np.mean(classifier.predict(rows) == mixed["ill"]) > 0.85
    shares = classifier.predict_proba(rows)
    assert shares.shape == (240, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_arrow_tables_and_polars_frames_are_read_alike(
    classifier: AutoMLClassifier, mixed: pd.DataFrame
) -> None:
    rows = mixed.drop(columns="ill")
    arrow = pa.Table.from_pandas(rows, preserve_index=False)
    for table in (arrow, polars.from_arrow(arrow)):
        np.testing.assert_array_equal(classifier.predict(table), classifier.predict(rows))


def test_numbers_have_intervals_that_hold_most(regressor: AutoMLRegressor) -> None:
    rows, answers = load_diabetes(return_X_y=True)
    low, high = regressor.predict_interval(rows).T
    assert np.mean((low <= answers) & (answers <= high)) > 0.85
    assert regressor.score(rows, answers) > 0.4


def test_it_tells_what_it_did(classifier: AutoMLClassifier) -> None:
    board = classifier.leaderboard()
    assert len(board) == FEW["max_models"]
    assert board["quality"].dropna().is_monotonic_decreasing
    assert "5 models were tried" in classifier.fit_summary()
    assert list(classifier.get_feature_names_out()) == ["weight", "site", "age"]


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_it_is_saved_without_pickle_and_loaded(
    request: pytest.FixtureRequest, tmp_path: Path, mixed: pd.DataFrame, name: str
) -> None:
    made = request.getfixturevalue(name)
    rows = mixed.drop(columns="ill") if name == "classifier" else load_diabetes().data
    made.save(tmp_path / "model")
    loaded = type(made).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(rows), made.predict(rows))
    assert loaded.fit_summary().split(";")[1] == made.fit_summary().split(";")[1]
    with pytest.raises(FileExistsError):
        made.save(tmp_path / "model")
    with pytest.raises(ValueError, match="copy that one"):
        loaded.save(tmp_path / "again")
    copy = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(copy.predict(rows), made.predict(rows))


def test_a_folder_of_the_other_estimator_is_told_apart(
    tmp_path: Path, classifier: AutoMLClassifier, regressor: AutoMLRegressor
) -> None:
    classifier.save(tmp_path / "classes")
    regressor.save(tmp_path / "numbers")
    with pytest.raises(ValueError, match=r"predicts numbers: AutoMLRegressor\.load reads it"):
        AutoMLClassifier.load(tmp_path / "numbers")
    with pytest.raises(ValueError, match=r"predicts classes: AutoMLClassifier\.load reads it"):
        AutoMLRegressor.load(tmp_path / "classes")
    with pytest.raises(FileExistsError, match="numbers is there already: name a new folder"):
        regressor.save(tmp_path / "numbers")


@pytest.mark.parametrize(
    "labels", [[0, 1, 2], ["no", "", "NA"], [True, False, True], [1.0, 2.0, 30.0]]
)
def test_a_model_that_is_taken_elsewhere_names_the_classes_of_y(
    tmp_path: Path, labels: list[Any]
) -> None:
    rows, codes = load_iris(return_X_y=True)
    answers = np.array(labels)[codes]
    made = AutoMLClassifier(time_limit=20.0, max_models=1, models=("naive-bayes",))
    made.fit(rows, answers).save(tmp_path / "model")
    elsewhere = load_exported(tmp_path / "model")
    frame = pd.DataFrame(rows, columns=made.get_feature_names_out())
    said = elsewhere.predict(frame)
    np.testing.assert_array_equal(said["prediction"].to_numpy(), made.predict(rows))
    columns = [f"probability_{name}" for name in made.classes_.tolist()]
    np.testing.assert_allclose(said[columns], made.predict_proba(rows))
    loaded = AutoMLClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(rows), made.predict(rows))


def test_the_same_seed_gives_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried next hangs on what runs have cost: here the clock counts how often it is asked."""
    asked = count()
    counted = SimpleNamespace(process_time=lambda: next(asked) / 128)
    monkeypatch.setattr(problem, "time", counted)
    rows, answers = load_iris(return_X_y=True)
    few = {
        "time_limit": 60.0,
        "max_models": 3,
        "random_state": 1,
        "models": ("logistic", "svm-classifier"),
    }
    first = AutoMLClassifier(**few).fit(rows, answers)
    again = clone(first).fit(rows, answers)
    np.testing.assert_array_equal(first.predict_proba(rows), again.predict_proba(rows))


def test_rows_of_a_group_are_on_one_side() -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 6)
    rows = rng.normal(size=(40, 5))[patient] + rng.normal(scale=0.01, size=(240, 5))
    answers = rng.integers(2, size=40)[patient]  # nothing to learn but the patients themselves
    few = {"time_limit": 30.0, "max_models": 4, "models": ("knn-classifier",)}
    apart = AutoMLClassifier(**few).fit(rows, answers, groups=patient)
    mixed = AutoMLClassifier(**few).fit(rows, answers)
    assert apart.quality_ < 0.75 < mixed.quality_


@pytest.mark.parametrize("model", ["logistic", "naive-bayes"])
def test_rows_of_no_weight_are_as_if_they_were_not_there(model: str) -> None:
    rows, answers = load_iris(return_X_y=True)
    weights = np.tile([0, 1, 2], 50)
    # Which model comes second depends on how long the first one took.
    one = {"time_limit": 60.0, "max_models": 1, "models": (model,)}
    weighted = AutoMLClassifier(**one).fit(rows, answers, sample_weight=weights)
    kept = weights > 0
    alone = AutoMLClassifier(**one).fit(rows[kept], answers[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(weighted.predict_proba(rows), alone.predict_proba(rows))
    assert weighted.quality_ == alone.quality_
    with pytest.raises(ValueError, match="Weights have to be given"):
        weighted.partial_fit(rows, answers)


@pytest.mark.parametrize(
    ("weights", "named", "words"),
    [
        (np.zeros(150), {}, "at least one non-zero"),
        (np.full(150, -1.0), {}, "Negative values"),
        (np.ones(20), {}, "sample_weight.shape"),
        (np.arange(150), {"models": ("knn-classifier",)}, "learns from weights"),
    ],
)
def test_weights_that_cannot_be_used_are_said(weights, named: dict, words: str) -> None:
    rows, answers = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        AutoMLClassifier(**QUICK, **named).fit(rows, answers, sample_weight=weights)


@pytest.mark.parametrize("limit", [0, -3.0, float("nan")])
def test_a_search_has_seconds(limit: float) -> None:
    with pytest.raises(ValueError, match="time_limit is in seconds, above 0"):
        AutoMLClassifier(limit).fit([[0.0], [1.0]], [0, 1])


def test_cells_may_be_missing_that_never_were_in_training() -> None:
    rows, answers = load_iris(return_X_y=True, as_frame=True)
    rows["site"] = np.where(rows.iloc[:, 0] > 5.8, "north", "south")
    made = AutoMLClassifier(**QUICK).fit(rows, answers)
    gaps = rows.head(3).copy()
    gaps.iloc[0, 0] = np.nan
    gaps.loc[gaps.index[1], "site"] = None
    assert set(made.predict(gaps)) <= set(answers)


def test_nothing_is_written_started_or_asked_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, Any]] = []
    monkeypatch.setattr(_Watch, "hear", seen.append)
    sys.addaudithook(_Watch.audit)
    made = AutoMLRegressor(**FEW).fit(*load_diabetes(return_X_y=True))
    monkeypatch.undo()
    assert made.trials_
    assert not seen


class _Watch:
    """What an audit hook hears of files, programs and connections; a hook is never taken away."""

    hear: Callable[[tuple[str, Any]], None] | None = None
    _writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT
    _others = frozenset(
        ["os.mkdir", "os.rename", "os.fork", "os.posix_spawn", "subprocess.Popen", "socket.connect"]
    )

    @classmethod
    def audit(cls, event: str, told: tuple[Any, ...]) -> None:
        is_write = event == "open" and bool(told[2] & cls._writes)
        if cls.hear is not None and (is_write or event in cls._others):
            cls.hear((event, told))


def test_seconds_are_kept() -> None:
    rows, answers = load_iris(return_X_y=True)
    began = time.process_time()
    made = AutoMLClassifier(time_limit=2.5).fit(rows, answers)
    used = time.process_time() - began
    longest = max(trial.seconds for trial in made.trials_)
    assert used < 2.5 + 2 * longest  # no fit begins that should not end in time
    assert used > 0.9 * 2.5  # what is left is used
    assert len(made.trials_) > 2


@pytest.mark.parametrize(
    ("rows", "answers", "error", "words"),
    [
        (np.zeros((30, 2)), np.zeros(30), ValueError, "only one class is present: bring rows"),
        (np.zeros((90, 2)), np.arange(90.0), ValueError, "90 different values .* AutoMLRegressor"),
        (np.zeros((30, 2)), np.arange(20), ValueError, "inconsistent"),
        (np.zeros(30), np.arange(30), ValueError, "Reshape your data"),
        (np.zeros((30, 2)), [None, "a", "b"] * 10, ValueError, "in 10 of 30 rows: leave these"),
        (np.zeros((30, 2)), [np.nan, 0.0, 1.0] * 10, ValueError, "in 10 of 30 rows: leave these"),
        (
            pd.DataFrame(np.zeros((30, 2)), columns=["a", "a"]),
            [0, 1] * 15,
            ValueError,
            r"more than once: \['a'\]",
        ),
        (pd.DataFrame({"a": [1j] * 30}), [0, 1] * 15, ValueError, r"columns: \['a'\]"),
    ],
)
def test_what_cannot_be_learned_is_said(rows, answers, error, words: str) -> None:
    with pytest.raises(error, match=words):
        AutoMLClassifier(**FEW).fit(rows, answers)


def test_texts_are_no_answers_of_a_regressor() -> None:
    with pytest.raises(ValueError, match=r"no number: .*'a'.* Use AutoMLClassifier"):
        AutoMLRegressor(**FEW).fit(np.zeros((30, 2)), ["a", "b"] * 15)


def test_numbers_that_are_all_the_same_are_no_answers() -> None:
    with pytest.raises(ValueError, match="y is 7 in every row: bring rows"):
        AutoMLRegressor(**FEW).fit(np.arange(60.0).reshape(30, 2), np.full(30, 7))


@pytest.mark.parametrize("nothing", [np.nan, np.inf, None])
def test_a_column_without_a_value_is_left_out(mixed: pd.DataFrame, nothing: Any) -> None:
    """A column that is rarely filled has no value in some part of a cross-validation."""
    rows = mixed.drop(columns="ill").assign(rare=nothing)
    made = AutoMLClassifier(time_limit=20.0, max_models=1, models=("logistic",))
    made.fit(rows, mixed["ill"])
    assert "rare" not in made.get_feature_names_out()
    np.testing.assert_array_equal(made.predict(rows.assign(rare=1.5)), made.predict(rows))


def test_columns_without_names_are_taken_in_order(tmp_path: Path) -> None:
    rows, answers = load_iris(return_X_y=True)
    named = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    of_frame = AutoMLClassifier(**FEW).fit(named, answers)
    expected = of_frame.predict(named)
    of_frame.save(tmp_path / "saved")
    loaded = AutoMLClassifier.load(tmp_path / "saved")
    for made in (of_frame, pickle.loads(pickle.dumps(of_frame)), loaded):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert (made.predict(rows) == expected).all()
    of_numbers = AutoMLClassifier(**FEW).fit(named.set_axis(range(4), axis=1), answers)
    assert of_numbers.predict(rows).shape == (150,)
    of_array = AutoMLClassifier(**FEW).fit(rows, answers)
    with pytest.warns(UserWarning, match="has feature names, but"):
        assert of_array.predict(named).shape == (150,)


def test_columns_that_were_cut_into_intervals_are_categories() -> None:
    rows, answers = load_iris(return_X_y=True, as_frame=True)
    width = rows.iloc[:, 3]
    cut = pd.DataFrame(
        {"cut": pd.cut(width, 3), "month": pd.PeriodIndex(["2026-01"] * 150, freq="M")}
    )
    cut.loc[0, "cut"] = np.nan
    made = AutoMLClassifier(**FEW).fit(cut, answers)
    assert made.score(cut, answers) > 0.85


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ({"objective": "acuracy"}, "accuracy"),
        ({"models": ["logistic", "naive-bays"]}, "naive-bayes"),
    ],
)
def test_a_misspelt_name_is_told_before_anything_is_fitted(wrong: dict, meant: str) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        AutoMLClassifier(**FEW, **wrong).fit(rows, [0, 1] * 15)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_column_of_true_and_false_is_learned_from(gaps: bool) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.5
    rows = pd.DataFrame({"is_open": truth, "noise": rng.normal(size=200)})
    if gaps:
        rows["is_open"] = rows["is_open"].astype("boolean").mask(rng.random(200) < 0.1)
    answers = np.where(truth, "yes", "no")
    model = AutoMLClassifier(time_limit=10, max_models=2).fit(rows, answers)
    known = rows["is_open"].notna().to_numpy()
    assert np.mean(model.predict(rows)[known] == answers[known]) == 1


def test_more_rows_are_added_and_what_was_best_is_tried_first() -> None:
    rows, answers = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))
    first, second = order[:100], order[100:]
    heard: list[Trial] = []
    made = AutoMLClassifier(**QUICK, callback=heard.append, random_state=3)
    buffer, told = rows[first].copy(), answers[first].copy()
    made.partial_fit(buffer, told)
    best = made.leaderboard()["config"][0]
    buffer[:], told[:] = 0, 0  # what a caller does with its arrays changes nothing
    heard.clear()
    made.partial_fit(rows[second], answers[second])
    assert heard[0].pipeline["model"]["config"] == best
    assert len(heard) == QUICK["max_models"]
    assert made.score(rows, answers) > 0.9
    with pytest.raises(ValueError, match="4 features"):
        made.partial_fit(rows[:, :2], answers)
    with pytest.raises(ValueError, match="Groups have to be given"):
        made.partial_fit(rows, answers, groups=answers)


def test_a_class_that_is_new_is_said() -> None:
    rows, answers = load_iris(return_X_y=True)
    two, third = answers < 2, answers == 2
    quick = {"time_limit": 20.0, "max_models": 1, "models": ("naive-bayes",)}
    made = AutoMLClassifier(**quick).fit(rows[two], answers[two])
    with pytest.warns(UserWarning, match=r"no fit before had: \[2\]"):
        made.partial_fit(rows[third], answers[third])
    assert list(made.classes_) == [0, 1, 2]
    assert made.predict_proba(rows).shape == (150, 3)
    assert made.score(rows, answers) > 0.9
    with pytest.raises(ValueError, match="of another type"):
        made.partial_fit(rows[third], ["c"] * 50, classes=["c"])


def test_an_interrupted_fit_leaves_the_model_before_or_none() -> None:
    rows, answers = load_iris(return_X_y=True)
    answers = answers + 5

    def interrupt(trial: Trial) -> None:
        raise KeyboardInterrupt

    made = AutoMLClassifier(**QUICK).fit(rows, answers)
    before = made.predict(rows)
    made.set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        made.partial_fit(rows, [1] * 150, classes=[1])
    np.testing.assert_array_equal(made.predict(rows), before)
    with pytest.raises(KeyboardInterrupt):
        made.fit(rows, answers)
    with pytest.raises(NotFittedError):
        made.predict(rows)


def test_a_pickle_holds_the_model_alone() -> None:
    rows, answers = load_iris(return_X_y=True)
    made = AutoMLClassifier(**QUICK, callback=lambda trial: None, api_key="eml_secret")
    copy = pickle.loads(pickle.dumps(made.fit(rows, answers)))
    np.testing.assert_array_equal(copy.predict(rows), made.predict(rows))
    assert copy.api_key is None
    assert "eml_secret" not in repr(made) + made._repr_html_()
    with pytest.raises(ValueError, match="call fit with all rows"):
        copy.partial_fit(rows, answers)


def test_an_estimator_that_was_not_fitted_says_so() -> None:
    with pytest.raises(NotFittedError):
        AutoMLRegressor().predict(np.zeros((3, 2)))


def test_held_out_rows_are_predicted_as_well_as_it_says() -> None:
    rows, answers = load_diabetes(return_X_y=True)
    known, new, told, truth = train_test_split(rows, answers, random_state=3)
    made = AutoMLRegressor(**FEW).fit(known, told)
    assert made.score(new, truth) > made.quality_ - 0.2


BY_SPLITS = {
    "check_sample_weight_equivalence_on_dense_data": "Probabilities are calibrated by splits, and \
repetitions of a row fall on both sides, as with scikit-learn's CalibratedClassifierCV."
}


@pytest.mark.parametrize(
    ("kind", "model", "expected"),
    [(AutoMLClassifier, "logistic", BY_SPLITS), (AutoMLRegressor, "ridge", {})],
)
def test_scikit_learns_own_checks_pass(kind: type, model: str, expected: dict[str, str]) -> None:
    estimator = kind(time_limit=5, max_models=1, models=(model,))
    found = check_estimator(estimator, on_fail=None, expected_failed_checks=expected)
    failed = [one["check_name"] for one in found if one["status"] == "failed"]
    assert not failed


def test_the_package_stays_light() -> None:
    program = "import sys, easeml; sys.exit('sklearn' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_column_that_gives_the_answer_away_is_warned_of():
    rng = np.random.default_rng(0)
    reading, maths = rng.normal(600, 20, (2, 120))
    frame = pd.DataFrame({"reading": reading, "maths": maths, "income": rng.normal(size=120)})
    average = (reading + maths) / 2
    tool = AutoMLRegressor(5, max_models=1, models=["ridge"])
    with pytest.warns(UserWarning, match="May know 'answer': 'reading'") as told:
        tool.fit(frame, average)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tool.fit(frame, average + rng.normal(0, 10, 120))

"""The whole study on data whose Bayes error is known, and on data it must refuse."""

import json

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.feasibility import BayesError, Representation, answers_by_size, bayes_error


def gaussians(rows: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, 3))
    X[:, 0] += 2 * y - 1
    return X, y


@pytest.fixture(scope="module")
def answers() -> list[BayesError]:
    return list(answers_by_size(*gaussians(), goal=0.97))


def test_both_sides_hold_the_truth(answers: list[BayesError]):
    last = answers[-1]
    assert last.lower <= 0.158655 <= last.upper
    assert last.lower <= last.estimate <= last.upper
    assert last.estimate == pytest.approx(0.158655, abs=0.04)
    assert last.baseline == pytest.approx(0.5, abs=0.05)
    assert last.evaluated == last.rows == 500


def test_there_is_an_answer_at_any_time(answers: list[BayesError]):
    assert len(answers) >= 3
    assert [answer.final for answer in answers] == [False] * (len(answers) - 1) + [True]
    assert all(answer.lower <= answer.upper for answer in answers)
    assert answers[-1].work < 0.8
    assert any(tried.dropped for tried in answers[-1].tried)


def test_the_answer_says_what_to_do_next(answers: list[BayesError]):
    last = answers[-1]
    assert last.verdict != "realistic"
    assert "0.97" in last.advice
    assert [forecast.rows for forecast in last.forecasts] == [1000, 2000, 4000, 8000]
    assert len(last.to_frame()) == len(last.tried)
    assert json.loads(json.dumps(last.to_json(), allow_nan=False))["goal"] == 0.97
    assert "Bayes error" in last.to_html()


def test_labels_without_noise_are_not_called_noisy(answers: list[BayesError]):
    noise = answers[-1].noise
    assert noise is not None
    assert noise.share < 0.07
    assert noise.cleaned[0][1] == pytest.approx(answers[-1].estimate)


def test_noise_is_found_and_cleaning_it_reaches_the_goal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] > 0).astype(int)
    flipped = np.where(rng.random(600) < 0.15, 1 - y, y)
    answer = bayes_error(X, flipped, goal=0.95)
    assert answer.noise is not None
    assert answer.noise.low <= 0.15 <= answer.noise.high
    assert answer.noise.cleaned[-1][1] < 0.06
    assert answer.verdict != "realistic"
    assert answer.noise.labels_to_fix is not None
    assert 20 < answer.noise.labels_to_fix < 120


@pytest.mark.parametrize("seed", range(4))
def test_no_best_is_worse_than_always_guessing_the_same(seed: int):
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(np.repeat([0, 1, 2], [17, 12, 9]))
    answer = bayes_error(rng.normal(size=(38, 30)), kinds, goal=0.9, seed=seed)
    assert answer.lower <= answer.estimate <= answer.reached <= answer.baseline


def test_an_easy_goal_is_realistic_and_can_stop_early():
    X, y = gaussians(600)
    answer = bayes_error(X, y, goal=0.6, until_decided=True)
    assert answer.verdict == "realistic"
    assert not answer.final
    assert answer.risk is not None
    assert answer.risk <= 0.05
    assert answer.more_examples is None


def test_the_same_seed_gives_the_same_answer():
    X, y = gaussians(60)
    assert bayes_error(X, y, seed=3).to_json() == bayes_error(X, y, seed=3).to_json()


def test_noise_variance_of_a_regression():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    y = 10 * (2 * X[:, 0] + X[:, 1] + rng.normal(size=600) * 0.5)
    answer = bayes_error(X, y, goal=0.99)
    assert answer.task == "regression"
    assert answer.noise is None
    assert answer.noise_variance == pytest.approx(25, rel=0.2)
    assert answer.lower * y.var() <= 25 <= answer.upper * y.var()
    assert answer.verdict != "realistic"
    assert "R2" in answer.advice


def test_a_table_with_words_dates_and_gaps():
    rng = np.random.default_rng(0)
    city = rng.choice(["Ulm", "Bern", "Graz"], 120)
    frame = pd.DataFrame(
        {"city": city, "size": rng.normal(size=120), "when": pd.Timestamp("2024-01-01")}
    )
    frame.loc[::7, "size"] = np.nan
    answer = bayes_error(frame, pd.Series(np.where(city == "Ulm", "yes", "no"), dtype="category"))
    assert answer.classes == ("no", "yes")
    assert answer.upper < 0.1
    assert {"skrub table", "raw", "ranks", "skrub minhash"} <= {
        tried.name for tried in answer.tried
    }
    assert answer.verdict is None


def test_texts():
    texts = [
        f"{word} number {number}"
        for number in range(45)
        for word in ("cheap pills", "see you soon")
    ]
    answer = bayes_error(texts, ["spam", "ham"] * 45)
    assert {"words", "characters", "skrub minhash"} <= {tried.name for tried in answer.tried}
    assert answer.upper < 0.1


def test_images_with_a_representation_of_ones_own():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    images = rng.random((80, 6, 6, 3)) + y[:, None, None, None]
    asked: list[int] = []

    def brightness(part: np.ndarray) -> np.ndarray:
        asked.append(len(part))
        return part.mean(axis=(1, 2, 3))[:, None]

    answer = bayes_error(images, y, representations=[Representation("brightness", brightness)])
    found = {tried.name: tried for tried in answer.tried}
    assert {"pixels", "gradients"} <= set(found)
    assert found["brightness"].error == 0
    assert sum(asked) >= 80


def test_copies_are_kept_on_one_side():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    answer = bayes_error(np.vstack([X, X[:20]]), np.r_[y, y[:20]])
    assert answer.upper > 0.4
    assert "same side" in answer.notes[0]
    few = bayes_error(rng.integers(0, 2, (100, 2)), y)
    assert "nature" in few.notes[0]


def test_pure_noise_is_never_realistic():
    rng = np.random.default_rng(1)
    answer = bayes_error(rng.normal(size=(150, 4)), rng.integers(0, 3, 150), goal=0.6)
    assert answer.verdict != "realistic"
    assert answer.upper > 0.6


X20, Y20 = np.arange(40.0).reshape(20, 2), np.arange(20) % 2


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (X20[:5], Y20[:5], {}, "too few"),
        (X20, Y20[:5], {}, "20 rows, y has 5"),
        (X20, np.zeros(20), {}, "all targets are the same"),
        (X20, np.where(Y20, np.nan, 1.0), {}, "row 1 of y"),
        (np.where(X20 == 7, np.inf, X20), Y20, {}, "row 3 of X"),
        (X20, [f"c{n}" for n in range(20)], {}, "20 classes in 20 rows"),
        (X20, ["a", "b"] * 10, {"task": "regression"}, "finite numbers"),
        (X20, Y20, {"goal": 90}, "above 1"),
        (X20, Y20, {"goal": -0.1}, "below 0"),
        (X20, Y20, {"confidence": 1.0}, "not between 0 and 1"),
        (np.zeros((20, 0)), Y20, {}, "not understood"),
        (pd.DataFrame(index=range(20)), Y20, {}, "no input columns"),
        (X20, Y20, {"representations": [Representation("raw", np.asarray)]}, "same name"),
        (
            X20,
            Y20,
            {"representations": [Representation("bad", lambda part: part[:1])]},
            "representation bad",
        ),
        (
            X20,
            Y20,
            {"representations": [Representation("nan", lambda part: part * np.nan)]},
            "not finite",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_makes_no_sense_is_refused(X: object, y: object, options: dict, message: str):
    with pytest.raises(InvalidInput, match=f"(?i){message}"):
        bayes_error(X, y, **options)


def test_odd_inputs_are_taken():
    rng = np.random.default_rng(0)
    X = np.c_[
        np.full(40, np.nan), np.full(40, 5.0), rng.normal(size=40) * 1e12, rng.normal(size=40)
    ]
    answer = bayes_error(X, np.r_[np.zeros(39), 1])
    assert 0 <= answer.lower <= answer.upper <= 1
    same = bayes_error(np.zeros((40, 1)), np.arange(40) % 2)
    assert same.upper >= 0.5
    one_column = bayes_error(np.arange(60.0), np.arange(60) >= 30, goal=0.8)
    assert one_column.verdict == "realistic"


def test_one_size_of_the_training_set_tells_nothing_of_twice_the_rows() -> None:
    """Of less than a hundred rows, twice as many were said to bring nothing, surely."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(90, 4))
    answers = (inputs[:, 0] + inputs[:, 1] > 0).astype(int)
    assert bayes_error(inputs, answers, goal=0.95).forecasts == ()
    more = np.vstack([inputs, inputs + 0.1])
    assert bayes_error(more, np.tile(answers, 2), goal=0.95).forecasts[0].rows == 360

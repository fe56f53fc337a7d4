"""The tools on top of the values: the pool, the queue, wrong labels, owners; and what their results
share.
"""

import json

import numpy as np
import pytest
from labeling_oracles import hard, shapley

from easeml.errors import InvalidInput
from easeml.lifecycle.labeling import (
    contributions,
    expected_knn_shapley,
    find_mislabelled,
    next_to_label,
    predicted_pool_values,
    value_pool,
    value_rows,
)

GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.normal(size=3)
X, V, POOL = (GENERATOR.normal(size=(n, 3)) for n in (200, 100, 60))
Y, LABELS = (np.where(rows @ WEIGHTS > 0, "yes", "no") for rows in (X, V))
WRONG = GENERATOR.random(200) < 0.1
NOISY = np.where(WRONG, np.where(Y == "yes", "no", "yes"), Y)


@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("grid", [False, True])
def test_pool_values_are_those_of_the_game_with_one_more_row(k: int, grid: bool):
    rows, pool, valid = (np.round(part) if grid else part for part in (X[:25], POOL[:8], V[:9]))
    posterior = np.random.default_rng(1).dirichlet([1, 1], 8)
    known = (Y[:25, None] == np.array(["no", "yes"])).astype(float)
    expected = [
        expected_knn_shapley(
            np.vstack([rows, row]), np.vstack([known, chance]), valid, LABELS[:9], k
        )[-1]
        for row, chance in zip(pool, posterior, strict=True)
    ]
    found = value_pool(rows, Y[:25], pool, valid, LABELS[:9], k, posterior=posterior)
    assert found == pytest.approx(expected, abs=1e-13)


def test_predicted_pool_values_follow_those_of_the_labelled_rows():
    predicted = predicted_pool_values(X, NOISY, X, V, LABELS)
    assert np.corrcoef(predicted, value_rows(X, NOISY, V, LABELS).values)[0, 1] > 0.5


def test_the_queue_avoids_duplicates_and_heeds_prices():
    twice, chances = np.vstack([POOL, POOL]), np.random.default_rng(2).dirichlet([1, 1], 60)
    both = np.vstack([chances, chances])
    spread = next_to_label(X, Y, twice, V, LABELS, 30, posterior=both)
    assert len(set((spread.rows % 60).tolist())) == 30
    alike = next_to_label(X, Y, twice, V, LABELS, 30, posterior=both, diversity=0)
    assert len(set((alike.rows % 60).tolist())) < 30
    prices = np.ones(60)
    first = int(next_to_label(X, Y, POOL, V, LABELS, 1, posterior=chances).rows[0])
    prices[first] = 100
    assert (
        int(next_to_label(X, Y, POOL, V, LABELS, 1, posterior=chances, prices=prices).rows[0])
        != first
    )
    assert len(next_to_label(X, Y, POOL, V, LABELS, 500, posterior=chances).rows) == 60


def test_the_queue_with_certain_labels_follows_the_values():
    posterior = np.tile([0.0, 1.0], (60, 1))
    queue = next_to_label(
        X, Y, POOL, V, LABELS, 10, posterior=posterior, uncertainty=0, diversity=0
    )
    values = value_pool(X, Y, POOL, V, LABELS, posterior=posterior)
    assert queue.rows.tolist() == np.argsort(-values, kind="stable")[:10].tolist()
    assert queue.guesses.tolist() == ["yes"] * 10


@pytest.mark.parametrize("valid", [True, False])
def test_wrong_labels_come_first(valid: bool):
    answer = find_mislabelled(X, NOISY, *((V, LABELS) if valid else ()))
    assert WRONG[answer.rows[:20]].mean() > 0.6
    assert WRONG[answer.rows[answer.flagged]].mean() >= 0.8
    assert (answer.suggestions[answer.flagged] != answer.labels[answer.flagged]).all()
    assert sorted(answer.rows.tolist()) == list(range(200))
    assert answer.flagged[: answer.flagged.sum()].all()


def test_a_row_is_judged_by_models_that_have_not_seen_it():
    coins = np.random.default_rng(3).integers(0, 2, 200)
    assert 0.4 < find_mislabelled(X, coins).chances.mean() < 0.6


def test_a_class_too_small_to_be_learned_is_not_flagged():
    labels = NOISY.astype(object)
    labels[:4] = "rare"
    answer = find_mislabelled(X, labels)
    assert not answer.flagged[answer.rows < 4].any()
    assert answer.flagged.any()


def test_trusted_rows_can_bring_a_class_of_their_own():
    far = GENERATOR.normal(size=(30, 3)) + 20
    mixed, labels = np.vstack([X, far[:5]]), np.append(NOISY, ["yes"] * 5)
    answer = find_mislabelled(mixed, labels, far[5:], ["other"] * 25)
    assert set(answer.suggestions[answer.rows >= 200].tolist()) == {"other"}


def test_the_smallest_tables():
    assert not find_mislabelled([[0.0]], ["a"]).flagged.any()
    assert not find_mislabelled([[0.0], [1.0]], ["a", "a"], folds=2).flagged.any()
    assert not find_mislabelled([[0.0]], ["a"], [[0.0]], ["a"]).flagged.any()
    assert next_to_label([[0.0]], ["a"], [[1.0]], [[0.0]], ["a"]).rows.tolist() == [0]
    assert np.isnan(value_rows([[0.0]], ["a"], [[0.0]], ["a"]).standard_errors).all()
    assert contributions([[0.0]], ["a"], ["me"], [[0.0]], ["a"], 1).values.tolist() == [1.0]


def test_owners_against_every_order():
    owners = np.array(["c", "a", "b", "a", "c", "b", "a"])
    distances, y = np.arange(7.0), np.array([1, 0, 1, 1, 0, 1, 0])
    names = ["a", "b", "c"]

    def worth(coalition):
        there = [i for i in range(7) if owners[i] in {names[j] for j in coalition}]
        return hard(distances, (y == 1).astype(float), 2)(there)

    answer = contributions(distances[:, None], y, owners, [[-1.0]], [1], 2, budget=100)
    by_name = dict(zip(answer.owners, answer.values.tolist(), strict=True))
    assert [by_name[name] for name in names] == pytest.approx(shapley(3, worth), abs=1e-13)
    assert answer.payments.sum() == pytest.approx(100)
    assert (np.diff(answer.values) <= 0).all()


@pytest.mark.parametrize("players", ["owners", "rows"])
def test_contributions_sum_to_the_worth_of_all_rows(players: str):
    owners = np.arange(200) % 4
    answer = contributions(X, NOISY, owners, V, LABELS, players=players)
    assert answer.values.sum() == pytest.approx(value_rows(X, NOISY, V, LABELS).worth, abs=1e-10)
    assert answer.rows.tolist() == [50] * 4


def test_an_owner_of_wrong_labels_is_paid_nothing():
    owners = np.where(np.arange(200) < 60, "bad", "good")
    y = np.where(owners == "bad", np.where(Y == "yes", "no", "yes"), Y)
    answer = contributions(X, y, owners, V, LABELS, players="rows")
    assert answer.owners == ("good", "bad")
    assert answer.payments.tolist() == [1, 0]
    assert "bad" in answer.advice


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda: value_rows(X, NOISY, V, LABELS), id="values"),
        pytest.param(lambda: value_rows(X, NOISY, V, LABELS, error=0.1), id="truncated"),
        pytest.param(lambda: next_to_label(X, NOISY, POOL, V, LABELS, 5), id="queue"),
        pytest.param(lambda: find_mislabelled(X, NOISY, V, LABELS), id="suspects"),
        pytest.param(
            lambda: contributions(X, NOISY, np.arange(200) % 3, V, LABELS), id="contributions"
        ),
    ],
)
def test_results_show_themselves(answer):
    made = answer()
    assert json.loads(json.dumps(made.to_json(), allow_nan=False))["advice"] == made.advice
    assert made.advice[-1] in ".?"
    assert len(made.figure().series) >= 1
    assert len(made.to_csv().splitlines()) == len(made.to_frame()) + 1
    assert "<table" in made.to_html()


def test_long_work_reports_its_progress():
    shares: list[float] = []
    find_mislabelled(X, NOISY, progress=shares.append)
    value_rows(X, NOISY, V, LABELS, progress=shares.append)
    assert shares[-1] == 1
    assert all(0 < share <= 1 for share in shares)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda: find_mislabelled(X, Y, V), id="valid without labels"),
        pytest.param(lambda: find_mislabelled(X, Y, confidence=1), id="confidence"),
        pytest.param(lambda: find_mislabelled(X, Y, folds=1), id="folds"),
        pytest.param(lambda: next_to_label(X, Y, POOL, V, LABELS, 0), id="no rows"),
        pytest.param(
            lambda: next_to_label(X, Y, POOL, V, LABELS, value=0, uncertainty=0), id="no weight"
        ),
        pytest.param(
            lambda: next_to_label(X, Y, POOL, V, LABELS, diversity=-1), id="negative weight"
        ),
        pytest.param(
            lambda: next_to_label(X, Y, POOL, V, LABELS, prices=np.zeros(60)), id="prices"
        ),
        pytest.param(lambda: value_pool(X, Y, POOL[:, :2], V, LABELS), id="pool's columns"),
        pytest.param(
            lambda: value_pool(X, Y, POOL, V, LABELS, posterior=np.ones((60, 2))), id="posterior"
        ),
        pytest.param(lambda: contributions(X, Y, Y[:3], V, LABELS), id="owners' length"),
        pytest.param(lambda: contributions(X, Y, Y, V, LABELS, players="all"), id="players"),
        pytest.param(lambda: contributions(X, Y, Y, V, LABELS, budget=-1), id="budget"),
    ],
)
def test_wrong_inputs_are_refused(wrong):
    with pytest.raises(InvalidInput):
        wrong()

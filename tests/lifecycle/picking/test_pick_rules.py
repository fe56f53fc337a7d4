"""The published rules and easeml's own, against check values, brute force and a rule that is known
to be wrong.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

from easeml.errors import InvalidInput
from easeml.lifecycle.picking import (
    METHODS,
    Session,
    StreamPicker,
    kernels,
    open_stream,
    pick,
    tune_epsilon,
    vote_accuracy,
)
from easeml.lifecycle.picking.certificate import Certificate, Label
from easeml.lifecycle.picking.coda import Coda
from easeml.lifecycle.picking.kernels import dispute, learn, query_chance
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.rules import ModelSelector


def test_stream_query_probability_of_known_case():
    rate = np.sqrt(np.log(4) / 20)
    losses = -np.log(np.array([0.4, 0.3, 0.2, 0.1])) / rate
    disagreement, floor, chance = query_chance(
        np.array([0, 1, 1, 2], dtype=np.int32), 3, losses, 10, 1.0
    )
    assert disagreement == pytest.approx(0.25, abs=1e-9)
    assert floor == pytest.approx(0.263276884773, abs=1e-9)
    assert chance == pytest.approx(0.263276884773, abs=1e-9)


def test_selector_entropy_and_posterior_of_known_case():
    pool = Pool.of(np.array([[0, 1, 1, 2], [0, 0, 0, 1], [2, 1, 0, 1], [1, 1, 1, 1]]))
    rule = ModelSelector.with_epsilon(pool, 0.4)
    bits = -rule.scores(np.ones(4, dtype=bool)) / np.log(2)
    assert bits[:3] == pytest.approx([1.973608532286, 1.985254479144, 1.973608532286], abs=1e-9)
    assert np.isinf(bits[3]), "what all agree on is never asked for"
    assert rule.scores(np.ones(4, dtype=bool)).argmax() == 0
    rule = rule.tell(0, pool.slot(0, 1))
    assert rule.belief() == pytest.approx([0.2, 0.3, 0.3, 0.2], abs=1e-9)


def test_expected_agreement_with_the_votes_of_known_case():
    pool = Pool.of(np.array([[0, 1, 1], [2, 2, 0], [1, 0, 2], [1, 1, 1]]))
    assert vote_accuracy(pool) == pytest.approx(
        [0.583333333333, 0.666666666667, 0.583333333333], abs=1e-9
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 5))
def test_selector_entropy_is_that_of_the_posteriors(seed, models, classes):
    rng = np.random.default_rng(seed)
    predictions = rng.integers(classes, size=(12, models))
    predictions[0] = np.arange(models) % classes
    pool = Pool.of(predictions)
    rule = ModelSelector.with_epsilon(pool, 0.35)
    for row in range(3):
        rule = rule.tell(row, int(rng.integers(pool.width[row] + 1)))
    belief = rule.belief()
    found = rule.scores(np.ones(12, dtype=bool))
    for row in np.flatnonzero(pool.contested):
        entropies = []
        for label in range(len(pool.classes)):
            after = belief * np.where(pool.codes[row] == label, 0.65 / 0.35, 1.0)
            after /= after.sum()
            entropies.append(-(after * np.log(after)).sum())
        assert -found[row] == pytest.approx(np.mean(entropies), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_dispute_is_the_expected_squared_gap_of_two_contenders(seed):
    rng = np.random.default_rng(seed)
    pool = Pool.of(rng.integers(4, size=(6, 5)))
    weights = rng.dirichlet(np.ones(pool.models))
    shares = np.zeros((6, int(pool.width.max()) + 1))
    for row in range(6):
        shares[row, : pool.width[row] + 1] = rng.dirichlet(np.ones(pool.width[row] + 1))
    found, apart = np.empty(6), np.empty(6)
    is_open = np.ones(6, dtype=bool)
    dispute(*pool.dissent, pool.width, shares, weights, weights, is_open, found, apart)
    for row in np.flatnonzero(pool.contested):
        slots, gap, differ = pool.slots[row], 0.0, 0.0
        for one, first in zip(slots, weights, strict=True):
            for other, second in zip(slots, weights, strict=True):
                if one != other:
                    differ += first * second
                    q, r = shares[row, one], shares[row, other]
                    gap += first * second * (q + r - (q - r) ** 2)
        assert found[row] == pytest.approx(gap, abs=1e-12)
        assert apart[row] == pytest.approx(differ, abs=1e-12)


def test_learning_moves_the_weights_by_one_newton_step():
    slots = np.array([0, 1, 1, 2], dtype=np.int32)
    mean, covariance = np.array([0.3, -0.2, 0.5, 0.1]), np.diag([1.0, 2.0, 0.5, 1.5])
    onehot = (slots[None, :] == np.arange(4)[:, None]).astype(float)
    q = np.exp(onehot @ mean)
    q /= q.sum()
    centred = onehot - q @ onehot
    hessian = np.linalg.inv(covariance) + (q[:, None] * centred).T @ centred
    expected = mean + np.linalg.solve(hessian, onehot[1] - q @ onehot)
    learn(slots, 4, 1, mean, covariance)
    assert mean == pytest.approx(expected)
    assert np.linalg.inv(covariance) == pytest.approx(hessian)


def rate_divided_again_and_again(predictions, labels, budget, seed):
    """Stream picking whose rate is divided by sqrt(t) at every step, cumulatively, as the published
    package has it.
    """
    rng = np.random.default_rng(seed)
    models = predictions.shape[1]
    losses, rate = np.zeros(models), np.sqrt(np.log(models) / 2)
    belief, asked = np.full(models, 1 / models), 0
    for step, row in enumerate(rng.permutation(len(labels)), start=1):
        rate /= np.sqrt(step)
        belief = np.exp(-rate * losses)
        belief /= belief.sum()
        wrong = np.array(
            [belief[predictions[row] != label].sum() for label in np.unique(predictions[row])]
        )
        chance = (wrong * (1 - wrong)).max()
        if asked < budget and rng.random() < chance:
            asked += 1
            losses += (predictions[row] != labels[row]) / chance
    return int(belief.argmax()), belief


def test_the_published_rate_returns_model_0_and_the_corrected_one_the_best(three_classes):
    predictions, labels = three_classes
    best = int((predictions == labels[:, None]).mean(axis=0).argmax())
    assert best != 0
    for seed in range(10):
        chosen, belief = rate_divided_again_and_again(predictions, labels, 300, seed)
        assert chosen == 0
        assert belief == pytest.approx(np.full(len(belief), 1 / len(belief)), abs=1e-9)
    found = [
        pick(predictions, labels.__getitem__, method="model-picker", budget=300, seed=s).model
        for s in range(10)
    ]
    assert found.count(f"model {best}") >= 9


def test_stream_picker_asks_never_where_all_agree_and_counts_weighted_losses():
    picker = StreamPicker(3, multiplier=1000.0, forget=False)
    assert not picker.offer(["a", "a", "a"])
    assert picker.offer(["a", "b", "b"])
    picker.tell("b")
    assert picker.losses.tolist() == [1.0, 0.0, 0.0]
    assert picker.leader == 1
    assert picker.offer(["a", "b", "b"])
    picker.tell("something that nobody predicts")
    assert picker.losses.tolist() == [2.0, 1.0, 1.0]
    with pytest.raises(InvalidInput, match="No label"):
        picker.tell("b")
    with pytest.raises(InvalidInput, match="2 predictions for 3"):
        picker.offer(["a", "b"])


def test_stream_weights_of_known_losses():
    start = open_stream(4, forget=False)
    stream = replace(start, losses=np.array([[22 / 3, 4, 0, 22 / 3]]), seen=3)
    assert stream.weights == pytest.approx([0.02444, 0.12133, 0.82979, 0.02444], abs=1e-5)


def test_epsilon_is_tuned_without_labels_and_within_the_grid(three_classes):
    chosen = tune_epsilon(
        Pool.of(three_classes[0]), np.random.default_rng(0), pools=1, examples=60, labels=20
    )
    assert 0.35 <= chosen <= 0.49


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_a_clear_best(method, three_classes):
    predictions, labels = three_classes
    asked: list[int] = []

    def oracle(row):
        asked.append(row)
        return labels[row]

    found = pick(predictions, oracle, budget=150, method=method, stop_early=False, epsilon=0.46)
    assert found.model == "model 3"
    assert found.labels == len(asked) == len(set(asked)) <= 150
    assert [one.row for one in found.asked] == asked
    assert found.low <= found.accuracy <= found.high
    assert found.low - 1e-9 <= 0.9 <= found.high + 1e-9


@pytest.mark.parametrize("method", ["default", "model-selector", "random"])
def test_the_same_seed_asks_the_same(method, three_classes):
    predictions, labels = three_classes
    first, second = (
        pick(predictions, labels.__getitem__, budget=40, method=method, seed=5, epsilon=0.46)
        for _ in range(2)
    )
    assert first == second


def test_batches_are_distinct_rows_and_must_be_told(three_classes):
    predictions, labels = three_classes
    session = Session(predictions)
    rows = session.ask(20)
    assert len(set(rows)) == 20
    with pytest.raises(InvalidInput, match="still wait"):
        session.ask()
    with pytest.raises(InvalidInput, match="Told"):
        session.tell(rows[:3], labels[rows[:3]])
    session.tell(rows[::-1], labels[rows[::-1]])
    assert not set(rows) & set(session.ask(20))


@pytest.mark.parametrize("method", ["default", "coda", "entropy"])
def test_one_batch_may_take_the_whole_pool(method, three_classes):
    predictions, labels = three_classes
    found = pick(predictions, labels.__getitem__, method=method, batch=1000, stop_early=False)
    assert found.stopped == "settled"
    assert found.model == "model 3"


def test_coda_asks_by_the_published_expected_information():
    """By quadrature, from the formulas of the paper: hard consensus, Dirichlet prior, class shares,
    information.
    """
    predictions = np.random.default_rng(4).integers(0, 3, (12, 4))
    rule = Coda.of(Pool.of(predictions)).tell(0, 0)
    votes = np.eye(3)[predictions]  # (n, k, C)
    consensus = votes.sum(axis=1).argmax(axis=1)
    confusion = np.stack(
        [[votes[consensus == c, j].mean(axis=0) for c in range(3)] for j in range(4)]
    )
    mass = 2 * (np.where(np.eye(3) == 1, 1, 1 / 2) + 0.1 * confusion)
    told = consensus[0]
    mass[range(4), told, predictions[0]] += 0.01
    chances = np.einsum("jcs,njs->nc", mass, votes)
    chances /= chances.sum(axis=1, keepdims=True)

    def best(right: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        laws = [beta(a, b) for a, b in zip(right, wrong, strict=True)]
        found = [
            quad(
                lambda x, j=j: (
                    laws[j].pdf(x) * np.prod([law.cdf(x) for law in laws[:j] + laws[j + 1 :]])
                ),
                0,
                1,
            )[0]
            for j in range(len(laws))
        ]
        return np.array(found) / sum(found)

    rest = mass.sum(axis=2) - mass[:, range(3), range(3)]
    now = np.stack([best(mass[:, c, c], rest[:, c]) for c in range(3)])
    shares = chances.mean(axis=0)
    np.testing.assert_allclose(rule.standing(), shares @ now, atol=0.01)
    for row in (1, 7):
        expected = 0.0
        for c in range(3):
            hit = predictions[row] == c
            after = shares @ now + shares[c] * (
                best(mass[:, c, c] + hit, rest[:, c] + ~hit) - now[c]
            )
            expected += chances[row, c] * (after * np.log(after)).sum()
        assert rule.scores(np.ones(12, bool))[row] == pytest.approx(expected, abs=0.005)


def every_bet(pool, labelled, tolerance, needed):
    """Log-wealth of the bets between every two models, (k, k), after labels (row, slot, chance,
    floor): plain loops.
    """
    k, n = pool.models, pool.examples
    wealth, gap, total, squares = np.zeros((4, k, k))
    left = (pool.slots[:, :, None] != pool.slots[:, None, :]).sum(axis=0)
    for row, slot, chance, floor in labelled:
        right = (pool.slots[row] == slot).astype(float)
        for j, h in np.argwhere(np.isfinite(wealth) & ~np.eye(k, dtype=bool)):
            lowest = (gap[j, h] - (left[j, h] > 0) / floor) / n + tolerance
            payoff = (gap[j, h] + (right[j] - right[h]) / chance) / n + tolerance
            if lowest >= 0:
                wealth[j, h] = np.inf
            elif total[j, h] > 0:
                stake = min(total[j, h] / (squares[j, h] + 0.25), 0.75 / -lowest)
                wealth[j, h] += np.log1p(stake * payoff)
            total[j, h] += payoff
            squares[j, h] += payoff**2
        gap += right[:, None] - right[None, :]
        left -= pool.slots[row][:, None] != pool.slots[row][None, :]
        wealth[gap - left + tolerance * n >= 0] = np.inf
    np.fill_diagonal(wealth, needed)
    return wealth


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05]))
def test_bets_made_up_for_are_those_of_every_label(seed, tolerance):
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=60)
    predictions = np.where(
        rng.random((60, 4)) < (0.9, 0.7, 0.6, 0.5), truth[:, None], rng.integers(3, size=(60, 4))
    )
    pool = Pool.of(predictions)
    certificate = Certificate(pool, tolerance, 0.8)
    labelled, nothing = [], np.zeros(pool.models)
    for row in rng.permutation(60)[:40].tolist():
        labelled.append((row, pool.slot(row, pool.code(truth[row])), rng.uniform(0.1, 1), 0.1))
        certificate = certificate.with_label(Label(*labelled[-1], nothing, nothing))
        if rng.random() < 0.2:
            certificate = certificate.betting_on(int(rng.integers(pool.models)))
    needed = np.log((pool.models - 1) / 0.2)
    wealth = every_bet(pool, labelled, tolerance, needed)
    for model in range(pool.models):
        assert certificate.rivals(model).tolist() == (wealth[model] < needed).tolist()


def test_a_label_moves_the_bets_of_models_that_led_alone(monkeypatch):
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=600)
    skill = np.linspace(0.5, 0.9, 40)
    predictions = np.where(
        rng.random((600, 40)) < skill, truth[:, None], rng.integers(5, size=(600, 40))
    )
    session, moved, led = Session(predictions), [], set()
    bet = kernels.bet

    def counted(model, slots, rows, *rest):
        moved.append(len(rows))
        return bet(model, slots, rows, *rest)

    monkeypatch.setattr(kernels, "bet", counted)
    for _ in range(100):
        led.add(session.leader)
        rows = session.ask()
        session.tell(rows, truth[rows])
    assert sum(moved) <= 100 * len(led) < 100 * 40


def test_two_models_differ_where_their_predictions_do():
    pool = Pool.of(np.random.default_rng(1).integers(4, size=(50, 7)))
    brute = (pool.slots[:, :, None] != pool.slots[:, None, :]).sum(axis=0)
    assert pool.apart.tolist() == brute.tolist()

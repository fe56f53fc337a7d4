"""Priors: sensible without history, near the truth with much of it."""

import numpy as np
import pytest

from easeml.search import (
    Arm,
    Observation,
    Posterior,
    SearchState,
    add_job,
    configurations,
    default_prior,
    learned,
    learned_prior,
    policy_named,
    settled,
)
from easeml.search.simulator import Setting, Workload, compare

MODELS = ["baseline", "logistic", "svm", "random-forest", "lightgbm"]
ARMS = [Arm(model, model, 1.0) for model in MODELS]


def simulated(jobs, seed=0, missing=0.0):
    """Qualities whose angles have job levels N(.9, .1^2), fixed model effects, and two models that
    move together.
    """
    generator = np.random.default_rng(seed)
    effects = np.array([-0.2, 0.0, 0.05, -0.05, 0.1])
    covariance = 0.03**2 * np.eye(5)
    covariance[3, 4] = covariance[4, 3] = 0.5 * 0.03**2
    levels = generator.normal(0.9, 0.1, jobs)
    angle = levels[:, None] + effects + generator.multivariate_normal(np.zeros(5), covariance, jobs)
    quality = np.sin(angle) ** 2
    seen = generator.random(quality.shape) >= missing
    history = [
        (f"job-{j}", MODELS[m], (), float(quality[j, m]))
        for j in range(jobs)
        for m in range(5)
        if seen[j, m]
    ]
    return history, 0.9 + effects, covariance


def believed(prior, one, other):
    """The expected variance of the difference of two arms in a job of unknown scale."""
    return prior.scales.weights @ prior.scales.factors**2 * difference(prior.covariance, one, other)


def difference(covariance, one, other):
    """The variance of the difference of two arms, which the level of the job does not touch."""
    return covariance[one, one] + covariance[other, other] - 2 * covariance[one, other]


def eigenvalues_are_fine(prior):
    return np.linalg.eigvalsh(prior.covariance).min() > -1e-10


def test_cold_start_orders_families_and_correlates_what_is_alike():
    arms = [
        Arm("a", "lightgbm-classifier", 1.0, (0.5,)),
        Arm("b", "lightgbm-classifier", 1.0, (0.52,)),
        Arm("c", "lightgbm-classifier", 1.0, (0.9,)),
        Arm("d", "baseline-classifier", 1.0),
        Arm("e", "something-new", 1.0),
    ]
    prior = default_prior(arms)
    assert prior.mean[3] < prior.mean[4] < prior.mean[0]
    near, far, other = prior.covariance[0, 1], prior.covariance[0, 2], prior.covariance[0, 3]
    assert prior.covariance[0, 0] > near > far > other > 0
    assert eigenvalues_are_fine(prior)


def test_arms_without_features_are_alike_but_not_identical():
    prior = default_prior([Arm("a", "svm", 1.0), Arm("b", "svm", 1.0)])
    assert 0 < prior.covariance[0, 1] < prior.covariance[0, 0]


def test_no_history_is_the_cold_start():
    np.testing.assert_array_equal(learned_prior(ARMS, []).mean, default_prior(ARMS).mean)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_much_history_is_near_the_truth(missing):
    history, mean, covariance = simulated(800, missing=missing)
    prior = learned_prior(ARMS, history)
    np.testing.assert_allclose(prior.mean + prior.scales.levels[0], mean, atol=0.02)
    alike, unlike = believed(prior, 3, 4), believed(prior, 1, 2)
    assert alike == pytest.approx(difference(covariance, 3, 4), rel=0.25)
    assert unlike == pytest.approx(difference(covariance, 1, 2), rel=0.25)
    assert prior.covariance[0, 1] == pytest.approx(0.01, rel=0.3)
    assert eigenvalues_are_fine(prior)


def test_little_history_moves_little_and_forecasts_better_than_none():
    history, truth, _ = simulated(3, seed=2)
    cold, warm = default_prior(ARMS).mean, learned_prior(ARMS, history).mean
    shape = lambda mean: mean - mean.mean()  # noqa: E731
    assert np.abs(shape(warm) - shape(cold)).max() < 0.15
    assert np.abs(shape(warm) - shape(truth)).sum() < np.abs(shape(cold) - shape(truth)).sum()


def test_a_hard_job_does_not_make_its_models_look_bad():
    easy = [(f"easy-{j}", model, (), 0.9) for j in range(20) for model in ("logistic", "svm")]
    hard = [(f"hard-{j}", model, (), 0.5) for j in range(20) for model in ("logistic", "lightgbm")]
    prior = learned_prior(ARMS, easy + hard)
    assert abs(prior.mean[4] - prior.mean[2]) < 0.08


def test_unseen_models_keep_their_place():
    history = [(f"job-{j}", "logistic", (), 0.8) for j in range(50)]
    prior = learned_prior(ARMS, history)
    assert prior.mean[0] < prior.mean[1] < prior.mean[4]


def test_after_many_searches_a_new_model_is_as_doubtful_as_the_others():
    generator = np.random.default_rng(0)
    models = [f"model-{place}" for place in range(16)]
    effects = generator.normal(0, 0.05, 16)
    history = []
    for job in range(24):
        angles = 0.9 + generator.normal(0, 0.1) + effects + generator.normal(0, 0.03, 16)
        for model, angle in zip(models, angles, strict=True):
            history.append((f"job-{job}", model, (), float(np.sin(angle) ** 2)))
    arms = [Arm(model, model, 1.0) for model in [*models, "new"]]
    prior = learned_prior(arms, history)
    apart = [difference(prior.covariance, 0, other) for other in range(1, 17)]
    assert apart[-1] > np.median(apart[:-1])
    assert eigenvalues_are_fine(prior)


def test_configurations_near_good_ones_are_expected_to_be_good():
    arms = [
        Arm("good", "svm", 1.0, (0.1,)),
        Arm("bad", "svm", 1.0, (0.9,)),
        Arm("other", "knn", 1.0, (0.1, 0.2)),
    ]
    history = [
        (f"job-{j}", "svm", (u,), 0.7 - 0.1 * (u > 0.5)) for j in range(20) for u in (0.12, 0.88)
    ]
    prior = learned_prior(arms, history)
    assert prior.mean[0] > prior.mean[1] + 0.05
    assert eigenvalues_are_fine(prior)


@pytest.mark.parametrize(
    "history", [[], [("other", "baseline", (), 0.6), ("other", "logistic", (), 0.97)]]
)
def test_a_baseline_that_knows_nothing_does_not_end_the_search(history):
    """Ten classes: the baseline is right for a tenth of the rows, the best model for nearly all."""
    models = {
        "baseline": 0.1,
        "decision-tree": 0.78,
        "naive-bayes": 0.9,
        "svm": 0.975,
        "extra-trees": 0.972,
        "knn": 0.97,
    }
    arms = [
        Arm(f"{model}-{number}", model, 1.0 + number, (number / 3,))
        for model in models
        for number in range(1 if model == "baseline" else 4)
    ]
    state = add_job(SearchState(), "job", "tenant", arms, learned_prior(arms, history))
    policy = policy_named()
    while state.waiting:
        (decision,) = policy.decide(state, 1)
        quality = models[arms[decision.arm].model] - 0.003 * arms[decision.arm].features[0]
        state = settled(
            policy.observe(state, Observation("job", decision.arm, quality, 1.0)), "job", 0.001
        )
    assert state.job("job").best > 0.97


def test_a_model_that_stands_out_does_not_end_a_cold_search():
    """All models but one were nearly useless: the next may well be better still, and must not be
    given up.
    """
    arms = [Arm(f"model-{number}", f"model-{number}", 1.0) for number in range(8)]
    state = add_job(SearchState(), "job", "tenant", arms, default_prior(arms))
    for arm, quality in enumerate([0.11, 0.16, 0.09, 0.89]):
        state = policy_named().observe(state, Observation("job", arm, quality, 1.0))
    assert state.job("job").improvement[4:].min() > 1e-3


def cold_workload(seed, tenants=8, models=16):
    """Tenants of all scales, costs over five orders of magnitude that say nothing of the quality."""
    generator = np.random.default_rng(seed)
    spread = generator.choice([0.02, 0.1, 0.4], tenants)
    angle = generator.normal(0.9, 0.2, tenants)[:, None] + spread[:, None] * generator.normal(
        size=(tenants, models)
    )
    cost = 10 ** (np.linspace(0, 5, models) + generator.normal(0, 0.2, (tenants, models)))
    names = tuple(f"tenant-{n}" for n in range(tenants)), tuple(f"model-{n}" for n in range(models))
    return Workload(np.sin(np.clip(angle, 0, np.pi / 2)) ** 2, cost, *names)


def test_a_cold_search_starves_no_tenant_for_dear_models_of_others():
    setting = Setting(tenants=8, seeds=1, history="none")
    areas = {"default": [], "cheapest-first": []}
    for seed in range(6):
        curves = compare(cold_workload(seed), list(areas), setting).curves
        for policy, found in areas.items():
            found.append(curves[policy][0].area)
    assert np.mean(areas["default"]) < np.mean(areas["cheapest-first"])


def growing(count):
    """Arms of five models with configurations drawn from a fixed seed."""
    generator = np.random.default_rng(0)
    features = generator.random((count, 3)).tolist()
    return [Arm(f"arm-{i}", MODELS[i % 5], 1.0, tuple(point)) for i, point in enumerate(features)]


def test_a_prior_that_grew_is_the_prior_over_all_arms():
    arms = growing(40)
    history = [
        (f"job-{j}", a.model, a.features, 0.7 + 0.1 * a.features[0])
        for j in range(4)
        for a in arms[:15]
    ]
    known = learned(arms[:10], history)
    prior = known.over(arms[:10])
    for start in range(10, 40, 6):
        prior = known.extended(prior, arms[:start], arms[start : start + 6])
    whole = known.over(arms)
    np.testing.assert_allclose(prior.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(prior.covariance, whole.covariance, atol=1e-12)


def test_growing_compares_no_pair_of_configurations_twice(monkeypatch):
    """What is compared while a job grows to K arms is K^2 / 2, and not K^3: it must stay cheap with
    many of them.
    """
    count, compared = 300, []
    kernel = configurations.kernel
    monkeypatch.setattr(
        configurations, "kernel", lambda a, b: compared.append(len(a) * len(b)) or kernel(a, b)
    )
    arms = growing(count)
    known = learned(arms, [])
    prior = known.over(arms[:6])
    for start in range(6, count, 6):
        prior = known.extended(prior, arms[:start], arms[start : start + 6])
    assert sum(compared) <= 0.55 * count**2


def test_that_linear_models_agree_says_little_of_trees():
    arms = [
        Arm("logistic", "logistic", 1.0),
        Arm("elastic", "elastic-net-classifier", 1.0),
        Arm("gbm", "lightgbm-classifier", 1.0),
        Arm("forest", "random-forest-classifier", 1.0),
    ]
    posterior = Posterior.of(default_prior(arms)).observe(0, 0.755)
    gains = posterior.improvement(0.755)
    assert gains[2] > 2 * gains[1]
    agreed = posterior.observe(1, 0.755).improvement(0.755)
    assert agreed[2] > 0.6 * gains[2]
    apart = posterior.observe(2, 0.95)
    assert apart.mean[3] > 0.88
    assert apart.mean[1] < 0.8

"""Predicted device seconds."""

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import Work, hinted_cost, learn_costs, most_telling
from easeml.search.costs import percentage_error

LINEAR = {"base": 0.5, "per_cell": 1e-4}


def seconds(model, *works):
    return model.predict(works).seconds


def test_hints_alone():
    assert hinted_cost(LINEAR, 1000, 10) == pytest.approx(1.5)
    assert hinted_cost({"seconds": 0.2, "rows": 2, "columns": 0.5}, 2000, 40) == pytest.approx(
        0.2 * 4 * 2
    )
    assert hinted_cost({}, 0, 0) > 0
    assert seconds(learn_costs([]), Work("m", 10, 10, hinted=3.0)) == pytest.approx([3.0])


@pytest.mark.parametrize(
    "hints", [{"per_row": 1.0}, {"base": -1.0}, {"base": "1"}, {"seconds": 1.0, "base": 1.0}]
)
def test_wrong_hints_are_refused(hints):
    with pytest.raises(InvalidInput, match="cost"):
        hinted_cost(hints, 10, 10)


def test_little_history_corrects_little_and_much_corrects_all():
    work = Work("m", 1000, 10, hinted=1.5)
    one = learn_costs([(work, 6.0)]).predict([work])
    many = learn_costs([(work, 6.0)] * 50).predict([work])
    assert 1.5 < one.seconds[0] < many.seconds[0] == pytest.approx(6.0, rel=0.05)
    assert many.log_sd[0] < one.log_sd[0] < learn_costs([]).predict([work]).log_sd[0]


def test_growth_with_size_is_learned():
    generator = np.random.default_rng(0)
    runs = [
        (Work("m", rows, 10), float(1e-8 * (rows * 10) ** 1.5 * np.exp(generator.normal(0, 0.2))))
        for rows in np.exp(generator.uniform(np.log(100), np.log(100_000), 200))
        .astype(int)
        .tolist()
    ]
    model = learn_costs(runs)
    for rows in (200, 5_000, 80_000):
        assert seconds(model, Work("m", rows, 10)) == pytest.approx(
            [1e-8 * (rows * 10) ** 1.5], rel=0.25
        )
    assert model.noise == pytest.approx(0.04, rel=0.3)


def test_configurations_jobs_and_devices_have_effects_of_their_own():
    generator = np.random.default_rng(1)
    runs = []
    for number in range(400):
        size, job, device = (
            float(generator.random()),
            number // 2 % 10,
            ("slow", "fast")[number % 2],
        )
        truth = 2.0 * np.exp(1.5 * size + 0.3 * (job - 5)) * (4.0 if device == "slow" else 1.0)
        runs.append(
            (
                Work("m", features=(size,), job=str(job), device=device),
                truth * np.exp(generator.normal(0, 0.1)),
            )
        )
    found = learn_costs(runs).predict(
        [
            Work("m", features=(0.9,), job="2", device="slow"),
            Work("m", features=(0.1,), job="8", device="fast"),
        ]
    )
    truth = [2 * np.exp(1.35 - 0.9) * 4, 2 * np.exp(0.15 + 0.9)]
    assert found.seconds == pytest.approx(truth, rel=0.1)


def test_intervals_hold_what_they_promise_and_are_wider_for_what_is_new():
    generator = np.random.default_rng(2)
    effects = generator.normal(0, 1, 25)
    runs = [
        (Work(f"m{m}"), float(np.exp(effects[m] + generator.normal(0, 0.3))))
        for m in range(25)
        for _ in range(6)
    ]
    model = learn_costs(runs)
    low, high = model.predict([Work(f"m{m}") for m in range(25)]).interval()
    fresh = np.exp(effects + generator.normal(0, 0.3, (200, 25)))
    assert 0.85 < ((low <= fresh) & (fresh <= high)).mean() < 0.95
    assert model.predict([Work("unseen")]).log_sd[0] == pytest.approx(np.hypot(1, 0.3), rel=0.3)
    assert model.predict([Work("unseen")]).log_sd[0] > 2 * model.predict([Work("m1")]).log_sd[0]


@pytest.mark.parametrize("useless", [0.0, -1.0, float("nan"), float("inf")])
def test_useless_times_are_left_out(useless):
    work = Work("m", 10, 10)
    assert seconds(learn_costs([(work, useless)]), work) == pytest.approx([1.0])


def test_the_order_of_runs_does_not_matter():
    runs = [(Work(f"m{i % 3}", 100 * (i + 1), 5, job=f"j{i % 4}"), 1.0 + i) for i in range(12)]
    work = Work("m1", 500, 5, job="j2")
    assert seconds(learn_costs(runs), work) == pytest.approx(seconds(learn_costs(runs[::-1]), work))


def test_guided_runs_tell_more_of_a_new_device_than_the_first_ones():
    generator = np.random.default_rng(3)
    models = generator.normal(0, 1, 12)
    own = generator.normal(0.7, 0.5, 12)
    source = [
        (Work(f"m{m}", job=f"j{j}"), float(np.exp(models[m] + 0.2 * j + generator.normal(0, 0.1))))
        for m in range(12)
        for j in range(6)
    ]
    # another device that was seen shows how much models differ in what a device does to them
    other = generator.normal(-0.5, 0.5, 12)
    source += [
        (Work(w.model, job=w.job, device="b"), s * float(np.exp(other[int(w.model[1:])])))
        for w, s in source
    ]
    target = [Work(f"m{m}", job=f"j{j}", device="c") for m in range(12) for j in range(6)]
    truth = np.array(
        [
            np.exp(models[int(w.model[1:])] + 0.2 * int(w.job[1:]) + own[int(w.model[1:])])
            for w in target
        ]
    )
    model = learn_costs(source)
    guided = most_telling(model, target, 12)
    assert len(set(guided)) == 12
    assert (
        len({target[i].model for i in guided}) == 12
    )  # every model once, without having been told so

    def error(chosen):
        learned = learn_costs([*source, *((target[i], float(truth[i])) for i in chosen)])
        return percentage_error(truth, learned.predict(target).seconds)

    assert error(guided) < 0.5 * error(range(12))
    assert error(guided) < 0.5 * error([])
    assert most_telling(model, target[:2], 5) != []
    assert most_telling(model, [], 5) == []


def test_percentage_error():
    assert percentage_error(np.array([100, 200, 50]), np.array([110, 150, 50])) == pytest.approx(
        11.6667, abs=1e-4
    )

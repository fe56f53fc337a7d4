"""Predicted device seconds."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from easeml.errors import InvalidInput
from easeml.search import CostBelief, Work, hinted_cost, learn_costs, most_telling
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


def test_hints_grow_with_classes_and_with_the_configuration():
    hints = {"seconds": 0.2, "classes": 1.0, "powers": {"trees": 1.0, "leaf_rows": -0.5}}
    usual = hinted_cost(hints, 1000, 10, classes=2)
    assert usual == pytest.approx(0.2)
    assert hinted_cost(hints, 1000, 10, classes=6) == pytest.approx(3 * usual)
    assert hinted_cost(hints, 1000, 10, shares={"trees": 4.0}) == pytest.approx(4 * usual)
    told = hinted_cost(hints, 1000, 10, shares={"trees": 2.0, "leaf_rows": 4.0, "other": 9.0})
    assert told == pytest.approx(usual)


@pytest.mark.parametrize(
    "hints",
    [
        {"per_row": 1.0},
        {"base": -1.0},
        {"base": "1"},
        {"seconds": 1.0, "base": 1.0},
        {"seconds": 1.0, "powers": 2},
        {"seconds": 1.0, "powers": {"trees": "1"}},
    ],
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


def runs_with_overhead(count: int) -> list[tuple[Work, float]]:
    """Runs of four models on twelve tables: half a second each, and what grows with the rows."""
    generator = np.random.default_rng(3)
    tables = np.exp(generator.uniform(np.log(100), np.log(40_000), 12)).astype(int).tolist()
    found = []
    for _ in range(count):
        place = int(generator.integers(4))
        rows = tables[int(generator.integers(12))]
        own = 0.01 * 8**place * (rows / 1000) ** (0.7 + place / 5)
        noise = float(np.exp(generator.normal(0, 0.1)))
        work = Work(f"m{place}", rows, 10, job=f"j{rows}", hinted=0.02 * 8**place)
        found.append((work, (0.5 + own) * noise))
    return found


def test_what_every_run_takes_is_told_from_what_grows_with_the_rows():
    runs = runs_with_overhead(120)
    small, large = Work("m0", 100, 10, hinted=0.02), Work("m3", 20_000, 10, hinted=10.0)
    with_overhead, without = learn_costs(runs, overhead=0.2), learn_costs(runs)
    true = 0.5 + 0.01 * 512 * 20**1.3
    assert seconds(with_overhead, small, large) == pytest.approx([0.5, true], rel=0.35)
    unknown = Work("new", 100, 10, hinted=0.003)
    assert seconds(without, unknown) < 0.2
    assert seconds(with_overhead, unknown) > 0.4


def test_a_belief_that_follows_each_run_is_near_one_that_learns_from_all():
    runs = runs_with_overhead(60)
    belief = CostBelief.of([])
    for work, measured in runs:
        belief = belief.after(work, measured)
    works = [work for work, _ in runs[:20]]
    anew = CostBelief.of(runs).predict(works)
    np.testing.assert_allclose(belief.predict(works).seconds, anew.seconds, rtol=0.15)


@pytest.mark.parametrize("useless", [0.0, -1.0, float("nan"), float("inf")])
def test_a_run_without_a_time_moves_no_belief(useless: float):
    model = CostBelief.of(runs_with_overhead(5)).model
    assert model.after(Work("m0", 100, 10), useless) is model


def test_one_run_more_gives_the_exact_posterior_where_there_is_no_overhead():
    runs = runs_with_overhead(30)
    model = learn_costs(runs[:24])
    size = model.mean.size
    known = [(w, 2 * spent) for w, spent in runs[:24] if model.after(w, spent).mean.size == size]
    grown = model
    for work, spent in known:
        grown = grown.after(work, spent)
    lines = model.lines_of([work for work, _ in known])
    design = lines.design(model.mean.size)
    targets = np.log([spent for _, spent in known]) - lines.values + design @ model.mean
    before = np.linalg.inv(model.covariance)
    covariance = np.linalg.inv(before + design.T @ design / model.noise)
    mean = covariance @ (before @ model.mean + design.T @ targets / model.noise)
    assert len(known) >= 3
    np.testing.assert_allclose(grown.mean, mean, atol=1e-8)
    np.testing.assert_allclose(grown.covariance, covariance, atol=1e-8)


def test_what_is_less_certain_is_expected_to_cost_more():
    runs = runs_with_overhead(40)
    costs = CostBelief.of(runs).predict([runs[0][0], Work("unknown", 5000, 10, hinted=0.3)])
    ratio = costs.expected / costs.seconds
    assert 1 < ratio[0] < 1.1 < ratio[1] < 1.7


def test_classes_have_an_effect():
    runs = [(Work("m", 1000, 10, classes=k), 0.1 * k) for k in (2, 3, 5, 10, 20, 40)] * 3
    model = learn_costs(runs)
    few, many = seconds(model, Work("m", 1000, 10, classes=4), Work("m", 1000, 10, classes=30))
    assert (few, many) == pytest.approx((0.4, 3.0), rel=0.3)


def recorded_runs() -> list[tuple[Work, float]]:
    """Return what ran in a real easeml: `benchmarks/live_search.py --record FILE`."""
    entries = json.loads((Path(__file__).parent / "recorded_costs.json").read_text("utf-8"))
    runs = []
    for entry in entries:
        told = entry["work"]
        runs.append((Work(**told | {"features": tuple(told["features"])}), entry["seconds"]))
    return runs


def test_after_three_tasks_no_search_is_off_by_more_than_two_at_the_median():
    belief = CostBelief.of([])
    done: defaultdict[str, int] = defaultdict(int)
    off: defaultdict[str, list[float]] = defaultdict(list)
    from_hints = []
    for work, measured in recorded_runs():
        expected = float(belief.predict([work]).expected[0])
        if done[work.job] >= 3:
            off[work.job].append(max(expected / measured, measured / expected))
            from_hints.append(max(work.hinted / measured, measured / work.hinted))
        done[work.job] += 1
        belief = belief.after(work, measured)
    medians = [median(factors) for factors in off.values()]
    assert len(medians) >= 5
    assert max(medians) < 2
    learned = [factor for factors in off.values() for factor in factors]
    assert median(learned) < median(from_hints)


@pytest.mark.parametrize("overhead", [0.0, 0.5])
def test_runs_far_shorter_than_the_overhead_that_was_believed_are_learned(overhead: float) -> None:
    rng = np.random.default_rng(0)
    belief = CostBelief.of((), overhead)
    hinted = dict(zip("abcdefgh", 0.02 * np.exp(rng.normal(0, 1, 8)), strict=True))
    order = [*"abcdefgh"] * 3 + ["a"] * 70
    for model in order:
        work = Work(model, 330, 10, (rng.random(),), job="one", hinted=hinted[model])
        belief = belief.after(work, hinted[model] * np.exp(rng.normal(0, 0.1)))
        if belief.learned_from > len(hinted):
            usual = Work("a", 330, 10, (0.5,), job="one", hinted=hinted["a"])
            assert seconds(belief, usual)[0] < 2.5 * hinted["a"]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_known_of_works_stays_true_as_runs_come(seed):
    rng = np.random.default_rng(seed)
    works = [
        Work(f"m{rng.integers(4)}", rows, 5, (float(rng.random()),), device, f"job{rows % 3}", 0.5)
        for rows in rng.integers(100, 10_000, size=30).tolist()
        for device in ("", "gpu")
    ]
    belief = CostBelief.of([(works[0], 1.0)])
    for place in rng.permutation(len(works))[:20]:
        belief = belief.after(works[place], float(rng.uniform(0.5, 9)))
        costs = belief.predict(works)
        anew = replace(belief.model, known={}).predict(works)
        assert np.array_equal(costs.seconds, anew.seconds)
        assert np.array_equal(costs.log_sd, anew.log_sd)

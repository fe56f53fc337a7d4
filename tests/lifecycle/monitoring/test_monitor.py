"""The monitor as a user meets it: fit, score, choose, save, load."""

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from monitoring_streams import world

from easeml.errors import InvalidInput
from easeml.lifecycle.monitoring import (
    AlertRules,
    Batch,
    Labelled,
    ask,
    at_random,
    choose,
    fit,
    load,
    save,
)


@pytest.fixture(scope="module")
def state() -> bytes:
    known = world(1500, 0)
    return save(fit(known.inputs, known.predicted, known.labels, known.scores))


def test_nothing_changed(state):
    new = world(600, 1)
    report, _ = ask(load(state), new.batch())
    assert report.low <= new.quality <= report.high
    assert report.estimates.confidence == pytest.approx(report.estimates.constant, abs=0.03)


@pytest.mark.parametrize("flipped", [0.0, 0.3])
def test_never_ok_where_concept_drift_cannot_be_seen(state, flipped):
    """The rows are the same whether the concept changed or not, so the answer must be, too."""
    monitor = load(state)
    for number in range(3):
        report, monitor = ask(monitor, world(600, 1 + number, flipped=flipped).batch())
        assert report.status == "inputs as before"
        assert "concept unknown since" in report.advice
        assert f"about {report.needed} rows, drawn at random, would show a fall" in report.advice
    assert report.unlabelled == monitor.unlabelled == 1800
    assert "1800 rows without labels" in report.advice


def test_enough_labels_show_that_all_is_well(state):
    new = world(600, 1)
    query = choose(load(state), new.batch(), budget=150, seed=0)
    report, following = ask(load(state), new.labelled(query))
    assert (report.status, following.unlabelled) == ("ok", 0)
    assert "nothing to do" in report.advice
    assert "The share that is right is" in report.advice  # not the application's objective
    few = choose(load(state), new.batch(), budget=3, seed=0)
    assert ask(load(state), new.labelled(few))[0].status != "ok", "three labels show nothing"


def test_ok_rules_a_plain_fall_out(state):
    """Fifty labels of a batch whose quality fell by .1 to .2 left "ok" where they said .1 to .3 lower."""
    monitor = load(state)
    for number in range(12):
        new = world(500, 40 + number, flipped=0.35)
        query = choose(monitor, new.batch(), budget=50, seed=number)
        report, _ = ask(monitor, new.labelled(query))
        fell = report.reference - new.quality
        assert fell > 0.1
        assert report.status != "ok", (report.low, report.score)


def test_labels_that_leave_a_fall_possible_are_said_to_be_too_few(state):
    new = world(600, 1)
    query = choose(load(state), new.batch(), budget=40, seed=2)
    report, _ = ask(load(state), new.labelled(query))
    assert report.status == "inputs as before"
    assert "40 labels do not rule out a fall of 0.1" in report.advice
    assert "None" not in report.advice
    assert "0 rows without labels" not in report.advice


def test_days_without_labels_are_counted_where_days_are_known(state):
    new = world(600, 1)
    query = choose(load(state), new.batch(), budget=150, seed=0)
    told = replace(new.labelled(query), day=date(2024, 5, 1))
    _, monitor = ask(load(state), told)
    later = replace(new.batch(), day=date(2024, 5, 8))
    report, _ = ask(load(save(monitor)), later)
    assert report.days == 7
    assert "since 7 days without labels" in report.advice


def test_asking_changes_nothing_that_was_given(state):
    monitor = load(state)
    before = save(monitor)
    new = world(300, 5)
    first, following = ask(monitor, new.batch())
    assert save(monitor) == before
    assert ask(monitor, new.batch())[0].to_json() == first.to_json()
    assert (monitor.batches, following.batches) == (0, 1)


def test_a_shift_to_harder_rows_is_estimated_without_labels(state):
    """Confidence cannot see it: the model is as sure as ever."""
    new = world(600, 2, shift=1.0)
    report, after = ask(load(state), new.batch())
    assert abs(report.score - new.quality) < 0.5 * abs(report.reference - new.quality)
    assert abs(report.estimates.confidence - new.quality) > 2 * abs(report.score - new.quality)
    assert report.low <= new.quality <= report.high
    covariate = report.drift[0]
    assert covariate.alarm and covariate.where == "hard"
    moved = after.moved(covariate)
    assert moved["hard"] == covariate.p_value
    assert set(moved) <= set(new.batch().inputs.columns), "columns, and none of their features"


def test_a_certain_drop_is_an_alert(state):
    monitor = load(state)
    monitor = replace(
        monitor,
        rules=AlertRules(drop=0.05, widest=0.5),
        trust=type(monitor.trust)(1.0, 0.0, 0.0, 0.9, 8, 100),
    )
    report, _ = ask(monitor, world(600, 3, shift=1.2).batch())
    assert report.status == "alert"
    assert "got worse" in report.advice


def test_rows_unlike_any_reference_cannot_be_judged(state):
    new = world(400, 4, shift=7.0)
    report, _ = ask(load(state), new.batch())
    assert report.status == "cannot tell"
    assert report.reasons
    assert report.low <= new.quality <= report.high
    assert "rows, drawn at random, would show a fall" in report.advice


def test_a_new_concept_needs_labels(state):
    monitor, reports = load(state), []
    changed = [world(500, 10 + i, flipped=0.4) for i in range(4)]
    for number, new in enumerate(changed):
        query = choose(monitor, new.batch(), budget=80, seed=number)
        report, monitor = ask(monitor, new.labelled(query))
        reports.append(report)
    assert reports[-1].status == "alert"
    assert any(report.drift[2].alarm for report in reports)
    assert reports[-1].low <= changed[-1].quality <= reports[-1].high
    assert reports[-1].labelled is not None


def test_what_only_labels_can_show_is_said_until_labels_are_told(state):
    changed = [world(500, 10 + i, flipped=0.8) for i in range(4)]
    blind, monitor = ask(load(state), changed[0].batch())
    assert "only labels can show" in blind.to_json()["assumes"]
    assert blind.assumes in blind.advice
    assert blind.to_frame().loc[0, "concept drift"] is None, (
        "not tested is not the same as no drift"
    )
    query = choose(monitor, changed[1].batch(), budget=150, seed=0)
    told, monitor = ask(monitor, changed[1].labelled(query))
    assert told.assumes is None
    assert told.to_frame().loc[0, "concept drift"]
    later = []
    for new in changed[2:] * 4:
        report, monitor = ask(monitor, new.batch())
        later.append(report)
    assert later[-1].status == "cannot tell", "what labels have shown to jump may jump again"
    assert later[0].high - later[0].low < later[-1].high - later[-1].low


def test_a_rescaled_column_a_new_category_and_a_lone_row_are_never_ok(state):
    new = world(400, 30)
    spoiled = {
        "hard": new.inputs.assign(hard=new.inputs["hard"] * 100),
        "group": new.inputs.assign(group="new"),
    }
    for name, inputs in spoiled.items():
        report, _ = ask(load(state), Batch(inputs, new.predicted, new.scores))
        assert report.status in ("watch", "alert", "cannot tell")
        assert report.drift[0].alarm and report.drift[0].where.startswith(name)
    lone = Batch(new.inputs.iloc[:1], new.predicted[:1], new.scores[:1])
    assert ask(load(state), lone)[0].status in ("inputs as before", "cannot tell")


def test_labels_chosen_at_random_are_welcome_too(state):
    new = world(500, 20)
    rows = np.random.default_rng(0).choice(500, 50, replace=False)
    report, _ = ask(load(state), new.labelled(at_random(rows, 500)))
    assert report.low <= new.quality <= report.high


def test_state_is_plain_and_goes_on(state):
    new = world(300, 5)
    first, monitor = ask(load(state), new.batch())
    again = load(save(monitor))
    assert again.batches == 1
    assert ask(load(state), new.batch())[0].to_json() == first.to_json()
    assert json.loads(json.dumps(first.to_json()))["score"] == first.score
    with np.load(__import__("io").BytesIO(state), allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "iuf" for name in archive.files)


def test_hostile_state_is_refused(state):
    import io
    import pickle

    for data in (b"", b"x" * 100, pickle.dumps({"a": 1}), state[: len(state) // 2]):
        with pytest.raises(InvalidInput):
            load(data)
    with np.load(io.BytesIO(state), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, value in {
        "forest_left": arrays["forest_left"] * 0,  # a tree that would never end
        "forest_feature": arrays["forest_feature"] + 1000,
        "right": arrays["right"][:-1],
        "features": np.full_like(arrays["features"], np.nan),
        "head": np.frombuffer(b"{}", dtype=np.uint8),
        "expected": np.array([object()] * 3),
    }.items():
        out = io.BytesIO()
        np.savez(out, **{**arrays, name: value})
        with pytest.raises(InvalidInput):
            load(out.getvalue())


@pytest.mark.parametrize("is_sample", [True, False])
def test_rows_whose_truths_are_all_there_are_judged_by_them_however_unlike_they_are(
    state, is_sample: bool
):
    new = world(400, 4, shift=7.0)
    query = at_random(np.arange(400), 400)
    batch = replace(new.labelled(query), at_random=is_sample)
    report, _ = ask(load(state), batch)
    assert report.status != "cannot tell"
    assert report.score == pytest.approx(new.quality, abs=0.01)
    assert report.low <= new.quality <= report.high
    assert report.high - report.low < 0.12


def test_results_show_themselves(state):
    report, _ = ask(load(state), world(200, 6).batch())
    assert list(report.to_frame()["status"]) == [report.status]
    assert report.figure().series
    assert "<table" in report.to_html()


def test_regression_counts_what_is_within_the_tolerance():
    rng = np.random.default_rng(0)
    inputs = pd.DataFrame({"x": rng.normal(size=2400)})
    labels = inputs["x"].to_numpy() * 3
    predicted = labels + rng.normal(size=2400) * (1 + 3 * (inputs["x"].to_numpy() > 0.5))
    known, new = slice(0, 1200), inputs["x"].to_numpy()[1200:] > 0
    monitor = fit(inputs[known], predicted[known], labels[known], task="regression")
    errors = np.abs(predicted[known] - labels[known])
    assert monitor.tolerance == pytest.approx(np.quantile(errors, 0.8))
    rows = np.flatnonzero(new) + 1200
    truth = float((np.abs(predicted[rows] - labels[rows]) <= monitor.tolerance).mean())
    report, _ = ask(load(save(monitor)), Batch(inputs.iloc[rows], predicted[rows]))
    assert report.low <= truth <= report.high
    assert abs(report.score - truth) < abs(report.reference - truth) / 2


def test_errors_of_a_good_model_that_double_are_an_alert():
    """Told by 100 labels, though both errors are small beside what the target varies."""
    rng = np.random.default_rng(0)
    inputs = pd.DataFrame({"x": rng.normal(size=1400)})
    labels = inputs["x"].to_numpy() * 10
    errors = rng.normal(size=1400) * np.where(np.arange(1400) < 1000, 1.0, 2.0)
    predicted = labels + errors
    monitor = fit(inputs[:1000], predicted[:1000], labels[:1000], task="regression")
    batch = Batch(inputs[1000:], predicted[1000:])
    query = choose(monitor, batch, budget=100, seed=0)
    told = Labelled(query, labels[1000:][query.rows])
    report, _ = ask(monitor, replace(batch, labelled=told))
    assert report.status == "alert"


def test_many_classes_with_names_and_a_class_never_seen():
    rng = np.random.default_rng(0)
    names = np.array(["cat", "dog", "eel"])
    chances = rng.dirichlet([0.5] * 3, 700)
    labels = np.array([rng.choice(names, p=row) for row in chances])
    predicted = names[chances.argmax(axis=1)]
    monitor = fit(chances[:500], predicted[:500], labels[:500], chances[:500])
    other = np.where(np.arange(200) < 5, "fox", predicted[500:])
    report, _ = ask(monitor, Batch(chances[500:], other, chances[500:]))
    assert 0 <= report.low <= report.score <= report.high <= 1
    assert report.estimates.confidence == pytest.approx(
        float((labels == predicted)[500:].mean()), abs=0.1
    )


@pytest.mark.parametrize("right", [True, False])
def test_a_model_without_errors_or_successes(right):
    labels = np.ones(200, dtype=int)
    monitor = fit(
        np.random.default_rng(0).normal(size=(200, 2)), labels if right else 1 - labels, labels
    )
    report, _ = ask(monitor, Batch(np.zeros((1, 2)), [1 if right else 0]))
    assert report.score == float(right)
    assert report.high - report.low > 0.3  # one row says little, however well the reference went


def test_gaps_and_new_levels_in_the_inputs(state):
    new = world(300, 7)
    inputs = new.inputs.assign(
        hard=new.inputs["hard"].where(np.arange(300) % 3 > 0),
        group=np.where(np.arange(300) % 2, "new", None),
    )
    report, _ = ask(load(state), Batch(inputs, new.predicted, new.scores))
    assert 0 <= report.low <= report.high <= 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda b: (b[0].iloc[:0], b[1][:0], b[2][:0]),
        lambda b: (b[0].drop(columns="hard"), b[1], b[2]),
        lambda b: (b[0], b[1][:-1], b[2]),
        lambda b: (b[0], b[1], None),
        lambda b: (b[0], b[1], b[2] * 5),
        lambda b: (b[0], b[1], np.full(len(b[2]), np.nan)),
        lambda b: (b[0], np.where(np.arange(len(b[1])) == 3, None, b[1]), b[2]),
    ],
    ids=["empty", "column", "length", "no scores", "scores", "nan", "missing prediction"],
)
def test_wrong_batches_are_refused(state, spoil):
    new = world(50, 8)
    with pytest.raises(InvalidInput):
        ask(load(state), Batch(*spoil((new.inputs, new.predicted, new.scores))))


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": np.zeros(10)},
        {"labels": np.full(100, np.nan)},
        {"tolerance": 1.0},
        {"inputs": np.zeros((10, 2))},
        {"inputs": np.zeros(100)},
        {"probabilities": np.full((100, 2), 2.0)},
        {"task": "regression", "labels": np.array(["a"] * 100)},
        {"task": "regression", "labels": np.full(100, np.inf)},
    ],
    ids=["lengths", "nan", "tolerance", "few", "shape", "probabilities", "text", "infinite"],
)
def test_wrong_references_are_refused(wrong):
    good = {
        "inputs": np.zeros((100, 2)),
        "predictions": np.zeros(100),
        "labels": np.arange(100) % 2,
    }
    with pytest.raises(InvalidInput):
        fit(**{**good, **wrong})


@pytest.mark.parametrize("wrong", [{"drop": 0.0}, {"widest": 1.0}, {"alpha": 2.0}], ids=str)
def test_wrong_rules_are_refused(wrong):
    with pytest.raises(InvalidInput):
        AlertRules(**wrong)


def test_progress_reaches_one():
    known, shares = world(300, 9), []
    fit(known.inputs, known.predicted, known.labels, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0

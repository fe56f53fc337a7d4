"""Rows that may have several labels: what is learned, chosen, kept and combined."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from easeml.data import declare, infer_table, read_table
from easeml.modules import Predictions, calibration, load_registry, score, thresholds
from easeml.modules.ensemble import TrainedEnsemble, load_model, member_folder, seal
from easeml.modules.labels import LabelChoice
from easeml.modules.pipeline import Context, fit, save
from easeml.modules.selection import choose
from easeml.modules.target import as_numbers

TOPICS = ["art", "chess", "rare", "sport"]
TOPICS_SEEN = ("art", "chess", "sport")


def table(folder: Path, rows: int = 300, none: bool = True) -> Path:
    """A file of rows whose numbers tell of three topics, and of a fourth that one row has."""
    random = np.random.default_rng(0)
    told = random.normal(size=(rows, 3))
    has = told + random.normal(0, 0.4, size=told.shape) > 0.3
    cells = []
    for row, own in enumerate(has):
        labels = [name for name, is_there in zip(TOPICS_SEEN, own, strict=True) if is_there]
        if row == 0:
            labels.append("rare")
        cells.append("; ".join(labels if labels or none else ["art"]))
    frame = pd.DataFrame(told, columns=["a", "b", "c"]).assign(topics=cells)
    path = folder / "topics.csv"
    frame.to_csv(path, index=False)
    return path


def declared(path: Path):
    read = read_table(path)
    return declare(read, infer_table(read, "topics").columns, "topics")


def trained(version, model: str, objective: str = "row-f1"):
    registry = load_registry()
    module = registry.get(model)
    chain = registry.candidates(module, version.schema_in)
    pipeline = {"transforms": [one.choice() for one in chain], "model": module.choice()}
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    return fit(pipeline, version.frames["train"], *schemas, Context(objective=objective))


@pytest.mark.parametrize("model", ["logistic", "random-forest-classifier", "lightgbm-classifier"])
def test_a_classifier_learns_each_label_and_is_loaded_as_it_was(tmp_path: Path, model: str) -> None:
    version = declared(table(tmp_path))
    found = trained(version, model)
    test = version.frames["test"]
    said = found.predict(test)
    assert said.labels is not None and said.labels.choice.names == tuple(TOPICS)
    right = as_numbers(test["topics"])
    assert score("row-f1", test["topics"], said) > 0.7
    assert (said.values == right).mean() > 0.8
    save(found, tmp_path / "model")
    again = load_model(tmp_path / "model")
    again.check_parity()
    assert np.array_equal(again.predict(test).labels.chances, said.labels.chances)
    assert len(again.predict(test.head(0)).values) == 0


def test_a_label_of_no_training_row_is_never_said_and_the_user_is_told(tmp_path: Path) -> None:
    version = declared(table(tmp_path))
    rows = version.frames["train"]
    without = rows[[not cell[TOPICS.index("rare")] for cell in rows["topics"]]]
    schemas = version.schema_in.to_json(), version.schema_out.to_json()
    registry = load_registry()
    module = registry.get("logistic")
    chain = registry.candidates(module, version.schema_in)
    pipeline = {"transforms": [one.choice() for one in chain], "model": module.choice()}
    found = fit(pipeline, without, *schemas)
    assert any("'rare' is in no training row" in note for note in found.notes)
    said = found.predict(version.frames["test"])
    assert not said.values[:, TOPICS.index("rare")].any()


def test_rows_that_always_had_a_label_get_the_likeliest_one(tmp_path: Path) -> None:
    sometimes = trained(declared(table(tmp_path)), "logistic")
    always = trained(declared(table(tmp_path, none=False)), "logistic")
    rows = pd.DataFrame({"a": [-3.0], "b": [-3.0], "c": [-3.0]})
    assert not sometimes.predict(rows).values.any()
    said = always.predict(rows)
    assert said.values.sum() == 1
    assert said.values.argmax() == said.labels.chances.argmax()


@given(
    arrays(float, (6, 3), elements=st.floats(0, 1)),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.booleans(),
)
def test_a_label_is_said_from_its_threshold_on(
    chances: np.ndarray, limits: list[float], at_least_one: bool
) -> None:
    choice = LabelChoice(("a", "b", "c"), tuple(limits), at_least_one)
    said = choice.chosen(chances)
    over = chances >= limits
    for row in range(len(chances)):
        if over[row].any() or not at_least_one:
            assert (said[row] == over[row]).all()
        else:
            assert said[row].sum() == 1
            assert chances[row, said[row].argmax()] == chances[row].max()
    assert LabelChoice.from_json(choice.to_json()) == choice


def answers_and_chances(rows: int = 400) -> tuple[np.ndarray, Predictions]:
    """Labels of which the chances that are said are half of the true ones."""
    random = np.random.default_rng(3)
    true = random.beta(0.5, 1.5, size=(rows, 4))
    actual = (random.random(true.shape) < true).astype(float)
    choice = LabelChoice(("a", "b", "c", "d"), (0.5,) * 4, at_least_one=False)
    return actual, Predictions.of_labels(true / 2, choice)


@pytest.mark.parametrize("objective", ["row-f1", "label-f1", "jaccard", "subset-accuracy"])
def test_thresholds_are_better_than_an_even_chance_on_rows_that_did_not_choose_them(
    objective: str,
) -> None:
    actual, said = answers_and_chances()
    choice, unseen = thresholds.told_by(objective, actual, said)
    assert choice is not None
    later, of_later = answers_and_chances(2000)
    later, of_later = later[400:], of_later.of_rows(np.arange(400, 2000))
    decided = thresholds.decided_by(of_later, choice)
    assert score(objective, later, decided) >= score(objective, later, of_later)
    flattered = score(objective, actual, thresholds.decided_by(said, choice))
    assert score(objective, actual, unseen) <= flattered + 0.02


def test_the_common_threshold_is_the_best_of_all_by_brute_force() -> None:
    actual, said = answers_and_chances(60)
    choice, _ = thresholds.told_by("hamming-score", actual, said)
    found = score("hamming-score", actual, thresholds.decided_by(said, choice))
    for threshold in np.linspace(0.01, 0.99, 99):
        other = said.labels.choice.with_thresholds([threshold] * 4)
        one = score("hamming-score", actual, thresholds.decided_by(said, other))
        assert one <= found + 0.03


def test_one_temperature_mends_the_chances_of_all_labels() -> None:
    random = np.random.default_rng(5)
    true = random.random((500, 3))
    actual = (random.random(true.shape) < true).astype(float)
    sure = true**3 / (true**3 + (1 - true) ** 3)
    choice = LabelChoice(("a", "b", "c"), (0.5,) * 3, at_least_one=False)
    temperature, said = calibration.calibrated(actual, Predictions.of_labels(sure, choice))
    assert temperature == pytest.approx(3, rel=0.15)
    assert np.abs(said.labels.chances - true).mean() < 0.03


def test_an_ensemble_of_labels_averages_chances_and_is_loaded_as_it_was(tmp_path: Path) -> None:
    version = declared(table(tmp_path))
    members = tuple(trained(version, name) for name in ("logistic", "random-forest-classifier"))
    judged = version.frames["validation"]
    said = [one.predict(judged) for one in members]
    found = choose("row-f1", judged["topics"], said)
    assert found.unseen.labels is not None
    choice = members[0].target.choice.with_thresholds([0.3] * 4)
    whole = TrainedEnsemble(members, (0.5, 0.5), temperature=1.2, choice=choice)
    for number, member in enumerate(members):
        save(member, member_folder(tmp_path / "both", number))
    seal(whole, tmp_path / "both", version.frames["train"])
    again = load_model(tmp_path / "both")
    again.check_parity()
    rows = version.frames["test"]
    mean = np.mean([one.predict(rows).labels.chances for one in members], axis=0)
    assert np.array_equal(again.predict(rows).values, whole.predict(rows).values)
    softer = again.predict(rows).labels.chances
    assert (np.sign(softer - 0.5) == np.sign(mean - 0.5)).all()
    assert np.array_equal(again.predict(rows).values, (softer >= 0.3).astype(float))

"""Studies and logs of other programs, read without running anything of them."""

import json
import logging
import math
import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.modules.histories import Direction, Mapped, Study, Trial, mapped, read_study

optuna = pytest.importorskip("optuna")
logging.getLogger("optuna").setLevel(logging.WARNING)

SPACES = {
    name: load_registry().get(name).space
    for name in ("lightgbm-classifier", "logistic", "random-forest-classifier")
}


MODELS = ["LGBMClassifier", "rf", "SVC"]


def objective(trial: Any) -> float:
    """A search as people write one with Optuna."""
    model = trial.suggest_categorical("classifier", MODELS)
    if model == "LGBMClassifier":
        rate = trial.suggest_float("lgbm_learning_rate", 0.02, 0.2, log=True)
        trial.suggest_int("num_leaves", 8, 64)
        trial.suggest_int("n_estimators", 50, 2000)
        trial.suggest_float("path_smooth", 0.0, 1.0)
        return 0.9 - abs(math.log(rate / 0.1)) / 10
    if model == "rf":
        trial.suggest_int("rf__min_samples_leaf", 1, 5)
        if trial.number % 5 == 0:
            raise optuna.TrialPruned
        return 0.8
    return 0.7


def searched(storage: Any, name: str = "mine", direction: str = "maximize") -> Any:
    study = optuna.create_study(
        study_name=name,
        storage=storage,
        direction=direction,
        sampler=optuna.samplers.RandomSampler(seed=3),
    )
    study.optimize(objective, n_trials=14)
    study.add_trial(
        optuna.trial.create_trial(
            params={"classifier": "rf"},
            distributions={"classifier": optuna.distributions.CategoricalDistribution(MODELS)},
            value=0.85,
        )
    )
    return study


@cache
def two_studies() -> tuple[bytes, bytes, Any]:
    """A database with one study, the same with another one, and the first study."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        address, study = f"sqlite:///{path}", searched(optuna.storages.InMemoryStorage())
        optuna.copy_study(from_study_name="mine", from_storage=study._storage, to_storage=address)
        trials, one = study.trials, path.read_bytes()
        optuna.create_study(study_name="other", storage=address, direction="minimize")
        return one, path.read_bytes(), trials


def database(folder: Path) -> tuple[Path, Any]:
    path = folder / "study.db"
    content, _, trials = two_studies()
    path.write_bytes(content)
    return path, trials


def journal(folder: Path) -> tuple[Path, Any]:
    path = folder / "journal.log"
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    return path, searched(optuna.storages.JournalStorage(backend)).trials


def table(folder: Path) -> tuple[Path, Any]:
    study = searched(None)
    path = folder / "trials.csv"
    study.trials_dataframe().to_csv(path, index=False)
    return path, study.trials


@pytest.mark.parametrize("written", [database, journal, table])
def test_a_study_is_read_as_optuna_holds_it(
    written: Callable[[Path], tuple[Path, Any]], tmp_path: Path
):
    path, trials = written(tmp_path)
    content = path.read_bytes()
    read = read_study(path, path.name)
    assert path.read_bytes() == content
    assert read.direction == Direction.MAXIMIZE
    assert [trial.value for trial in read.trials] == [trial.value for trial in trials]
    assert [dict(trial.params) for trial in read.trials] == [trial.params for trial in trials]


def test_trials_are_runs_of_our_models_or_are_left_out_with_a_reason(tmp_path: Path):
    path, trials = database(tmp_path)
    found = mapped(read_study(path, path.name), SPACES)
    assert len(found.taken) + len(found.left_out) == len(trials)
    reasons = {one.trial: one.why for one in found.left_out}
    configs = {one.trial: (one.model, one.config) for one in found.taken}
    for trial in trials:
        label, model = str(trial.number), trial.params["classifier"]
        if trial.value is None:
            assert "pruned" in reasons[label]
        elif model == "SVC":
            assert "No model here is called 'SVC'" in reasons[label]
        elif trial.params.get("n_estimators", 0) > 1000:
            assert "trees" in reasons[label]
        elif model == "rf":
            name, config = configs[label]
            assert name == "random-forest-classifier"
            assert config["leaf_rows"] == trial.params.get("rf__min_samples_leaf", 2)
        else:
            name, config = configs[label]
            assert name == "lightgbm-classifier"
            assert config["learning_rate"] == trial.params["lgbm_learning_rate"]
            assert config["leaves"] == trial.params["num_leaves"]
            assert config["bins"] == 1023  # ours, which the study does not know
    boosted = [model for model, _ in configs.values() if model == "lightgbm-classifier"]
    assert found.ignored == {"path_smooth": len(boosted)}
    assert {one.quality for one in found.taken} == {one.value for one in found.taken}


def test_a_file_of_several_studies_asks_which_one(tmp_path: Path):
    path = tmp_path / "study.db"
    path.write_bytes(two_studies()[1])
    with pytest.raises(InvalidInput, match="which study") as refused:
        read_study(path, path.name)
    assert "'mine', 'other'" in refused.value.remedy
    assert read_study(path, path.name, study="other").direction == Direction.MINIMIZE


def test_a_log_of_one_model_says_which_by_an_option(tmp_path: Path):
    path = tmp_path / "log.csv"
    path.write_text("C,penalty,val_loss,score\n0.1,l2,0.4,0.8\n10.0,l2,0.3,0.9\n1e9,l2,0.3,0.9\n")
    read = read_study(path, path.name)
    nobody = mapped(read, SPACES)
    assert not nobody.taken
    assert nobody.left_out[0].why == "It names no model."
    found = mapped(read, SPACES, "logistic")
    assert [one.config["C"] for one in found.taken] == [0.1, 10.0]
    assert [one.quality for one in found.taken] == [0.8, 0.9]
    assert len(found.left_out) == 1
    assert set(found.ignored) == {"penalty", "val_loss"}
    losses = mapped(read_study(path, path.name, value="val_loss"), SPACES, "logistic")
    assert losses.taken[0].quality < losses.taken[1].quality


def test_values_of_any_scale_keep_their_order():
    trials = [Trial(str(n), {"C": 1.0}, value) for n, value in enumerate([1e6, 3.0, 2.0, 2.5])]
    found: Mapped = mapped(Study("", Direction.MINIMIZE, trials), SPACES, "logistic")
    order = sorted(found.taken, key=lambda one: -one.quality)
    assert [one.value for one in order] == [2.0, 2.5, 3.0, 1e6]
    assert all(0 < one.quality < 1 for one in found.taken)


STRANGE = {
    "a pickle": b"\x80\x05cos\nsystem\n",
    "an empty table": b"a,value\n",
    "no value": b"a,b\n1,2\n",
    "a heading without end": b"a" * 200_000,
    "a cut database": b"SQLite format 3\x00" + b"\x00" * 200,
    "a journal with a hole": b'{"op_code": 4, "study_id": 7}\n',
    "a journal of something else": b'{"op_code": "x"}\n[1]\n',
    "many objectives": b'{"op_code": 0, "study_name": "a", "directions": [1, 2]}\n',
}


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE.keys())
def test_what_is_no_study_is_refused(content: bytes, tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_study(path, "file")


def test_a_hostile_database_gives_values_and_nothing_else(tmp_path: Path):
    path, _ = database(tmp_path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE trial_params SET distribution_json = ?", (json.dumps([1]),))
        connection.execute("DROP TABLE trial_values")
        connection.execute(
            "CREATE VIEW trial_values AS SELECT trial_id, 'x' AS value, 0 AS objective FROM trials"
        )
    connection.close()
    read = read_study(path, path.name)
    assert all(trial.value is None for trial in read.trials)


def test_a_journal_that_was_cut_in_its_last_line_is_read(tmp_path: Path):
    path, trials = journal(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"op_code": 4, "stu')
    assert len(read_study(path, path.name).trials) == len(trials)

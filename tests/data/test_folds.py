"""Folds of a small version: each row that is no test row is in one, and hangs together in it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.data import (
    Declared,
    declare,
    feed,
    infer_table,
    read_table,
    read_version,
    refine,
    write_version,
)
from easeml.data.versions.folds import FOLDS, MOST_ROWS, fold_numbers

from .tables import write


def declared(folder: Path, frame: pd.DataFrame, split: str = "random") -> Declared:
    table = read_table(write(folder, frame.to_csv(index=False)))
    return declare(table, infer_table(table, "y").columns, "y", split=split, seed=3)


def rows_of(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x, place = rng.random(count).round(6), rng.integers(0, 30, count)
    kind = rng.choice(["a", "b", "c"], count, p=[0.6, 0.3, 0.1])
    return pd.DataFrame({"x": x, "place": [f"p{one}" for one in place], "y": kind})


@settings(max_examples=15, deadline=None)
@given(count=st.integers(60, 400), seed=st.integers(0, 50))
def test_each_row_that_is_no_test_row_is_in_one_fold(
    tmp_path_factory: pytest.TempPathFactory, count: int, seed: int
) -> None:
    made = declared(tmp_path_factory.mktemp("rows"), rows_of(count, seed))
    folds = fold_numbers(made)
    assert folds is not None
    train, validation = made.frames["train"], made.frames["validation"]
    assert sorted(folds.index) == sorted([*train["_row"], *validation["_row"]])
    assert (folds.loc[validation["_row"]] == 0).all()
    of_train = folds.loc[train["_row"]].to_numpy()
    assert set(of_train) == set(range(1, FOLDS))
    for _, rows in train.groupby("y", observed=True):  # classes are spread evenly
        sizes = np.bincount(folds.loc[rows["_row"]], minlength=FOLDS)[1:]
        assert sizes.max() - sizes.min() <= 1
    again = fold_numbers(made)
    assert again is not None
    assert again.equals(folds)


def test_copies_and_groups_stay_in_one_fold(tmp_path: Path) -> None:
    one = rows_of(150)
    made = declared(tmp_path, pd.concat([one, one], ignore_index=True))
    folds = fold_numbers(made)
    assert folds is not None
    rows = pd.concat([made.frames["train"], made.frames["validation"]])
    rows["fold"] = folds.loc[rows["_row"]].to_numpy()
    assert (rows.groupby(["x", "place", "y"], observed=True)["fold"].nunique() == 1).all()

    grouped = declared(tmp_path, rows_of(300), split="group:place")
    folds = fold_numbers(grouped)
    assert folds is not None
    rows = pd.concat([grouped.frames["train"], grouped.frames["validation"]])
    rows["fold"] = folds.loc[rows["_row"]].to_numpy()
    assert (rows.groupby("place", observed=True)["fold"].nunique() == 1).all()
    assert set(rows["fold"]) == set(range(FOLDS))


def test_what_the_owner_or_a_time_divides_stays_so(tmp_path: Path) -> None:
    frame = rows_of(200)
    times = frame.assign(at=np.arange(200) + 0.5)
    assert "folds" not in declared(tmp_path, times, split="time:at").summary
    given_roles = frame.assign(part=np.resize(["train", "train", "validation", "test"], 200))
    assert "folds" not in declared(tmp_path, given_roles, split="given:part").summary


def test_many_rows_and_very_few_are_judged_by_validation_rows(tmp_path: Path) -> None:
    assert declared(tmp_path, rows_of(MOST_ROWS * 5 // 4)).summary["folds"] == FOLDS
    assert "folds" not in declared(tmp_path, rows_of(MOST_ROWS * 5 // 4 + 10)).summary
    assert "folds" not in declared(tmp_path, rows_of(20)).summary


def test_versions_that_follow_are_judged_alike_while_they_are_small(tmp_path: Path) -> None:
    made = declared(tmp_path, rows_of(200))
    more = read_table(write(tmp_path, rows_of(50, 1).to_csv(index=False)))
    assert feed(made, more, "more.csv").summary["folds"] == FOLDS
    many = read_table(write(tmp_path, rows_of(MOST_ROWS * 3 // 2, 2).to_csv(index=False)))
    assert "folds" not in feed(made, many, "many.csv").summary

    # An application of an older release goes on as it was.
    without = {name: told for name, told in made.summary.items() if name != "folds"}
    old = replace(made, summary=without)
    assert fold_numbers(old) is None
    assert "folds" not in feed(old, more, "more.csv").summary


def test_a_row_that_is_switched_off_judges_nothing(tmp_path: Path) -> None:
    made = declared(tmp_path, rows_of(200))
    off = made.frames["train"]["_row"].tolist()[:7]
    write_version(tmp_path / "version", refine(made, off=off))
    version = read_version(tmp_path / "version")
    assert version.folds is not None
    assert not set(off) & set(version.folds.index)
    assert set(version.folds.index) == {*version.train["_row"], *version.validation["_row"]}


def test_rows_that_are_divided_by_group_are_known_to_be_of_one(tmp_path: Path) -> None:
    write_version(tmp_path / "grouped", declared(tmp_path, rows_of(300), split="group:place"))
    version = read_version(tmp_path / "grouped")
    assert version.groups is not None
    rows = pd.concat([version.train, version.validation, version.test])
    rows["group"] = version.groups.loc[rows["_row"]].to_numpy()
    assert (rows.groupby("place", observed=True)["group"].nunique() == 1).all()
    assert rows["group"].nunique() == rows["place"].nunique()

    write_version(tmp_path / "random", declared(tmp_path, rows_of(300)))
    assert read_version(tmp_path / "random").groups is None

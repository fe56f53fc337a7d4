"""Rows that come back from a flow: what they change in a version, and what they cannot."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from easeml.data import (
    DatasetError,
    Declared,
    declare,
    infer_table,
    pushed,
    read_table,
    refine,
)


@pytest.fixture
def version(tmp_path: Path) -> Declared:
    path = tmp_path / "t.csv"
    lines = [
        f"{i % 10}.5,{'ab'[i % 2]}," + ("" if i % 9 == 0 else "xy"[i % 3 == 0]) for i in range(60)
    ]
    path.write_text("size,colour,kind\n" + "\n".join(lines) + "\n")
    table = read_table(path)
    return declare(table, infer_table(table, "kind").columns, "kind")


def exported(version: Declared) -> pd.DataFrame:
    parts = [frame.assign(**{"easeml.role": role}) for role, frame in version.frames.items()]
    frame = pd.concat(parts, ignore_index=True).rename(columns={"_row": "easeml.row"})
    return frame.loc[~frame["easeml.row"].isin(version.off)]


def push(
    version: Declared, frame: pd.DataFrame, folder: Path, since: Declared | None = None
) -> Declared:
    path = folder / "pushed.parquet"
    frame.to_parquet(path, index=False)
    return pushed(version, read_table(path), "pushed.parquet", since)


def test_rows_that_did_not_change_make_the_same_version(version: Declared, tmp_path: Path):
    version = refine(version, off=version.frames["train"]["_row"].tolist()[:3])
    made = push(version, exported(version), tmp_path)
    for role, frame in version.frames.items():
        pd.testing.assert_frame_equal(made.frames[role], frame)
    assert made.off == version.off


def test_train_and_pool_change_and_what_models_are_measured_on_stays(
    version: Declared, tmp_path: Path
):
    frame = exported(version)
    train, pool = (version.frames[role]["_row"].tolist() for role in ("train", "pool"))
    frame["size"] = 77.0
    frame.loc[frame["easeml.row"] == pool[0], "kind"] = "x"
    frame = frame.loc[~frame["easeml.row"].isin(train[:2])]
    made = push(version, frame, tmp_path)
    kept = made.frames["train"].set_index("_row")
    assert made.off == tuple(sorted(train[:2]))
    assert (kept.loc[train[2:], "size"] == 77.0).all()
    assert (kept.loc[train[:2], "size"] != 77.0).all()
    assert kept.loc[pool[0], "kind"] == "x"
    assert made.summary["added"] == {"train": 1}
    for role in ("validation", "test"):
        pd.testing.assert_frame_equal(made.frames[role], version.frames[role])
    measured = len(version.frames["validation"]) + len(version.frames["test"])
    assert made.notes[-1].startswith(f"{measured} rows that models are measured on")


def test_rows_that_no_version_has_are_refused(version: Declared, tmp_path: Path):
    frame = exported(version)
    with pytest.raises(DatasetError, match="no row with id 999"):
        push(version, frame.assign(**{"easeml.row": 999}), tmp_path)
    with pytest.raises(DatasetError, match="comes twice"):
        push(version, pd.concat([frame, frame.iloc[:1]]), tmp_path)
    with pytest.raises(DatasetError, match="'more' is not one of the data"):
        push(version, frame.assign(more=1.0), tmp_path)
    few = replace(version, off=())
    train = frame["easeml.role"] == "train"
    with pytest.raises(DatasetError, match="no two different answers"):
        push(few, frame.loc[~train], tmp_path)


def test_what_differs_makes_the_version_that_all_rows_make(version: Declared, tmp_path: Path):
    version = refine(version, off=version.frames["train"]["_row"].tolist()[5:8])
    frame = exported(version)
    train, pool = (version.frames[role]["_row"].tolist() for role in ("train", "pool"))
    other = frame["easeml.row"].isin([train[0], pool[0], version.frames["test"]["_row"][0]])
    frame.loc[other, "size"] = 77.0
    frame.loc[frame["easeml.row"] == pool[1], "kind"] = "x"
    gone = frame["easeml.row"].isin([train[1], train[2], pool[2]])
    whole = push(version, frame.loc[~gone], tmp_path)

    sent = frame.loc[other | gone | (frame["easeml.row"] == pool[1])].copy()
    is_gone = sent["easeml.row"].isin([train[1], train[2], pool[2]])
    sent.loc[is_gone, ["colour", "kind"]] = None
    sent.loc[is_gone, "easeml.role"] = "off"
    assert len(sent) == 7
    few = push(version, sent, tmp_path, since=version)
    same(few, whole)

    # A later push from the same beginning replaces an earlier one.
    later = push(few, exported(version).iloc[:1], tmp_path, since=version)
    back = push(few, exported(version), tmp_path)
    same(later, back)


def test_a_column_of_many_rows_travels_without_the_others(version: Declared, tmp_path: Path):
    frame = exported(version)
    frame["size"] = frame["size"] + 20
    whole = push(version, frame, tmp_path)

    sent = frame.assign(colour=None, kind=None, **{"easeml.cells": '["size"]'})
    same(push(version, sent, tmp_path, since=version), whole)

    new = pd.DataFrame({"size": [1.0], "colour": "a", "kind": "x", "easeml.row": ""})
    both = pd.concat([sent, new.assign(**{"easeml.role": "train", "easeml.cells": ""})])
    made = push(version, both.astype({"easeml.row": str}), tmp_path, since=version)
    assert made.summary["first_new"] == version.next_row
    train = made.frames["train"].set_index("_row")
    kept = whole.frames["train"].set_index("_row")
    pd.testing.assert_frame_equal(train.loc[kept.index], kept)
    assert train.loc[version.next_row, "colour"] == "a"


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ('["size', "names no columns"),
        ('["length"]', "there is no column 'length'"),
        ('["size"]', "brings only some of its cells"),
    ],
)
def test_rows_with_some_cells_need_those_that_they_had(
    version: Declared, tmp_path: Path, cells: str, told: str
):
    sent = exported(version).iloc[:3].assign(**{"easeml.cells": cells})
    since = None if told.startswith("brings") else version
    with pytest.raises(DatasetError, match=told):
        push(version, sent, tmp_path, since=since)


def test_rows_that_are_gone_need_no_cells(version: Declared, tmp_path: Path):
    train = version.frames["train"]["_row"].tolist()
    sent = pd.DataFrame({"easeml.row": train[:2], "easeml.role": "off"})
    made = push(version, sent, tmp_path, since=version)
    assert made.off == tuple(train[:2])
    back = push(made, exported(version).iloc[:1], tmp_path, since=version)
    assert back.off == ()


def test_new_rows_get_ids_that_last(version: Declared, tmp_path: Path):
    first = version.next_row
    sent = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": "a", "kind": ["x", None, "y"]})
    sent = sent.assign(**{"easeml.row": "", "easeml.role": ["train", "pool", "train"]})
    made = push(version, sent, tmp_path, since=version)
    assert made.summary["first_new"] == first
    assert made.summary["added"] == {"train": 2, "pool": 1}
    assert made.frames["train"]["_row"].tolist()[-2:] == [first, first + 2]
    assert made.frames["pool"]["_row"].tolist()[-1] == first + 1
    assert made.next_row == first + 3
    assert made.off == ()

    named = sent.assign(**{"easeml.row": [str(first + 2), str(first), ""], "kind": "x"})
    again = push(made, named, tmp_path, since=version)  # as the flow gives them now
    assert again.summary["first_new"] == first + 3
    assert again.frames["train"].set_index("_row").loc[first + 2, "size"] == 1.0
    assert again.off == ()
    without = push(made, exported(version).iloc[:1], tmp_path, since=version)
    assert without.off == (first, first + 2)  # which the flow gives no more
    assert without.next_row == first + 3


def test_new_rows_are_no_rows_that_models_are_measured_on(version: Declared, tmp_path: Path):
    sent = pd.DataFrame({"size": [1.0], "colour": "a", "kind": "x", "easeml.row": ""})
    with pytest.raises(DatasetError, match="a new row has the role test"):
        push(version, sent.assign(**{"easeml.role": "test"}), tmp_path, since=version)


def test_new_rows_weigh_as_the_others_do_on_average(version: Declared, tmp_path: Path):
    ids = pd.concat([frame["_row"] for frame in version.frames.values()])
    weights = pd.Series(ids.to_numpy() % 3 + 1.0, index=ids.to_numpy(), name="weight")
    weighed = replace(version, weights=weights)
    sent = pd.DataFrame({"size": [1.0], "colour": "a", "kind": "x", "easeml.row": ""})
    made = push(weighed, sent.assign(**{"easeml.role": "train"}), tmp_path, since=weighed)
    assert made.weights is not None
    assert made.weights[version.next_row] == weights.mean()


def same(made: Declared, other: Declared) -> None:
    assert made.frames.keys() == other.frames.keys()
    for role, frame in other.frames.items():
        pd.testing.assert_frame_equal(made.frames[role], frame)
    assert (made.off, made.summary, made.notes) == (other.off, other.summary, other.notes)

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


def push(version: Declared, frame: pd.DataFrame, folder: Path) -> Declared:
    path = folder / "pushed.parquet"
    frame.to_parquet(path, index=False)
    return pushed(version, read_table(path), "pushed.parquet")


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

"""What a version has that another had not, as a file: with the other one it gives the version."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.data import (
    DatasetError,
    Declared,
    declare,
    export_version,
    infer_table,
    read_table,
    write_version,
)
from easeml.lineage.pulled import merged

ROWS = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("versions")


@pytest.fixture(scope="module")
def version(folder: Path) -> Declared:
    path = folder / "t.csv"
    lines = [
        f"{i}.5,{'' if i % 7 == 0 else 'ab'[i % 2]},w{i},{'xy'[i % 3 == 0]}" for i in range(ROWS)
    ]
    path.write_text("size,colour,words,kind\n" + "\n".join(lines) + "\n")
    table = read_table(path)
    return declare(table, infer_table(table, "kind").columns, "kind")


@settings(max_examples=15, deadline=None)
@given(
    cells=st.sets(st.integers(0, ROWS - 1), max_size=5),
    off=st.sets(st.integers(0, ROWS - 1), max_size=5),
    moved=st.integers(0, 4),
    new=st.integers(0, 3),
)
def test_another_version_and_what_differs_give_the_version(
    version: Declared, folder: Path, cells: set[int], off: set[int], moved: int, new: int
):
    frames = dict(version.frames)
    train = frames["train"].copy()
    train.loc[train["_row"].isin(cells), ["size", "colour"]] = [np.nan, None]
    added = train.iloc[:new].assign(_row=range(ROWS, ROWS + new))
    test = frames["test"]
    frames["train"] = pd.concat([train, test.iloc[:moved], added], ignore_index=True)
    frames["test"] = test.iloc[moved:].reset_index(drop=True)
    later = replace(version, frames=frames, off=tuple(sorted(off)))
    for one, other in ((version, later), (later, version)):
        before, after = written(one, folder / "before"), written(other, folder / "after")
        whole, few = folder / "whole.parquet", folder / "few.parquet"
        first = folder / "first.parquet"
        for path in (whole, few, first):
            path.unlink(missing_ok=True)  # a file that is there is not written over
        export_version(before, first)
        export_version(after, whole)
        rows = export_version(after, few, before)
        assert rows <= len(cells | off) + moved + new
        assert merged(first, few.read_bytes()).equals(pq.read_table(whole))
        few.unlink()
        assert export_version(after, few, before, cells=True) == rows
        assert merged(first, few.read_bytes()).equals(pq.read_table(whole))


def test_columns_that_do_not_differ_are_left_empty(version: Declared, folder: Path):
    frames = {role: frame.assign(size=frame["size"] + 1) for role, frame in version.frames.items()}
    before = written(version, folder / "old")
    after = written(replace(version, frames=frames), folder / "new")
    out = folder / "column.parquet"
    assert export_version(after, out, before, cells=True) == ROWS
    table = pq.read_table(out)
    assert set(table["easeml.cells"].to_pylist()) == {'["size"]'}
    for name in ("colour", "kind"):
        assert table[name].null_count == ROWS
    assert table["size"].null_count == 0


def test_only_a_table_holds_what_differs(version: Declared, folder: Path):
    kept = written(version, folder / "kept")
    with pytest.raises(DatasetError, match="only a table"):
        export_version(kept, folder / "out.zip", kept)


def written(version: Declared, folder: Path) -> Path:
    write_version(folder, version)
    return folder

"""Pictures, tensors and graphs join a version, and leave training, as rows of a table do."""

from pathlib import Path

import pytest

from data.sample_files import arrays, molecules, pictures
from easeml.data import (
    DatasetError,
    Declared,
    Wanted,
    declare,
    feed,
    infer_table,
    read_declared,
    read_table,
    refine,
    train_rows,
    write_version,
)

MAKERS = {"pictures.zip": pictures, "arrays.npz": arrays, "molecules.zip": molecules}


def declared(path: Path) -> Declared:
    table = read_table(path)
    inference = infer_table(table)
    return declare(table, inference.columns, inference.target)


@pytest.mark.parametrize("name", MAKERS)
def test_samples_are_fed_and_switched_off(tmp_path: Path, name: str):
    MAKERS[name](tmp_path / name)
    start = declared(tmp_path / name)
    grown = feed(start, read_table(tmp_path / name), name)
    assert grown.summary["rows"] == 2 * start.summary["rows"]
    assert "there already" in " ".join(grown.notes)
    first = int(grown.frames["train"]["_row"].iloc[0])
    write_version(tmp_path / "version", refine(grown, off=[first]))
    again = read_declared(tmp_path / "version")
    assert again.off == (first,)
    files = {path.name: path for path in (tmp_path / "version").iterdir()}
    rows, total = train_rows(files, Wanted(on=False), 0, 10)
    assert total == 1
    assert rows[0].row == first


def test_pictures_of_another_size_are_refused(tmp_path: Path):
    start = declared(pictures(tmp_path / "small.zip"))
    other = read_table(pictures(tmp_path / "large.zip", each=2, sizes=((16, 16),)))
    with pytest.raises(
        DatasetError, match=r"row 0, column 'image': the value has the shape \[16, 16, 1\]"
    ):
        feed(start, other, "large.zip")


def test_numbers_are_no_pictures(tmp_path: Path):
    start = declared(pictures(tmp_path / "small.zip"))
    (tmp_path / "rows.csv").write_text("image,label\n1,stripes\n")
    with pytest.raises(DatasetError, match="column 'image' was image, and is a plain value"):
        feed(start, read_table(tmp_path / "rows.csv"), "rows.csv")

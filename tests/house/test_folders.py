"""Removing folders in which somebody has worked."""

import os
from pathlib import Path

import pytest

from easeml.folders import remove_folder, temporary_folder

DEEP = 1500  # more than Python's calls may be nested


def nest(folder: Path) -> None:
    """Make folders in each other, with a file and a link at the end."""
    begin = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(DEEP):
            Path("d").mkdir()
            os.chdir("d")
        Path("file").write_text("x")
        Path("link").symlink_to("/")
    finally:
        os.chdir(begin)


def test_folders_however_deep_are_removed(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "kept").write_text("x")
    with temporary_folder("nested-") as made:
        (made / "link").symlink_to(beside)
        nest(made)
    assert not made.exists()
    assert (beside / "kept").exists()


def test_what_is_not_there_and_what_may_not_be_read_is_no_error(tmp_path: Path) -> None:
    remove_folder(tmp_path / "missing")
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0)
    remove_folder(tmp_path / "outer")
    assert not inner.exists()
    (tmp_path / "link").symlink_to(tmp_path)
    remove_folder(tmp_path / "link")
    assert tmp_path.exists()


def test_a_fault_within_removes_it_too() -> None:
    with pytest.raises(KeyError), temporary_folder("faulty-") as made:
        raise KeyError
    assert not made.exists()

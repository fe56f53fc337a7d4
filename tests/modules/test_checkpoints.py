"""Checkpoints: what is copied, what is not, and where the next attempt finds it."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from easeml.engine.checkpoints import Checkpoints
from easeml.errors import TooLarge
from easeml.modules import checkpoints
from easeml.modules.checkpoints import Kept, copy_files


def names(folder: Path) -> list[str]:
    """Return the names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_plain_files_are_copied_where_they_changed(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "a").write_text("1")
    (source / "b").write_text("2")
    assert copy_files(source, target) == ["a", "b"]
    assert copy_files(source, target) == []
    (source / "new").write_text("33")
    (source / "new").replace(source / "b")
    assert copy_files(source, target) == ["b"]
    assert (target / "b").read_text() == "33"
    assert copy_files(tmp_path / "none", target) == []


def test_links_pipes_and_folders_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "answers").write_text("1")
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "link").symlink_to(secret / "answers")
    (source / "folder").mkdir()
    os.mkfifo(source / "pipe")
    (source / "good").write_text("1")
    assert copy_files(source, target) == ["good"]
    assert names(target) == ["good"]
    (tmp_path / "stolen").symlink_to(secret)
    assert copy_files(tmp_path / "stolen", target) == []


def test_there_is_a_limit_of_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "LARGEST", 10)
    for name in ("a", "b"):
        (tmp_path / name).write_text("x" * 6)
    with pytest.raises(TooLarge, match="more in the folder than may be kept"):
        copy_files(tmp_path, tmp_path / "target")


def test_millions_of_lines_copy_little(tmp_path: Path) -> None:
    kept = Kept(tmp_path, tmp_path / "target")
    (tmp_path / "a").write_text("1")
    assert kept.follow() == ["a"]
    (tmp_path / "a").write_text("22")
    assert kept.follow() == []  # not yet


class Attempts:
    """The attempts of a task, as a store tells them."""

    def __init__(self, ids: list[str]):
        self._ids = ids

    def read(self) -> "Attempts":
        return self

    def __enter__(self) -> Any:
        return SimpleNamespace(unscoped=lambda: SimpleNamespace(attempts=self))

    def __exit__(self, *_: object) -> None:
        pass

    def list(self, **_: object) -> list[Any]:
        numbered = list(enumerate(self._ids, 1))
        return [
            SimpleNamespace(id=one, number=number, checkpoint="")
            for number, one in reversed(numbered)
        ]


def test_the_newest_checkpoint_of_the_task_is_brought(tmp_path: Path) -> None:
    work = tmp_path / "work"
    kept = Checkpoints(cast(Any, Attempts(["a1", "a2", "a3", "a4"])), tmp_path / "kept", work)
    for attempt in ("a1", "a2"):
        (work / "worker" / attempt / "checkpoint").mkdir(parents=True)
        (work / "worker" / attempt / "checkpoint" / "state").write_text(attempt)
    (work / "worker" / "a2" / "checkpoint-1").mkdir()  # of another member of an ensemble
    (work / "worker" / "a2" / "checkpoint-1" / "state").write_text("other")
    kept.keep_those_of(work / "worker")
    assert names(tmp_path / "kept") == ["a1", "a2"]
    (work / "dead" / "a3" / "checkpoint").mkdir(parents=True)
    with (work / "dead" / "a3" / "checkpoint" / "huge").open("wb") as file:  # no worker ends by it
        file.truncate(checkpoints.LARGEST + 1)
    (work / "own" / "a4").mkdir(parents=True)
    fourth = cast(Any, SimpleNamespace(id="a4", number=4, task_id="t"))
    kept.bring(fourth, work / "own" / "a4")
    assert (work / "own" / "a4" / "checkpoint" / "state").read_text() == "a2"
    assert (work / "own" / "a4" / "checkpoint-1" / "state").read_text() == "other"
    kept.forget(fourth)
    assert names(tmp_path / "kept") == []

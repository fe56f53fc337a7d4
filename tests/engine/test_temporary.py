"""What a killed process leaves in its temporary folder lies below the home, and is swept."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from easeml.engine.temporary_files import (
    name_below,
    remove_those_below,
    sweep,
    use_own_folder,
)


@pytest.fixture(autouse=True)
def usual_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder, in use again after each test."""
    usual = tempfile.gettempdir()
    monkeypatch.setattr(tempfile, "tempdir", usual)
    monkeypatch.setenv("TMPDIR", usual)
    return Path(usual)


def test_leftovers_are_swept_by_the_process_that_comes_next() -> None:
    with tempfile.TemporaryDirectory() as home:
        use_own_folder(Path(home), "predictor-1")
        left = Path(tempfile.mkdtemp())
        assert left.parent == Path(home, "tmp", "predictor-1")
        use_own_folder(Path(home), "worker-1")
        assert left.exists()
        use_own_folder(Path(home), "predictor-1")
        assert not left.exists()
        assert Path(tempfile.mkdtemp()).is_relative_to(home)


def test_folders_of_a_parent_that_was_killed_are_swept_and_those_of_others_stay() -> None:
    with tempfile.TemporaryDirectory() as home:
        ended = subprocess.Popen(["true"])
        ended.wait()
        folders = {}
        for parent in (ended.pid, os.getpid(), os.getppid()):
            use_own_folder(Path(home), name_below(parent, "worker-1"))
            folders[parent] = Path(tempfile.gettempdir())
        sweep(Path(home))
        there = [parent for parent, folder in folders.items() if folder.exists()]
        assert there == [os.getpid(), os.getppid()]
        remove_those_below(Path(home), os.getpid())
        assert not folders[os.getpid()].exists()
        assert folders[os.getppid()].exists()


def test_a_home_too_deep_for_sockets_uses_the_folder_of_the_system(usual_folder: Path) -> None:
    use_own_folder(Path("/" + "a" * 90), "predictor-1")
    assert Path(tempfile.gettempdir()) == usual_folder

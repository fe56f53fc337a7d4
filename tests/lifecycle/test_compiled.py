"""A cache of compiled functions that is missing, damaged or shared never breaks a call."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest
from numba.core.codegen import CodeLibrary

from easeml.lifecycle.compiled import njit

SOURCE = """
from easeml.lifecycle.compiled import njit


@njit(cache=True)
def twice(x):
    return x + x


@njit(cache=True)
def fourfold(x):
    return twice(twice(x))
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE, "utf-8")
    return imported(path)


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cached(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("*.nb[ci]"))


def test_what_was_compiled_is_kept(module: ModuleType, tmp_path: Path):
    assert module.fourfold(3) == 12
    assert len(cached(tmp_path)) == 4
    again = imported(tmp_path / "doubling.py")
    assert again.fourfold(4) == 16
    assert sum(again.fourfold.stats.cache_hits.values()) == 1


def test_a_folder_that_is_deleted_while_a_process_runs(module: ModuleType, tmp_path: Path):
    assert module.twice(3) == 6
    shutil.rmtree(tmp_path / "__pycache__")
    assert module.fourfold(3) == 12
    assert module.twice(1.5) == 3.0


def test_a_folder_that_cannot_be_written(module: ModuleType, tmp_path: Path):
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    (tmp_path / "__pycache__").write_text("a file where the folder should be")
    assert module.fourfold(3) == 12


def test_source_for_which_no_folder_can_be_found():
    space: dict = {}
    exec(compile("def thrice(x):\n    return 3 * x", "<no file>", "exec"), space)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(space["thrice"])
    assert njit(cache=True)(space["thrice"])(2) == 6


def test_damaged_files_are_compiled_anew(module: ModuleType, tmp_path: Path):
    assert module.fourfold(3) == 12
    for path in cached(tmp_path):
        path.write_bytes(path.read_bytes()[:50])
    assert imported(tmp_path / "doubling.py").fourfold(4) == 16


def test_a_library_without_an_object_is_not_kept_but_works(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def missing(self: CodeLibrary) -> bytes:
        raise RuntimeError(f"no compiled object yet for {self}")

    monkeypatch.setattr(CodeLibrary, "_get_compiled_object", missing)
    assert module.fourfold(3) == 12
    assert not [path for path in cached(tmp_path) if path.suffix == ".nbc"]


def test_processes_that_compile_at_once(tmp_path: Path):
    (tmp_path / "doubling.py").write_text(SOURCE, "utf-8")
    command = [sys.executable, "-c", "import doubling; print(doubling.fourfold(3))"]
    surroundings = {**os.environ, "PYTHONPATH": str(tmp_path)}
    running = [
        subprocess.Popen(command, cwd=tmp_path, env=surroundings, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120)[0].strip() for process in running]
    assert answers == ["12", "12"]

"""Compiled kernels come from the very same sources, or not at all."""

from pathlib import Path

import pytest

from kernel_cache import KEPT, keep_kernels, restore_kernels


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def clone(folder: Path, source: str = "first = 1") -> Path:
    """Make sources with one package; return where Numba would put what it compiles."""
    package = folder / "room"
    (package / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "kernels.py").write_text(source)
    return package / "__pycache__"


def compile_in(beside: Path, name: str = "kernel.nbi") -> None:
    (beside / name).write_text("compiled")


def test_a_second_clone_takes_what_the_first_compiled(tmp_path: Path, cache: Path):
    compile_in(clone(tmp_path / "one"))
    keep_kernels(tmp_path / "one", cache)
    beside = clone(tmp_path / "two")
    restore_kernels(tmp_path / "two", cache)
    assert (beside / "kernel.nbi").read_text() == "compiled"


def test_a_change_of_any_file_of_the_package_compiles_all_anew(tmp_path: Path, cache: Path):
    beside = clone(tmp_path)
    restore_kernels(tmp_path, cache)
    compile_in(beside)
    restore_kernels(tmp_path, cache)
    assert (beside / "kernel.nbi").exists()
    (tmp_path / "room" / "other.py").write_text("called_by_a_kernel = 2")
    restore_kernels(tmp_path, cache)
    assert not (beside / "kernel.nbi").exists()


def test_a_session_that_compiled_less_does_not_take_away(tmp_path: Path, cache: Path):
    for number, names in enumerate((["a.nbi", "b.nbi"], ["a.nbi"])):
        beside = clone(tmp_path / str(number))
        for name in names:
            compile_in(beside, name)
        keep_kernels(tmp_path / str(number), cache)
    beside = clone(tmp_path / "last")
    restore_kernels(tmp_path / "last", cache)
    assert (beside / "b.nbi").exists()


def test_old_versions_go(tmp_path: Path, cache: Path):
    for number in range(KEPT + 2):
        compile_in(clone(tmp_path / str(number), f"first = {number}"))
        keep_kernels(tmp_path / str(number), cache)
    assert len(list((cache / "room").iterdir())) == KEPT

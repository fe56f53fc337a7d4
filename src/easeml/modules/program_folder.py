"""The folder that a program of a module has to itself, what is put there and what is found there."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from easeml.folders import paths_below, temporary_folder

from . import checkpoints
from .exchange import write_numbers
from .packed import unpack
from .programs import LARGEST_OUTPUT, ProgramFailed

_DEEPEST = 6  # folders in each other that a program may leave


@contextmanager
def program_folder(files: Mapping[str, str]) -> Iterator[Path]:
    """Make the folder that a program has to itself, and take it away."""
    with temporary_folder("module-") as made:
        place = made / "own"
        for name in ("module", "data", "memory", "output", checkpoints.FOLDER):
            (place / name).mkdir(parents=True)
        unpack(files, place / "module")
        yield place


def write_features(place: Path, X: Any, exchange: str) -> None:
    """Write features of shape (rows, features) as ``data/features``; sparse ones become dense."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    features = np.asarray(dense, dtype=np.float64)
    names = numbered("x", features.shape[1])
    write_numbers(place / "data" / f"features.{exchange}", features, names)


def numbered(letter: str, count: int) -> list[str]:
    """Return names of columns."""
    return [f"{letter}{number}" for number in range(count)]


def read_memory(folder: Path, name: str, program: str) -> dict[str, bytes]:
    """Return what ``program`` of the module ``name`` learnt, file by file. Raises ``ProgramFailed``."""
    if folder.is_symlink() or not folder.is_dir():
        remedy = f"Let {program} write into the folder that --output names."
        raise ProgramFailed(f"{program} took its folder away.", where=name, remedy=remedy)
    memory: dict[str, bytes] = {}
    size = 0
    for path in sorted(paths_below(folder, _DEEPEST)):
        if path.is_symlink() or not path.is_file():
            raise ProgramFailed(f"{path.name} of {program} is not a file.", where=name)
        size += path.stat().st_size
        if size > LARGEST_OUTPUT:
            raise ProgramFailed(f"{program} wrote more than may be kept.", where=name)
        memory[path.relative_to(folder).as_posix()] = path.read_bytes()
    return memory


def write_memory(folder: Path, memory: Mapping[str, bytes]) -> None:
    """Put what was learnt where a program finds it."""
    for name, content in memory.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def as_text(memory: Mapping[str, bytes]) -> dict[str, str]:
    """Return what was learnt as text for a JSON document: nothing of it is a file by its own name."""
    return {name: base64.b64encode(content).decode() for name, content in memory.items()}


def of_text(memory: Mapping[str, str]) -> dict[str, bytes]:
    """Return what ``as_text`` made text of. Raises ``ValueError``, ``TypeError``."""
    for name in memory:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"{name} leads out of the folder")
    return {name: base64.b64decode(text) for name, text in memory.items()}

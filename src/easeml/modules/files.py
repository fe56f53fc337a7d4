"""Files of what was fitted: arrays and skops, never pickle."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from easeml.errors import Damaged


def save_json(path: Path, document: Any) -> None:
    """Write a JSON document."""
    path.write_text(json.dumps(document), "utf-8")


def load_json(path: Path) -> Any:
    """Read a JSON document. Raises ``Damaged``."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Damaged(
            f"The file cannot be read: {error}",
            where=str(path),
        ) from error


def save_arrays(path: Path, **arrays: NDArray[Any]) -> None:
    """Write arrays by name into one file."""
    np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]  # numpy's stub mixes up its own flag


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read arrays by name. Raises ``Damaged``; objects are refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise Damaged(
            f"The file cannot be read: {error}",
            where=str(path),
        ) from error


def save_estimator(path: Path, estimator: Any) -> None:
    """Write a fitted object of scikit-learn in skops' format."""
    from skops.io import dump

    dump(estimator, path)


def load_estimator(path: Path, trusted: Sequence[str]) -> Any:
    """Read a fitted object made of types that skops trusts and those of ``trusted``.

    Raises ``Damaged``.
    """
    from skops.io import load

    try:
        return load(path, trusted=list(trusted))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadZipFile) as error:
        raise Damaged(
            f"The file cannot be read: {error}",
            where=str(path),
        ) from error

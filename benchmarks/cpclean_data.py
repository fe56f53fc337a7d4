"""The data sets of the CPClean paper as rows with candidates, for the benchmarks of cleaning."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning import Incomplete


@dataclass(frozen=True)
class CpcleanData:
    """``repairs[m]`` (N, D): the training table repaired by tool m; ``truth[i]``: the candidate
    that is row i.
    """

    rows: Incomplete
    truth: np.ndarray
    names: list[str]
    repairs: np.ndarray
    X_valid: np.ndarray
    X_test: np.ndarray
    y_valid: np.ndarray
    y_test: np.ndarray

    def world(self, cleaned: set[int], default: np.ndarray) -> np.ndarray:
        """Return (N, D): true rows where cleaned, those of ``default`` elsewhere."""
        known = np.array(default)
        for row in cleaned:
            known[row] = self.rows.candidates_of(row)[self.truth[row]]
        return known


def load(folder: Path, scaling: str = "spread", most: int | None = None) -> CpcleanData:
    """Read one missingness folder. Categories are one-hot; numbers are scaled by what the mean
    repair holds.

    ``scaling``: 'spread', by mean and standard deviation, or 'range', to [0, 1], as in the
    published experiments. ``most``: only so many rows of each part are read.
    """
    truth, valid, test = (
        _read(folder / f"X_{part}.csv", most) for part in ("train_ground_truth", "val", "test")
    )
    labels = {
        part: _read(folder / f"y_{part}.csv", most).iloc[:, 0].map(str).to_numpy()
        for part in ("train", "val", "test")
    }
    with zipfile.ZipFile(folder / "X_train_repairs.zip") as archive:
        repairs = {
            Path(name).stem: _read(archive.open(name), most) for name in sorted(archive.namelist())
        }
    base = repairs["mean"]
    numbers = [c for c in base if pd.api.types.is_numeric_dtype(base[c]) and base[c].dtype != bool]
    known = base[numbers]
    centre = known.min() if scaling == "range" else known.mean()
    scale = (known.max() - known.min() if scaling == "range" else known.std(ddof=0)).replace(0, 1)
    everything = pd.concat([*repairs.values(), truth, valid, test])
    levels = {
        c: np.array(sorted(everything[c].map(str).unique())) for c in base if c not in numbers
    }

    def encode(frame: pd.DataFrame) -> np.ndarray:
        parts = [((frame[numbers] - centre) / scale).to_numpy(float)]
        for column, known in levels.items():
            parts.append(
                (frame[column].map(str).to_numpy(dtype=object)[:, None] == known).astype(float)
            )
        return np.round(np.concatenate(parts, axis=1), 9)

    tables = np.stack([encode(table) for table in repairs.values()])
    real = encode(truth)
    candidates = [np.unique(tables[:, i], axis=0) for i in range(len(real))]
    chosen = np.array(
        [np.abs(c - r).max(axis=1).argmin() for c, r in zip(candidates, real, strict=True)]
    )
    return CpcleanData(
        Incomplete.of(candidates, labels["train"]),
        chosen,
        list(repairs),
        tables,
        encode(valid),
        encode(test),
        labels["val"],
        labels["test"],
    )


def _read(file: Path | IO[bytes], most: int | None) -> pd.DataFrame:
    return pd.read_csv(file, keep_default_na=False, nrows=most)

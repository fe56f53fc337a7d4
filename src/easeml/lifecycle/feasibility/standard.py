"""Representations that come with easeml: nothing to download, labels never seen, all rows at once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from easeml.lifecycle.feasibility.inputs import Inputs

COMPONENTS = 50
FEATURES = 256
FEW_VALUES = 20  # of a column, which ranks would only distort
MOST_MULTIPLIED = 24  # columns: of more, products cost more than they tell


def standard(inputs: Inputs, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return matrices by name, and the one that learners start from: finite, of unit variance."""
    make = {"numbers": _numbers, "table": _table, "texts": _texts, "images": _images}[inputs.kind]
    found = {
        name: np.asarray(matrix, dtype=np.float64)
        for name, matrix in make(inputs.rows, seed).items()
    }
    parts = [found[name] for name in _BASE[inputs.kind] if name in found]
    base = _scaled(np.hstack([*parts, _gaps(inputs)]))
    found["random features"] = random_features(base, seed)
    return found, base


def _gaps(inputs: Inputs) -> np.ndarray:
    """Return (rows, columns with gaps) 1 where a cell is missing: that it is may say something."""
    if inputs.kind not in ("table", "numbers"):
        return np.zeros((len(inputs), 0))
    missing = pd.DataFrame(inputs.rows).isna().to_numpy()
    return missing[:, missing.any(axis=0)].astype(float)


_BASE = {
    "numbers": ("scaled",),
    "table": ("skrub table",),
    "texts": ("words", "characters"),
    "images": ("pixels",),
}


def random_features(matrix: np.ndarray, seed: int) -> np.ndarray:
    """Return cosines of random projections (Rahimi and Recht, 2007).

    They stand for a Gaussian kernel of the median width.
    """
    rng = np.random.default_rng(seed)
    one, other = (matrix[rng.integers(len(matrix), size=500)] for _ in range(2))
    width = float(np.sqrt(np.median(((one - other) ** 2).sum(axis=1)))) or 1.0
    directions = rng.standard_normal((matrix.shape[1], FEATURES)) / width
    return np.cos(matrix @ directions + rng.uniform(0, 2 * np.pi, FEATURES))


def products(matrix: np.ndarray) -> np.ndarray | None:
    """Return the columns, their squares and their products by two; None where that is too many.

    For what a number says depends on another, or on a category.
    """
    columns = matrix.shape[1]
    if columns > MOST_MULTIPLIED:
        return None
    one, other = np.triu_indices(columns)
    found = np.hstack([matrix, matrix[:, one] * matrix[:, other]])
    found = found[:, found.std(axis=0) > 0]
    return _scaled(found) if found.shape[1] else None


def _numbers(rows: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    from sklearn.impute import SimpleImputer

    raw = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(rows)
    scaled = _scaled(raw)
    return {"raw": raw, "scaled": scaled, "ranks": _ranks(raw), **_components(scaled, seed)}


def _table(frame: Any, seed: int) -> dict[str, np.ndarray]:
    from easeml.lifecycle.features import encode

    (encoded,) = encode(frame)
    found = {"skrub table": encoded, **_components(encoded, seed)}
    numbers = frame.select_dtypes("number")
    if numbers.shape[1]:
        filled = numbers.astype(float).fillna(numbers.astype(float).median()).fillna(0.0).to_numpy()
        found["raw"] = filled
        found["ranks"] = np.hstack([_ranks(filled), encoded / np.sqrt(encoded.shape[1])])
    strings = frame.select_dtypes(["string", "object"])
    if strings.shape[1]:
        hashed = [_minhash(strings[name]) for name in strings]
        found["skrub minhash"] = np.hstack([*hashed, encoded])
    return found


def _texts(texts: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    column = pd.Series(texts, dtype="str", name="text")
    return {
        "words": _strings(column, "word", (1, 2), seed),
        "characters": _strings(column, "char_wb", (2, 4), seed),
        "skrub minhash": _minhash(column),
    }


def _images(images: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    flat = np.nan_to_num(images.reshape(len(images), -1))
    return {
        "pixels": flat,
        "scaled": _scaled(flat),
        "gradients": gradients(np.nan_to_num(images)),
        **_components(flat, seed),
    }


def gradients(images: np.ndarray, cells: int = 4, turns: int = 8) -> np.ndarray:
    """Return histograms of edge directions over a grid of cells (Dalal and Triggs, 2005).

    One row an image.
    """
    grey = images if images.ndim == 3 else images.mean(axis=3)
    down, right = (
        np.gradient(grey, axis=(1, 2)) if min(grey.shape[1:]) > 1 else (grey * 0, grey * 0)
    )
    strength = np.hypot(down, right)
    turn = ((np.arctan2(down, right) / (2 * np.pi)) % 1 * turns).astype(int) % turns
    parts = []
    for rows in np.array_split(np.arange(grey.shape[1]), cells):
        for columns in np.array_split(np.arange(grey.shape[2]), cells):
            cell = np.ix_(np.arange(len(grey)), rows, columns)
            parts += [
                np.where(turn[cell] == t, strength[cell], 0).sum(axis=(1, 2)) for t in range(turns)
            ]
    found = np.stack(parts, axis=1)
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-9)


def _scaled(matrix: np.ndarray) -> np.ndarray:
    spread = matrix.std(axis=0)
    return (matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def normal_scores(matrix: np.ndarray) -> np.ndarray:
    """Return numbers of many values by their ranks, as if normal, all columns of unit variance.

    Skewed ones become even, and ratios of them differences.
    """
    from scipy.stats import norm

    ranks = _ranks(matrix)
    found = matrix.copy()
    for place in range(matrix.shape[1]):
        if len(np.unique(matrix[:, place])) > FEW_VALUES:
            found[:, place] = norm.ppf(ranks[:, place] - 0.5 / len(matrix))
    return _scaled(found)


def _ranks(matrix: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(matrix, axis=0) / len(matrix)


def _components(matrix: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the leading principal components that hold 90 % of the variance.

    There are none where they would not be fewer than the columns.
    """
    from sklearn.decomposition import PCA

    most = min(COMPONENTS, *matrix.shape)
    if matrix.shape[1] < 4:
        return {}
    fitted = PCA(most, random_state=seed).fit(matrix)
    kept = min(most, int(np.searchsorted(fitted.explained_variance_ratio_.cumsum(), 0.9)) + 1)
    if kept < matrix.shape[1]:
        return {"PCA": fitted.transform(matrix)[:, :kept]}
    return {}


def _strings(column: Any, analyzer: Any, lengths: tuple[int, int], seed: int) -> np.ndarray:
    from skrub import StringEncoder

    encoder = StringEncoder(
        2 * COMPONENTS, analyzer=analyzer, ngram_range=lengths, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "The matrix shape", UserWarning
        )  # few texts have few components
        found = encoder.fit_transform(column).to_numpy(dtype=float)
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-9)


def _minhash(column: Any) -> np.ndarray:
    from skrub import MinHashEncoder

    return _scaled(MinHashEncoder(n_components=30).fit_transform(column).to_numpy(dtype=float))

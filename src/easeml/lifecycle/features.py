"""Typed frames to matrices, for the tools that measure distances between rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


def encode(train: pd.DataFrame, *others: pd.DataFrame) -> tuple[np.ndarray, ...]:
    """Turn frames with the same columns into float64 matrices with the same columns.

    All is learned from ``train`` alone.

    Numbers are imputed by their median, categories become indicators (or, where there are many, the
    leading components of their n-grams, like text), dates their parts; every column is then scaled
    to unit variance. The same frames always give the same matrices.
    """
    encoder, first = fitted_encoder(train)
    return (first, *map(encoder, others))


def fitted_encoder(train: pd.DataFrame) -> tuple[Callable[[pd.DataFrame], np.ndarray], np.ndarray]:
    """Return what turns more frames into matrices as ``encode`` does, and the matrix of ``train``."""
    import numpy as np
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skrub import StringEncoder, TableVectorizer

    # By default the components would be drawn from NumPy's global random state.
    many_values = StringEncoder(random_state=0)
    encoder = make_pipeline(
        TableVectorizer(high_cardinality=many_values),
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
    )

    def encoded(frame: pd.DataFrame) -> np.ndarray:
        return np.asarray(encoder.transform(frame), dtype=np.float64)

    first = np.asarray(encoder.fit_transform(train), dtype=np.float64)
    return encoded, first

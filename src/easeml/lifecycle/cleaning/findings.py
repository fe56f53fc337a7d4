"""Findings of the detectors, as frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easeml.lifecycle.cleaning.frames import Frame

_FIELDS = ["row", "column", "reason", "suggestion", "confidence"]
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?"
"""What a number looks like, as a regular expression."""


def findings(
    rows: object, column: str, reasons: object, suggestions: object, confidence: object
) -> Frame:
    """Return findings as a frame; each field is one value for all rows, or one a row."""
    import pandas as pd

    found = pd.DataFrame({"row": np.asarray(rows, dtype=np.int64)})
    given = (column, reasons, suggestions, confidence)
    for name, value in zip(_FIELDS[1:], given, strict=True):
        if isinstance(value, str | float):
            found[name] = value  # one for all rows
        else:
            found[name] = np.asarray(value)
    return found


def joined(parts: Sequence[Frame]) -> Frame:
    """Return several frames of findings as one, which may be empty."""
    import pandas as pd

    filled = list(filter(len, parts))
    if filled:
        return pd.concat(filled, ignore_index=True)
    empty = pd.DataFrame({name: pd.Series(dtype="object") for name in _FIELDS})
    return empty.astype({"confidence": "float64"})

"""What models say of the rows on which they are tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def predicted(inputs: Path, which: str, rows: Any, role: str = "test") -> list[Any]:
    """Return what the model ``which`` says of rows: what it kept of those of a role, or says now."""
    import pandas as pd

    from easeml.kinds.shared.predictions import read_predictions
    from easeml.modules.ensemble import load_model

    ids, kept = read_predictions(inputs / f"{which}-predictions", role)
    by_row = pd.Series(list(kept.values), index=ids.astype("int64"))
    wanted = rows["_row"].to_numpy()
    if by_row.index.isin(wanted).sum() == len(wanted):
        return by_row.loc[wanted].tolist()
    return load_model(inputs / f"{which}-model").predict(rows).values.tolist()

"""What models say of the rows on which they are tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def predicted(inputs: Path, which: str, rows: Any, role: str = "test") -> list[Any]:
    """Return what the model ``which`` says of rows: what it kept of those of a role, or says now."""
    return _said(inputs, which, rows, role).tolist()


def row_scores(inputs: Path, which: str, rows: Any, answers: list[Any]) -> list[float]:
    """Return how right the model ``which`` is about test rows that may have several labels: F1."""
    import pandas as pd

    from easeml.lifecycle.evaluation import row_f1
    from easeml.lifecycle.held_out import Unseen

    said = Unseen(_said(inputs, which, rows, "test"))
    return row_f1(pd.Series(answers), said).tolist()


def _said(inputs: Path, which: str, rows: Any, role: str) -> Any:
    import numpy as np
    import pandas as pd

    from easeml.kinds.shared.predictions import read_predictions
    from easeml.modules.ensemble import load_model

    ids, kept = read_predictions(inputs / f"{which}-predictions", role)
    places = pd.Series(np.arange(len(ids)), index=ids.astype("int64"))
    wanted = rows["_row"].to_numpy()
    if places.index.isin(wanted).sum() == len(wanted):
        return kept.values[places.loc[wanted].to_numpy()]
    return load_model(inputs / f"{which}-model").predict(rows).values

"""What models say of the rows on which they are tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput


def predicted(inputs: Path, which: str, rows: Any, role: str = "test") -> list[Any]:
    """Return what the model ``which`` says of rows: what it kept of those of a role, or says now."""
    return _said(inputs, which, rows, role).values.tolist()


def chances(inputs: Path, which: str, rows: Any, positive: str) -> list[float]:
    """Return the chance that the model ``which`` gives a class in each test row.

    Raises:
        InvalidInput: if the model says no chances, or knows no such class.
    """
    from easeml.lifecycle.labels import class_name, class_names

    said = _said(inputs, which, rows, "test")
    if said.probabilities is None:
        raise InvalidInput("The model says no chances.", where="metric")
    names = class_names(said.classes).tolist()
    if class_name(positive) not in names:
        raise InvalidInput(f"The model knows no class '{positive}'.", where="positive")
    return said.probabilities[:, names.index(class_name(positive))].tolist()


def row_scores(inputs: Path, which: str, rows: Any, answers: list[Any]) -> list[float]:
    """Return how right the model ``which`` is about test rows that may have several labels: F1."""
    import pandas as pd

    from easeml.lifecycle.evaluation import row_f1
    from easeml.lifecycle.held_out import Unseen

    said = Unseen(_said(inputs, which, rows, "test").values)
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
        return kept.of_rows(places.loc[wanted].to_numpy())
    return load_model(inputs / f"{which}-model").predict(rows)

"""A forecast that lies in a folder is told other values: it stays the model that it is."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import forecasting, manifest
from .ensemble import TrainedEnsemble, load_model, member_folder
from .pipeline import TrainedPipeline

if TYPE_CHECKING:
    import pandas as pd


def tell(folder: Path, rows: "pd.DataFrame") -> None:
    """Let the forecast in a folder know the values of ``rows`` (times, series and the target), and
    no other: of what was corrected or taken away since, it keeps nothing.

    Raises as ``load_model``.
    """
    trained = load_model(folder)
    if not isinstance(trained, TrainedEnsemble):
        _tell(trained, folder, rows)
        return
    for number, member in enumerate(trained.members):
        _tell(member, member_folder(folder, number), rows)
    manifest.reseal(folder, load_model(folder).predict)


def _tell(trained: TrainedPipeline, folder: Path, rows: "pd.DataFrame") -> None:
    assert trained.past is not None
    past = trained.past.knowing(rows)
    forecasting.save(past, folder)
    manifest.reseal(folder, replace(trained, past=past).predict)

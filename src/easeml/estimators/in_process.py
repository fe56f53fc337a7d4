"""A search in this process: nothing is outside it, and nothing is left when it ends."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from easeml.data.errors import did_you_mean
from easeml.estimators.frames import typed
from easeml.estimators.outcome import Listener, Outcome, Rows, Trial, Wish
from easeml.estimators.problem import Clock, Found, Problem
from easeml.estimators.searching import Search, finish
from easeml.estimators.splitting import splits
from easeml.export.exported import LABELS, ExportedModel
from easeml.modules import conformal, load_registry
from easeml.modules.ensemble import TrainedEnsemble, member_folder, seal
from easeml.modules.pipeline import TrainedPipeline
from easeml.modules.pipeline import save as save_pipeline
from easeml.modules.weights import scaled
from easeml.objective_names import meant
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

_FROM_CALLER = 4  # the frames from ``search`` to who called ``fit``
_SAMPLE = 5  # rows that prove that a saved model predicts alike


@dataclass(frozen=True)
class LocalModel:
    """A model that was fitted here. ``labels``: what classes are called outside.

    ``sample``: typed rows that prove that a copy predicts alike; None: it is such a copy.
    """

    exported: ExportedModel
    labels: Mapping[str, Any]
    sample: pd.DataFrame | None = None

    @property
    def schema_in(self) -> Schema:
        """The columns that it reads."""
        return self.exported.schema_in

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return predictions as ``ExportedModel.predict`` does."""
        return self.exported.predict(rows)

    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Write it into a new folder, without pickle.

        Raises ``FileExistsError``, and ``ValueError`` where it was loaded from one.
        """
        if self.sample is None:
            raise ValueError("This model was loaded from a folder: copy that one.")
        model = self.exported.trained
        if folder.exists():
            raise FileExistsError(f"{folder} is there already: name a new folder.")
        folder.mkdir(parents=True)
        told = {conformal.FACT: model.manifest.get(conformal.FACT), LABELS: self.labels, **facts}
        if isinstance(model, TrainedPipeline):
            save_pipeline(model, folder, **told)
            return
        for number, member in enumerate(model.members):
            save_pipeline(member, member_folder(folder, number))
        seal(model, folder, self.sample, **told)


def search(rows: Rows, wish: Wish, tell: Listener, clock: Clock) -> Outcome:
    """Search for a model within ``wish.limit`` processor seconds of a clock.

    Warns of inputs that may know the answers. Raises ``ValueError`` for an objective or model that
    there is not, and where no model could be fitted.
    """
    table = typed(rows.frame, rows.answers, wish.kind)
    for note in table.leak_notes:
        warnings.warn(note, stacklevel=_FROM_CALLER)
    registry = load_registry()
    weights = scaled(rows.weights)
    objectives = registry.objectives_for(table.schema_out, weighted=weights is not None)
    fitting = [module.name for module in objectives]
    problem = Problem(
        table=table,
        splits=splits(rows.answers, rows.groups, wish.kind, wish.seed),
        objective=_checked(wish.objective, fitting),
        limit=wish.limit,
        trials=wish.trials,
        models=wish.models,
        threads=wish.threads,
        seed=wish.seed,
        first=tuple(wish.first),
        weights=weights,
    )
    with threadpool_limits(problem.threads):  # else OpenMP takes all cores, and waits on them
        trials = Search(registry, problem, clock).run(tell)
        found = finish(problem, trials, clock)
    trained = _with_band(found, problem)
    exported = ExportedModel(trained, table.schema_in, table.schema_out)
    return Outcome(
        model=LocalModel(exported, wish.labels, table.frame.iloc[:_SAMPLE]),
        objective=problem.objective,
        quality=found.quality,
        seconds=clock.used(),
        members=[(trial.name, weight) for trial, weight in found.members],
        refitted=found.refitted,
        trials=list(map(_facts_of, found.trials)),
    )


def _checked(objective: str, fitting: list[str]) -> str:
    """Return the objective that is asked for, or the first that fits. Raises ``ValueError``."""
    if not objective:
        return fitting[0]
    name = meant(objective)
    if name not in fitting:
        raise ValueError(
            f"There is no objective {objective!r} for these answers. "
            f"{did_you_mean(objective, fitting)}"
        )
    return name


def _with_band(found: Found, problem: Problem) -> TrainedPipeline | TrainedEnsemble:
    """Return the model, with the intervals of numbers where there are rows enough to know them."""
    band = conformal.describe(problem.actual, found.unseen, problem.held_weights)
    if band is None:
        return found.model
    return replace(found.model, manifest={conformal.FACT: band})


def _facts_of(trial: Trial) -> Trial:
    """Return a trial without what it fitted and said."""
    return replace(trial, trained=(), predictions=None)

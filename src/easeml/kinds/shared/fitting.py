"""Fitting the pipelines of what serves once more, and keeping them as one model."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from easeml.contract.tasks import WeightedPipeline, checkpoint_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline


class FitSpec(Protocol):
    """What the spec of a task says of a fit."""

    members: list[WeightedPipeline]  # of an ensemble, or the pipeline of a single model
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    temperature: float  # of an ensemble
    thresholds: list[float] | None  # of an ensemble
    seed: int


def fit_members(
    spec: FitSpec,
    rows: pd.DataFrame,
    weights: NDArray[Any] | None = None,
    checkpoints: Path | None = None,
    history: pd.DataFrame | None = None,
) -> list[TrainedPipeline]:
    """Fit each pipeline on rows.

    ``weights`` (rows,): how much each row counts, for pipelines that take them. ``checkpoints``: the
    folder in which each finds where an attempt that was killed had come to. ``history``: as of
    ``Context``.
    """
    from easeml.modules.leash import Leash
    from easeml.modules.pipeline import Context, fit

    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    fitted = []
    for number, member in enumerate(spec.members):
        enough = Leash(math.inf if member.leash is None else member.leash).is_over
        context = Context(
            seed=spec.seed,
            threads=threads,
            enough=enough,
            objective=spec.objective,
            checkpoint=None if checkpoints is None else checkpoints / checkpoint_of(number),
            weights=weights,
            history=history,
        )
        pipeline = member.pipeline.model_dump()
        trained = fit(pipeline, rows, spec.schema_in, spec.schema_out, context)
        calibrated = trained.at_temperature(member.temperature)
        fitted.append(calibrated.choosing(member.thresholds))
    return fitted


def together(spec: FitSpec, fitted: Sequence[TrainedPipeline]) -> TrainedPipeline | TrainedEnsemble:
    """Return the pipelines of ``fit_members`` as the model that they are."""
    from easeml.modules.ensemble import TrainedEnsemble

    if len(fitted) == 1:
        return fitted[0]
    weights = tuple(member.weight for member in spec.members)
    choice = fitted[0].choosing(spec.thresholds).target.choice
    return TrainedEnsemble(tuple(fitted), weights, temperature=spec.temperature, choice=choice)


def save_members(trained: TrainedPipeline | TrainedEnsemble, folder: Path, **facts: Any) -> None:
    """Write a single model, or an ensemble with its members."""
    from easeml.modules.ensemble import TrainedEnsemble, member_folder, seal
    from easeml.modules.pipeline import save

    if not isinstance(trained, TrainedEnsemble):
        save(trained, folder, **facts)
        return
    for number, member in enumerate(trained.members):
        save(member, member_folder(folder, number))
    seal(trained, folder, trained.members[0].sample, **facts)

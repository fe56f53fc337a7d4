"""How good predictions of validation rows are, and how long one takes: what trained models bring."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from easeml.contract.evaluation import CurvePoint, Evaluation
from easeml.errors import EasemlError
from easeml.kinds.shared.row_groups import groups_of
from easeml.kinds.shared.row_weights import weights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from easeml.data import VersionTables
    from easeml.modules import Predictions
    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline

_CALLS, _SECONDS_OF_CALLS = 9, 0.04  # whose fastest is the latency
_RESAMPLES = 100  # for the interval of the quality: a few milliseconds


class ModelSpec(Protocol):
    """What the spec of a task that brings a trained model says of how it is measured."""

    objective: str
    schema_out: dict[str, Any]
    measures: list[str]  # beside the objectives that fit


def qualities_of(
    spec: ModelSpec,
    version: VersionTables,
    rows: pd.DataFrame,
    predictions: Predictions,
    predict: Callable[[pd.DataFrame], Predictions],
) -> tuple[dict[str, Any], list[str]]:
    """Return ``{quality, low, high, metrics, measures}`` of predictions, and notes on what the owner
    asked for and cannot be measured.

    ``metrics``: the quality by every objective that fits; ``measures``: the same in their own
    units, and what the owner asked for (``easeml.modules.Measured``); ``low``, ``high``: 95 %
    interval of the quality. ``rows`` of the ``version``: that were predicted, by the weights that
    they have there; ``predict``: the model.
    """
    found = _by_objectives(spec, version, rows, predictions)
    further, notes = further_of(spec.measures, spec.objective, version, rows, predictions, predict)
    found["measures"] |= further
    return found, notes


def _by_objectives(
    spec: ModelSpec, version: VersionTables, rows: pd.DataFrame, predictions: Predictions
) -> dict[str, Any]:
    """Return the qualities by all objectives that fit; see ``qualities_of``."""
    from easeml.modules import interval, measured, score
    from easeml.modules.score import answers_to_score
    from easeml.modules.target import answers_of

    objective = spec.objective
    target = version.target
    actual = answers_to_score(rows[target], predictions.classes)
    learnt = answers_of(version.train[target], predictions.classes)
    weights = weights_of(version, rows["_row"])
    groups = groups_of(version, rows["_row"])
    names = _objectives(objective, spec.schema_out, weighted=weights is not None)
    metrics = {name: score(name, actual, predictions, weights) for name in names}
    measures = {}
    judged = _judged_by(version, rows)
    for name in names:
        resamples = _RESAMPLES if name == objective else 0
        found = measured(
            name,
            actual,
            predictions,
            weights,
            resamples=resamples,
            groups=groups,
            learnt=learnt,
            learnt_weights=weights_of(version, version.train["_row"]),
            target=target,
        )
        measures[name] = {**asdict(found), **judged}
    _, low, high = interval(
        objective, actual, predictions, weights, resamples=_RESAMPLES, groups=groups
    )
    return {
        "quality": metrics[objective],
        "low": low,
        "high": high,
        "metrics": metrics,
        "measures": measures,
    }


def _judged_by(version: VersionTables, rows: pd.DataFrame) -> dict[str, int]:
    """Return by how many folds so many rows have judged; nothing where the validation rows have."""
    if version.folds is None or len(rows) == len(version.validation):
        return {}
    return {"rows": len(rows), "folds": int(version.folds.max()) + 1}


def further_of(
    names: Iterable[str],
    objective: str,
    version: VersionTables,
    rows: pd.DataFrame,
    predictions: Predictions,
    predict: Callable[[pd.DataFrame], Predictions] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return what the owner asks models to be measured by, by name, and notes on what cannot be.

    ``names``: objectives, or as ``easeml.modules.further_measures``. ``rows``: of the ``version``;
    ``predict``: the model.
    """
    from easeml.modules import measured
    from easeml.modules.further_measures import measure_further, read_further

    target = version.target
    weights = weights_of(version, rows["_row"])
    # The model itself has learned from the rows that other fits have judged.
    held: Any = rows[rows["_row"].isin(version.validation["_row"])]
    held_weights = weights_of(version, held["_row"])
    found, notes = {}, []
    for name in names:
        try:
            further = read_further(name)
            if further is None:
                one = measured(
                    name,
                    rows[target],
                    predictions,
                    weights,
                    resamples=_RESAMPLES,
                    groups=groups_of(version, rows["_row"]),
                    target=target,
                )
            elif further.asks_model:
                one = measure_further(
                    further, objective, held, target, predictions, predict, held_weights
                )
            else:
                one = measure_further(further, objective, rows, target, predictions, None, weights)
            found[name] = asdict(one)
        except EasemlError as error:
            notes.append(f"Not measured: {error}")
    return found, notes


def write_evaluation(
    file: Path,
    version: VersionTables,
    frame: pd.DataFrame,
    predictions: Predictions,
    curve: Sequence[CurvePoint] = (),
) -> None:
    """Write a new file: how predictions of rows of a version differ from what is known of them.

    It is an ``Evaluation`` as JSON. It counts each row once, whatever its weight.
    ``curve``: what the model said of itself while it learned.
    """
    evaluation = _evaluation_of(frame, version.target, predictions)
    evaluation.curve = list(curve)
    if version.weights is not None:
        evaluation.weight = str(version.weights.name)
    file.write_text(evaluation.model_dump_json())


def _evaluation_of(frame: pd.DataFrame, target: str, predictions: Predictions) -> Evaluation:
    from easeml.lifecycle.evaluation import evaluate
    from easeml.lifecycle.held_out import Unseen

    rows = frame.set_index("_row")
    labels = predictions.labels.choice.names if predictions.labels else ()
    said = Unseen(
        predictions.values,
        predictions.probabilities,
        predictions.classes,
        labels,
        predictions.scales,
    )
    answers: pd.Series = rows.pop(target)
    found = evaluate(rows, answers, said)
    return Evaluation.model_validate(asdict(found))


def latency_of(trained: TrainedPipeline | TrainedEnsemble, frame: Any) -> float:
    """Return the seconds to predict one row: the fastest of some calls.

    Others may have the processor meanwhile. A call that takes long, such as one of a program, is not
    repeated: the model has predicted before, so nothing is left to load.
    """
    took: list[float] = []
    while len(took) < _CALLS and sum(took) < _SECONDS_OF_CALLS:
        began = time.perf_counter()
        trained.predict(frame.iloc[:1])
        took.append(time.perf_counter() - began)
    return min(took)


def _objectives(objective: str, schema_out: dict[str, Any], *, weighted: bool) -> list[str]:
    """Return the names of the objectives that fit, and of that of the search."""
    from easeml.modules import load_registry
    from easeml.schema import Schema

    target = Schema.from_json(schema_out)
    fitting = load_registry().objectives_for(target, weighted=weighted)
    return sorted({objective, *(one.name for one in fitting)})

"""Fitting a candidate, predicting with it, and keeping it in a folder.

What was trained is what is served: the transforms and the model are fitted, saved and loaded as
one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.data import without_columns
from easeml.errors import Damaged, InvalidInput
from easeml.search import spaces
from easeml.spans import span

from . import forecasting, manifest
from .contract import (
    Context,
    Data,
    FittedTransform,
    Predictions,
    SupervisedTransform,
    Trained,
)
from .each_answer import EachAnswer
from .module import Module, parse
from .registry import load_registry
from .target import Target
from .weights import of_rows

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from easeml.data import ColumnTable

__all__ = ["Context", "Predictions", "TrainedPipeline", "fit", "load_trained", "save"]


def _module_of(choice: Mapping[str, Any]) -> Module:
    """Return the module of a part of a pipeline: what was added to a running easeml comes with its
    description.
    """
    if choice.get("source"):
        return parse(choice["source"], choice["module"])
    return load_registry().get(choice["module"])


def takes_weights(pipeline: Mapping[str, Any]) -> bool:
    """Tell whether the model of a pipeline (JSON) learns from weights of rows."""
    return _module_of(pipeline["model"]).weights


@dataclass(frozen=True, slots=True)
class TrainedPipeline:
    """Fitted transforms and a trained model. ``notes`` tell the user what was met in the training
    data.

    ``manifest`` is what was saved with it (empty for one that was not loaded from a folder).
    ``past``: of a forecast, what it knows of the past.
    """

    description: dict[str, Any]
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    transforms: tuple[FittedTransform, ...]
    model: Trained
    target: Target
    notes: tuple[str, ...]
    sample: Any = None
    manifest: dict[str, Any] = field(default_factory=dict)
    past: "forecasting.Past | None" = None

    def predict(self, frame: "pd.DataFrame | ColumnTable") -> Predictions:
        """Predict rows of a table with the columns of ``schema_in`` (others are ignored), typed as
        in training.

        Of a forecast, values of the target that come with rows are known to all of them. Raises
        ``InvalidInput`` where a column is not there.
        """
        if len(frame) == 0:
            return self.target.nothing()
        if self.past is None:
            return self.target.predictions(self._said_of(frame))
        seen = self.past.of_rows(frame)
        differences = self._said_of(forecasting.with_seen(frame, seen))
        said = self.target.predictions(seen.values(differences))
        return replace(said, widths=seen.widths, plain=seen.level)

    def _said_of(self, data: Any) -> "NDArray[np.float64]":
        """Return what the model says of rows."""
        with span("transform"):
            for transform in self.transforms:
                data = transform.transform(data)
        with span("predict"):
            return self.model.predict(data)

    def predict_each(self, frames: "Sequence[pd.DataFrame]") -> list[Predictions]:
        """Predict several tables; in one call, where the model is a program: starting one takes far
        longer than its rows do.
        """
        import pandas as pd

        from .process import TrainedProcess

        if not isinstance(self.model, TrainedProcess):
            return list(map(self.predict, frames))
        together = pd.concat(frames, ignore_index=True)
        found = self.predict(together)
        ends = np.cumsum(list(map(len, frames)))
        return list(map(found.of_rows, np.split(np.arange(len(together)), ends[:-1])))

    def at_temperature(self, temperature: float | None) -> "TrainedPipeline":
        """Return the pipeline with calibrated probabilities, see ``calibration``; one of numbers as
        it is.
        """
        if self.target.classes is None and self.target.choice is None:
            return self
        return replace(self, target=replace(self.target, temperature=temperature))

    def choosing(self, thresholds: "Sequence[float] | None") -> "TrainedPipeline":
        """Return the pipeline with thresholds for labels of which a row may have several."""
        if self.target.choice is None:
            return self
        choice = self.target.choice.with_thresholds(thresholds)
        return replace(self, target=self.target.choosing(choice))

    def check_parity(self) -> None:
        """Predict the manifest's sample again.

        Raises ``Damaged`` where the predictions differ from those kept.
        """
        manifest.check_parity(self.manifest, self.schema_in, self.predict)


def fit(
    pipeline: Mapping[str, Any],
    frame: "pd.DataFrame",
    schema_in: Mapping[str, Any],
    schema_out: Mapping[str, Any],
    context: Context | None = None,
) -> TrainedPipeline:
    """Fit the transforms and the model of a candidate on training rows.

    ``pipeline`` is the JSON form of ``contract.tasks.Pipeline``, schemas are in their JSON form;
    ``frame`` holds their columns. Raises ``NotFound`` for an unknown module, ``InvalidInput`` for a
    wrong configuration, for weights that the model does not take, or data that cannot be learnt
    from. Whatever else comes out is a fault of a
    module.
    """
    context = context or Context()
    description = _complete(pipeline)
    _check_weights(_module_of(description["model"]), context)
    target = Target.learn(frame, schema_out).deciding_for(context.objective, context.weights)
    rows = target.sample(context)
    if rows is not None:
        frame = frame.iloc[rows]
        context = replace(context, weights=of_rows(context.weights, rows))
    data: Any = frame
    y = target.encode(frame)
    sample = manifest.spaced(frame).copy()
    past = None
    schema = schema_in
    if "forecast" in description:
        past = _past_of(description["forecast"], target.column, frame, context, schema_in)
        rows, seen = past.of_training(frame, context.seed)
        data = forecasting.with_seen(frame.iloc[rows], seen)
        y = seen.differences(y[rows])
        schema_in = without_columns(schema_in, past.rule.past_only)
        schema = forecasting.schema_with(schema_in, seen, past.rule.time)
        context = replace(context, weights=of_rows(context.weights, rows))
    transforms = []
    for choice in description["transforms"]:
        learnt = Data(data, y, target.codes)
        with span(f"fit transform {choice['module']}"):
            fitted, data = _fit_transform(choice, learnt, schema, context)
        transforms.append(fitted)
    choice = description["model"]
    signs = _signs(description.get("monotonic", {}), transforms[-1:], data)
    learnt = Data(_features(data), y, target.codes, signs)
    with span(f"fit {choice['module']}"):
        model = _learner(choice, target).fit(learnt, choice["config"], context)
    notes = tuple(chain.from_iterable(part.notes for part in (target, *transforms, model)))
    notes = forecasting.of_own_columns(notes)
    return TrainedPipeline(
        description,
        dict(schema_in),
        dict(schema_out),
        tuple(transforms),
        model,
        target,
        notes,
        sample,
        past=past,
    )


def _learner(choice: Mapping[str, Any], target: Target) -> Any:
    """Return what learns a target: of several answers a row it is fitted once an answer."""
    model = _module_of(choice).make()
    if target.choice is not None:
        return EachAnswer(model, classes=2)
    return model if target.scales is None else EachAnswer(model, classes=0)


def _past_of(
    rule: Mapping[str, Any],
    target: str,
    frame: "pd.DataFrame",
    context: Context,
    schema_in: Mapping[str, Any],
) -> "forecasting.Past":
    """Return what a forecast by a rule (JSON) knows of the past; ``schema_in``: of the data."""
    series = tuple(rule["series"])
    history = frame if context.history is None else context.history
    past_only = tuple(rule.get("past_only", ()))
    asked = forecasting.Rule(target, rule["time"], rule["ahead"], series, past_only)
    past = forecasting.Past.learn(asked, frame, history)
    nodes: Mapping[str, Any] = schema_in["nodes"]
    known_ahead = without_columns(schema_in, past_only)["nodes"]
    others = sorted(nodes.keys() - known_ahead.keys())
    return replace(past, nodes=dict(zip(others, map(nodes.__getitem__, others), strict=True)))


def _check_weights(model: Module, context: Context) -> None:
    if context.weights is not None and not model.weights:
        raise InvalidInput(
            f"{model.name} does not learn from weights of rows.",
            where="weights",
            remedy="Choose a model whose description says `weights = true`.",
        )


def _fit_transform(
    choice: Mapping[str, Any], data: Data, schema_in: Mapping[str, Any], context: Context
) -> tuple[FittedTransform, Any]:
    """Return what a transform learns of training rows, and their features."""
    transform = _module_of(choice).make()
    config = choice["config"]
    if isinstance(transform, SupervisedTransform):
        return transform.fit_transform(data, schema_in, config, context)
    fitted = transform.fit(data.X, schema_in, config, context)
    return fitted, fitted.transform(data.X)


def _signs(monotonic: Mapping[str, str], last: Sequence[Any], data: Any) -> tuple[int, ...]:
    """Return ``Data.monotonic``; ``last``: the transform whose features the model gets.

    A column that does not vary in the training rows is no feature, and nothing follows it. Raises
    ``InvalidInput`` where the transform does not keep a column as a feature of its own.
    """
    if not monotonic:
        return ()
    place_of = getattr(last[0], "place_of", None) if last else None
    if place_of is None:
        raise InvalidInput(
            "What stands before the model mixes the columns: it cannot follow one alone.",
            where="monotonic",
            remedy="Leave the model out, or the rule.",
        )
    signs = [0] * data.shape[1]
    for column, way in monotonic.items():
        place = place_of(column)
        if place is not None:
            signs[place] = 1 if way == "rising" else -1
    return tuple(signs)


def _features(data: Any) -> Any:
    """Return features as models take them: sparse ones as they are."""
    is_sparse = hasattr(data, "nnz")
    return data if is_sparse else np.ascontiguousarray(data)


def save(trained: TrainedPipeline, folder: Path, **facts: Any) -> None:
    """Write a trained model into a new or empty folder: ``manifest.json`` and one folder a part,
    without pickle.

    ``facts`` (JSON values, such as ``quality``) are kept in the manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in _parts(trained.transforms, trained.model):
        (folder / name).mkdir()
        part.save(folder / name)
    if trained.past is not None:
        forecasting.save(trained.past, folder)
    sample = manifest.sample_rows(trained.sample, trained.schema_in)
    document = manifest.describe(
        pipeline=trained.description,
        schema_in=trained.schema_in,
        schema_out=trained.schema_out,
        target=trained.target.to_json(),
        notes=list(trained.notes),
        parity=manifest.parity(sample, trained.schema_in, trained.predict),
        libraries=libraries_of(trained.description),
        facts=facts,
    )
    manifest.write(folder, document)


def libraries_of(description: Mapping[str, Any]) -> set[str]:
    """Return the distributions that the modules of a pipeline need, as pip knows them."""
    found: set[str] = set()
    for choice in _chain(description):
        found.update(_module_of(choice).libraries.values())
    return found


def load_trained(folder: Path) -> TrainedPipeline:
    """Load what ``save`` wrote. Raises ``Damaged`` where it is not whole or of another format."""
    document = manifest.read(folder)
    description = document["pipeline"]
    target = Target.from_json(document["target"])
    makers = [_module_of(choice).make() for choice in description["transforms"]]
    makers.append(_learner(description["model"], target))
    try:
        parts = [maker.load(folder / str(number)) for number, maker in enumerate(makers)]
        past = forecasting.load(folder) if "forecast" in description else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        remedy = f"It was made with {document['libraries']}; train it again."
        raise Damaged(
            f"The model cannot be loaded: {error}",
            where=str(folder),
            remedy=remedy,
        ) from error
    return TrainedPipeline(
        description=description,
        schema_in=document["schema_in"],
        schema_out=document["schema_out"],
        transforms=tuple(parts[:-1]),
        model=parts[-1],
        target=target,
        notes=tuple(document["notes"]),
        manifest=document,
        past=past,
    )


def _complete(pipeline: Mapping[str, Any]) -> dict[str, Any]:
    chain = [_complete_choice(choice, kind) for choice, kind in _kinds(pipeline)]
    complete: dict[str, Any] = {"transforms": chain[:-1], "model": chain[-1]}
    for rule in ("monotonic", "forecast"):
        if pipeline.get(rule):
            complete[rule] = dict(pipeline[rule])
    return complete


def _kinds(pipeline: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], str]]:
    return [
        *((choice, "transform") for choice in pipeline.get("transforms", [])),
        (pipeline["model"], "model"),
    ]


def _complete_choice(choice: Mapping[str, Any], kind: str) -> dict[str, Any]:
    module = _module_of(choice)
    if module.kind != kind:
        raise InvalidInput(
            f"{module.name} is a {module.kind}, not a {kind}.",
            where="pipeline",
        )
    complete = {
        "module": module.name,
        "config": spaces.complete(module.space, choice.get("config", {}), module.name),
    }
    if choice.get("source"):
        return {**complete, "source": choice["source"]}
    return complete


def _chain(description: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*description["transforms"], description["model"]]


def _parts(
    transforms: Sequence[FittedTransform], model: Trained
) -> list[tuple[str, FittedTransform | Trained]]:
    return [(str(number), part) for number, part in enumerate([*transforms, model])]

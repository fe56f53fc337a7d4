"""How far is the quality on validation rows above the truth, after all that chose by it?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.lifecycle.held_out import Predicted, Unseen
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.overfitting import Meter, Reading

_TOLERANCE = "How far a range may be off at its edges; by default what the test rows support."
_ERROR = "Of numbers: the error up to which one counts as right; by default found from the answers."
_ASSUMES = (
    "The test rows were drawn like what will come, and chose no model; nobody chose one by the \
test quality that is shown of live models."
)


@dataclass(frozen=True)
class MeterConfig:
    """What the meter promises. A meter that was read goes on with the promise that it began with."""

    tolerance: Annotated[float | None, Field(gt=0, lt=1, description=_TOLERANCE)] = None
    delta: Annotated[
        float, Field(gt=0, lt=1, description="Chance that any reading is off by more.")
    ] = 0.05
    reports: Annotated[
        int,
        Field(
            ge=1,
            le=1_000_000,
            description="Readings at most.",
            json_schema_extra={"unit": "readings"},
        ),
    ] = 100
    error: Annotated[float | None, Field(gt=0, description=_ERROR)] = None


@dataclass(frozen=True)
class Gauge:
    """The meter of the test rows, None before the first reading; ``error``: see the parameter."""

    config: MeterConfig
    meter: Meter | None = None
    error: float | None = None


def _ask(state: Gauge, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, Gauge]:
    """Read the meter for one model."""
    test: Predicted = facts["test"]
    answers: pd.Series = facts["answers"]
    error = state.error or _error(state.config, answers)
    validation = float(_right(facts["predictions"], answers, error).mean())
    scores = _right(test.by["model"], test.answers, error)
    elsewhere = facts["elsewhere"]
    meter = state.meter or _begun(state.config, len(scores), elsewhere)
    meter = replace(meter, learned_elsewhere=max(meter.learned_elsewhere, elsewhere))
    reading, after = meter.read(validation, scores)
    answer = _answer(reading, after, validation, len(answers), error)
    if state.meter is not None:
        answer = replace(answer, notes=_promised(state.config, after))
    return answer, replace(state, meter=after, error=error)


def _error(config: MeterConfig, answers: pd.Series) -> float | None:
    """Return the error up to which a number counts as right; None for classes."""
    from easeml.lifecycle.monitoring import default_tolerance

    if answers.dtype.kind != "f":
        return None
    return config.error or default_tolerance(answers.to_numpy())


def _right(said: Unseen, answers: pd.Series, error: float | None) -> np.ndarray:
    """Return 1 where a model is right about a row, else 0."""
    from easeml.lifecycle.labels import class_names

    if error is not None:
        far = np.abs(np.asarray(said.values, dtype=float) - answers.to_numpy(dtype=float))
        return (far <= error).astype(float)
    return (class_names(said.values) == class_names(answers.to_numpy())).astype(float)


def _begun(config: MeterConfig, examples: int, elsewhere: float) -> Meter:
    """Return a meter, by default with the tolerance that the rows support for a first reading."""
    from easeml.lifecycle.overfitting import EDGES, History, Meter, code_length, deviation

    tolerance = config.tolerance
    if tolerance is None:
        learned = code_length(History(), len(EDGES) + 1, config.reports) + elsewhere
        # Of very few rows, even good models are measured within more than half of all only.
        supported = [deviation(learned, examples, config.delta, at) for at in (0.5, 1.0)]
        tolerance = min(0.99, max(supported))
    return Meter(
        examples=examples,
        tolerance=tolerance,
        delta=config.delta,
        reports=config.reports,
        learned_elsewhere=elsewhere,
    )


def _answer(
    reading: Reading, meter: Meter, validation: float, rows: int, error: float | None
) -> ToolAnswer:
    numbers = [
        Number("validation", "Share that is right on validation rows", validation),
        Number("validation-rows", "Validation rows", rows),
        Number("test-rows", "Test rows", meter.examples),
        Number("tolerance", "How far the range may be off", reading.tolerance),
        Number("readings", "Readings so far", len(meter.history)),
    ]
    if error is not None:
        numbers.append(Number("error", "Error up to which a number counts as right", error))
    return ToolAnswer(
        advice=reading.advice,
        numbers=tuple(numbers),
        assumes=(_ASSUMES,),
        verdict=_verdict(reading),
        figures=(reading.figure(),),
        tables=(_history(reading),),
        told=len(meter.history) * float(np.log(meter.signals)),
    )


def _promised(config: MeterConfig, meter: Meter) -> tuple[str, ...]:
    """Say which promise a meter goes on with, where another one was asked for."""
    asked = config.tolerance or meter.tolerance, config.delta, config.reports
    if asked == (meter.tolerance, meter.delta, meter.reports):
        return ()
    promise = f"±{meter.tolerance:g}, delta {meter.delta:g}, {meter.reports} readings"
    return (f"The meter goes on with the promise that it began with: {promise}.",)


_VERDICTS = {False: "fresh", True: "overfitted", None: "cannot tell"}


def _verdict(reading: Reading) -> str:
    if reading.signal is None:
        return "worn out"
    return _VERDICTS[reading.is_above]


def _history(reading: Reading) -> Table:
    bounds = (None, *reading.edges, None)
    rows = []
    for place, signal in enumerate(reading.history, start=1):
        rows.append((place, bounds[signal - 1], bounds[signal]))
    columns = ("Reading", "Above the truth by more than", "And at most by")
    return Table("Readings", columns, tuple(rows))


def _save(state: Gauge) -> bytes:
    assert state.meter is not None  # it was read
    return json.dumps({"meter": state.meter.to_json(), "error": state.error}).encode()


def _load(config: MeterConfig, kept: bytes) -> Gauge:
    from easeml.lifecycle.overfitting import Meter

    document = json.loads(kept)
    return Gauge(config, Meter.from_json(document["meter"]), document["error"])


TOOLS = (
    Tool(
        name="meter",
        title="Are the validation rows worn out?",
        about="Shows how far quality on validation rows lies above the truth, and spares test rows.",
        needs=("inputs", "answers", "predictions", "test", "elsewhere"),
        config=MeterConfig,
        open=Gauge,
        ask=_ask,
        rows="validation",
        models="one",
        save=_save,
        load=_load,
        yes="fresh",
    ),
)

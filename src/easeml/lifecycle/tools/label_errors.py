"""Which labels look wrong? By what models that have not seen a row say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.lifecycle.held_out import unseen_by_folds
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure
    from easeml.lifecycle.labeling.label_errors import LabelErrors

_LISTED = 1000
_BINS = 20
_EXPECTED = "Wrong labels, if what is assumed is so; else the rows alone do not tell"
_UNKNOWN = (
    "The rows alone cannot tell how many of these are: a right label that the inputs do not "
    "decide looks the same."
)
_CONFIDENCE = "A row is listed if its label is wrong with at least this probability."


@dataclass(frozen=True)
class LabelErrorsConfig:
    """A lower confidence lists more rows, of which fewer are wrong."""

    confidence: Annotated[float, Field(gt=0, lt=1, description=_CONFIDENCE)] = 0.33
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0


def _open(config: LabelErrorsConfig) -> LabelErrorsConfig:
    return config


def _ask(
    state: LabelErrorsConfig, facts: Mapping[Fact, Any]
) -> tuple[ToolAnswer, LabelErrorsConfig]:
    """Every question stands alone: the state is the configuration."""
    from easeml.lifecycle.labeling import judge_answers
    from easeml.lifecycle.labeling.label_errors import ASSUMPTION, NUMBER_ASSUMPTION

    answers = facts["answers"]
    unseen = facts.get("unseen")
    if unseen is None:
        progress: Callable[[float], None] | None = facts.get("progress")
        unseen = unseen_by_folds(facts["inputs"], answers, state.seed, progress)
    judged = judge_answers(answers, unseen, confidence=state.confidence)
    predicted = unseen.values
    has_classes = hasattr(answers, "cat")
    assumed = ASSUMPTION if has_classes else NUMBER_ASSUMPTION
    places = np.flatnonzero(judged.flagged)
    places = places[np.argsort(-judged.wrong[places], kind="stable")]
    answer = ToolAnswer(
        advice=_advice(judged),
        numbers=(
            Number("listed", "Labels that look wrong", len(places)),
            Number("expected", _EXPECTED, judged.expected_wrong),
            Number("rows", "Rows", len(answers)),
        ),
        assumes=(f"{assumed[0].upper()}{assumed[1:]}.",),
        figures=(_figure(judged),),
        tables=(_table(answers, predicted, judged.wrong, places),),
        rows={"suspicion": judged.wrong, "predicted": predicted},
    )
    return answer, state


def _advice(judged: LabelErrors) -> str:
    count = int(judged.flagged.sum())
    rows = len(judged.flagged)
    if not count:
        return f"None of {rows:,} labels stands out as wrong."
    verb = "looks" if count == 1 else "look"
    stop = "Check them from the top; stop when several in a row turn out to be right."
    return f"{count:,} of {rows:,} labels {verb} wrong. {_UNKNOWN} {stop}"


def _table(
    answers: pd.Series, predicted: np.ndarray, wrong: np.ndarray, places: np.ndarray
) -> Table:
    rows = []
    for place in places[:_LISTED].tolist():
        label, guess = answers.iloc[place], predicted[place]
        rows.append((_plain(answers.index[place]), _plain(label), _plain(guess), wrong[place]))
    columns = ("Row", "Label", "Predicted", "Probability that it is wrong")
    return Table("Labels to check", columns, tuple(rows), data=columns[:3])


def _figure(judged: LabelErrors) -> Figure:
    """Draw how many labels are wrong with which probability."""
    from easeml.figures import Axis, Figure, Series, numbers

    counts, edges = np.histogram(judged.wrong[np.isfinite(judged.wrong)], _BINS, (0.0, 1.0))
    middles = numbers((edges[:-1] + edges[1:]) / 2)
    width = 0.92 / _BINS
    bars = Series("rows", middles, numbers(counts), kind="bars", tone="accent", width=width)
    return Figure(
        "How likely labels are wrong",
        Axis("probability that the label is wrong", low=0.0, high=1.0),
        Axis("rows", low=0.0),
        (bars,),
    )


def _plain(value: Any) -> Any:
    """Return a number as Python's own, anything else as a text."""
    if isinstance(value, int | float | np.integer | np.floating):
        return value.item() if isinstance(value, np.generic) else value
    return str(value)


TOOLS = (
    Tool(
        name="label-errors",
        title="Which labels look wrong?",
        about="Finds training rows whose answer contradicts what is learned from the others.",
        needs=("inputs", "answers"),
        may=("unseen", "progress"),
        config=LabelErrorsConfig,
        open=_open,
        ask=_ask,
        rows="train",
    ),
)

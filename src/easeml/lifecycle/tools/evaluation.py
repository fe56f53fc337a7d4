"""How well does a model do, on which rows not, and is it as often right as it is sure?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.evaluation import (
    Evaluation,
    evaluate,
    right_rows,
    row_errors,
    row_f1,
)
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.labels import class_names
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer
from easeml.sampling_error import of_errors, wilson

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

_TOLD_COLUMNS = 8  # inputs of a bad row that a table shows
_DRAWS, _LEAST_DRAWS, _DRAWN, _SEED = 1000, 100, 4_000_000, 20180801  # of an interval
_OF_SEVERAL = " in standard deviations"
_ASSUMES = (
    "The model has not learned from these rows.",
    "Where they chose it among others, as validation rows do, it looks better here than it is.",
    "Each row was drawn by itself. Of several rows of one person or hour intervals are too narrow.",
)


@dataclass(frozen=True)
class EvaluationConfig:
    """What is listed."""

    worst: Annotated[
        int,
        Field(ge=0, le=1000, description="Bad rows listed.", json_schema_extra={"unit": "rows"}),
    ] = 10


def _open(config: EvaluationConfig) -> EvaluationConfig:
    return config


def _ask(
    config: EvaluationConfig, facts: Mapping[Fact, Any]
) -> tuple[ToolAnswer, EvaluationConfig]:
    """Compare predictions with answers."""
    inputs: pd.DataFrame = facts["inputs"]
    answers: pd.Series = facts["answers"]
    said: Unseen = facts["predictions"]
    found = evaluate(inputs, answers, said, config.worst)
    if not found.rows:
        remedy = "Give rows whose answers are known, and are of the kind that the model predicts."
        raise InvalidInput("No row can be judged.", where="answers", remedy=remedy)
    if said.labels:
        return _of_labels(found, row_f1(answers, said)), config
    if said.classes is None:
        unit = _OF_SEVERAL if said.scales is not None else ""
        return _of_numbers(found, answers, row_errors(answers, said), unit), config
    return _of_classes(found, right_rows(answers, said), _commonest(answers, said)), config


def _commonest(answers: pd.Series, said: Unseen) -> tuple[str, int]:
    """Return the class that most rows have, and how many do."""
    assert said.classes is not None
    known = filter(set(class_names(said.classes)).__contains__, class_names(answers))
    return Counter(known).most_common(1)[0]


def _of_classes(found: Evaluation, right: np.ndarray, commonest: tuple[str, int]) -> ToolAnswer:
    share = float(right.mean())
    rows = found.rows
    common, of_common = commonest
    baseline = of_common / rows
    numbers = [
        Number("right", "Share that is right", share, *wilson(share, rows)),
        Number("baseline", f"Right if it always said {common}", baseline),
        Number("rows", "Rows", rows),
    ]
    advice = [f"It is right on {share:.1%} of {rows:,} rows."]
    if share <= baseline:
        advice.append(f"Always saying {common} is as good: look for a better one.")
    advice += _confused(found)
    if found.calibration:
        sure = _mean_confidence(found)
        numbers.append(Number("sure", "How sure it is, on average", sure))
        advice += _surer_than_right(numbers[0], sure)
    return ToolAnswer(
        advice=" ".join(advice),
        numbers=tuple(numbers),
        assumes=_ASSUMES,
        figures=_figures(found),
        tables=(_confusion(found), _worst(found, "Chance given to the actual class")),
    )


def _of_numbers(found: Evaluation, answers: pd.Series, errors: np.ndarray, unit: str) -> ToolAnswer:
    errors = errors[np.isfinite(errors)]
    error = float(errors.mean())
    numbers = [
        Number("error", f"Mean absolute error{unit}", error, *_ends_of(errors)),
        Number("rows", "Rows", found.rows),
    ]
    advice = f"It is off by {error:.4g} on average{unit}, over {found.rows:,} rows."
    if answers.dtype.kind == "f":  # not tensors
        baseline = float((answers - answers.median()).abs().mean())
        numbers.append(Number("baseline", "Mean absolute error of the median", baseline))
        if error >= baseline:
            advice = f"{advice} Always saying the median is as good: look for a better one."
    return ToolAnswer(
        advice=advice,
        numbers=tuple(numbers),
        assumes=_ASSUMES,
        figures=_figures(found),
        tables=(_worst(found, f"Absolute error{unit}"),),
    )


def _ends_of(errors: np.ndarray) -> tuple[float | None, float | None]:
    """Return the interval of the mean of errors, of which few may be large; none where none is seen.

    It is the one that a mean of errors has as an objective (``easeml.sampling_error.of_errors``).
    """
    if len(errors) < 2 or not errors.any():
        return None, None
    draws = int(np.clip(_DRAWN // len(errors), _LEAST_DRAWS, _DRAWS))
    random = np.random.default_rng(_SEED)
    low, high = of_errors(errors, np.ones(len(errors)), draws, random)
    mean = float(errors.mean())
    return min(mean, low), max(mean, high)


def _of_labels(found: Evaluation, scores: np.ndarray) -> ToolAnswer:
    """Tell of rows that may have several labels; ``scores`` (n,): F1 of each row."""
    mean = float(scores.mean())
    exact = float((scores == 1).mean())
    # Scores in [0, 1] vary by no more than shares of the same mean.
    interval = wilson(mean, len(scores))
    numbers = (
        Number("f1", "F1 by row", mean, *interval),
        Number("exact", "Rows all right", exact, *wilson(exact, len(scores))),
        Number("rows", "Rows", found.rows),
    )
    advice = f"All labels are right on {exact:.1%} of {found.rows:,} rows. F1 by row is {mean:.4g}."
    return ToolAnswer(
        advice=f"{advice}{_found_worst(found)}{_not_met(found)}",
        numbers=numbers,
        assumes=_ASSUMES,
        figures=_figures(found),
        tables=(_label_table(found), _worst(found, "F1 of its labels")),
    )


def _found_worst(found: Evaluation) -> str:
    """Return which label is found worst, as a sentence; empty where none is missed."""
    scores = {one.label: one.f1 for one in found.by_label if one.f1 is not None}
    label = min(scores, key=scores.__getitem__, default="")
    if scores.get(label, 1.0) == 1.0:
        return ""
    rows = {one.label: one.rows for one in found.by_label}
    return f" {label} is found worst (F1 {scores[label]:.4g}, {rows[label]:,} rows have it)."


def _not_met(found: Evaluation) -> str:
    """Return of which labels these rows tell nothing, as a sentence; empty where there are none."""
    unmet = [one.label for one in found.by_label if one.f1 is None]
    if not unmet:
        return ""
    return f" No row has or is given {', '.join(unmet)}: how well that is found is not known."


def _label_table(found: Evaluation) -> Table:
    told = attrgetter("label", "rows", "said", "precision", "recall", "f1")
    columns = ("Label", "Rows", "Said", "Precision", "Recall", "F1")
    return Table("How each label is found", columns, tuple(map(told, found.by_label)))


def _confused(found: Evaluation) -> list[str]:
    """Say which class is most often taken for which other one."""
    counts = np.array(found.confusion)
    np.fill_diagonal(counts, 0)
    if not counts.any():
        return []
    actual, predicted = np.unravel_index(int(counts.argmax()), counts.shape)
    taken = f"{found.labels[actual]} for {found.labels[predicted]}"
    times = int(counts[actual, predicted])
    return [f"Most often it takes {taken} ({times:,} {'row' if times == 1 else 'rows'})."]


def _mean_confidence(found: Evaluation) -> float:
    return sum(one.confidence * one.rows for one in found.calibration) / found.rows


def _surer_than_right(right: Number, sure: float) -> list[str]:
    """Say whether it is surer, or less sure, than the interval of what is right allows."""
    assert right.low is not None and right.high is not None
    if sure > right.high:
        return [f"It is surer ({sure:.1%}) than it is right: do not take its chances as they are."]
    if sure < right.low:
        return [f"It is right more often than it is sure ({sure:.1%})."]
    return []


def _figures(found: Evaluation) -> tuple[Figure, ...]:
    from easeml.figures import evaluation as figures

    of_roc = attrgetter("label", "false_positives", "true_positives", "area")
    residuals = _columns(found.residuals, "actual", "predicted")
    bins = _columns(found.calibration, "confidence", "right", "low", "high", "rows")
    drawn = (
        figures.residuals(**residuals),
        figures.roc(list(map(of_roc, found.roc))),
        figures.calibration(**bins),
    )
    return tuple(figure for figure in drawn if figure is not None)


def _columns(items: Sequence[Any], *names: str) -> dict[str, list[Any]]:
    """Return the values of some attributes of all items, by attribute."""
    return {name: list(map(attrgetter(name), items)) for name in names}


def _confusion(found: Evaluation) -> Table:
    rows = []
    for label, counts in zip(found.labels, found.confusion, strict=True):
        rows.append((label, *counts))
    note = "Rows by what they are (down) and what the model says (across)."
    return Table("Confusion of classes", ("Actual", *found.labels), tuple(rows), note)


def _worst(found: Evaluation, score: str) -> Table:
    told = list(found.worst[0].values)[:_TOLD_COLUMNS] if found.worst else []
    rows = []
    for one in found.worst:
        inputs = [one.values[name] for name in told]
        rows.append((one.row, one.actual, one.predicted, one.score, *inputs))
    columns = ("Row", "Actual", "Predicted", score, *told)
    of_rows = ("Row", "Actual", "Predicted", *told)
    return Table("Worst rows", columns, tuple(rows), data=of_rows)


TOOLS = (
    Tool(
        name="evaluation",
        several=True,
        title="How well does the model do?",
        about="Compares predictions with answers: what is confused, which rows are worst.",
        needs=("inputs", "answers", "predictions"),
        config=EvaluationConfig,
        open=_open,
        ask=_ask,
        rows="validation",
        models="one",
    ),
)

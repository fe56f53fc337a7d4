"""Figures of a lineage: what is in doubt in a relation, and what the answers of its steps say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from easeml.figures.description import Axis, Series, column, numbers
from easeml.figures.figure import Figure
from easeml.objective_names import in_words

_MOST_BARS = 60  # values that are shown one by one
_PROBABILITY = Axis("probability", low=0.0)


def doubts(cells: Mapping[str, int]) -> Figure:
    """Return how many cells are in doubt; ``cells``: their number by column."""
    names = sorted(cells, key=lambda name: -cells[name])
    counts = numbers(cells[name] for name in names)
    return Figure(
        "Cells in doubt",
        Axis("cells", low=0.0),
        Axis("column", scale="category", categories=tuple(names)),
        (Series("in doubt", counts, numbers(range(len(names))), kind="bars"),),
    )


def searched(answer: Mapping[str, Any]) -> Figure:
    """Return the quality of a search's best models with intervals; ``answer``: of ``search``."""
    models = answer["models"]
    names = tuple(f"{place}: {model['name']}" for place, model in enumerate(models, start=1))
    qualities = Series(
        "quality",
        column(models, "quality"),
        numbers(range(len(models))),
        kind="points",
        low=column(models, "low"),
        high=column(models, "high"),
    )
    return Figure(
        f"{answer['model']}, the best of {answer['trained']} models",
        Axis(f"{in_words(answer['objective'])} on validation rows"),
        Axis("model", scale="category", categories=names),
        (qualities,),
    )


def intervals(answer: Mapping[str, Any]) -> Figure | None:
    """Return the numbers of a gate, pick or monitor that have an interval; None without any."""
    known = []
    for name, bounds in answer["intervals"].items():
        if None not in (answer[name], *bounds):
            known.append((name, answer[name], *bounds))
    if not known:
        return None
    names, values, lows, highs = zip(*known, strict=True)
    found = Series(
        "estimate",
        numbers(values),
        numbers(range(len(names))),
        kind="points",
        low=numbers(lows),
        high=numbers(highs),
    )
    return Figure(
        f"Answer: {answer['verdict']}",
        Axis("value"),
        Axis("number", scale="category", categories=names),
        (found,),
    )


def distribution(values: Sequence[float], probabilities: Sequence[float]) -> Figure:
    """Return how likely each value of an answer is; of many values, how likely each range is.

    ``values`` ascending, at least one; ``probabilities`` of equal length.
    """
    if len(values) <= _MOST_BARS:
        points = Series("probability", numbers(values), numbers(probabilities), kind="points")
        return Figure("Answer over all worlds", Axis("value"), _PROBABILITY, (points,))
    width = (values[-1] - values[0]) / _MOST_BARS
    sums = [0.0] * _MOST_BARS
    for value, probability in zip(values, probabilities, strict=True):
        place = min(int((value - values[0]) / width), _MOST_BARS - 1)
        sums[place] += probability
    middles = [values[0] + (place + 0.5) * width for place in range(_MOST_BARS)]
    bars = Series(
        f"probability of a range {width:.3g} wide",
        numbers(middles),
        numbers(sums),
        kind="bars",
        width=width,
    )
    return Figure("Answer over all worlds", Axis("value"), _PROBABILITY, (bars,))

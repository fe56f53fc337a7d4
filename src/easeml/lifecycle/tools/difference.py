"""How does one model differ from another? By what both say of rows that neither learned from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer
from easeml.lifecycle.tool_answer import yes_or_no
from easeml.sampling_error import between_draws, wilson

if TYPE_CHECKING:
    import pandas as pd

_RESAMPLED = 20_000  # rows at most, in each resample
_LISTED = 20  # rows, and groups
_MISSING = "(missing)"  # what a group is called whose rows have no value
_CLOSE = 1e-9  # predictions that differ by less are the same: the order of a sum may differ
_TOLERANCE = "Of numbers: a change is more than this share of the old predictions' deviation."
_ASSUMES = (
    "The validation rows are like those that will come. They also chose among the models, so the \
gain of one that was chosen by them is flattered.",
    "The interval of the gain is of the difference on the same rows: by the bootstrap, or by those of \
both models and how much they vary together, whichever reaches farther.",
    "Each row was drawn by itself. Of several rows of one person or hour intervals are too narrow.",
)

_Ends = tuple[float, float, float]
"""A value, and the ends of its interval."""


@dataclass(frozen=True)
class DifferenceConfig:
    """What counts as a change, and how exactly it is measured."""

    tolerance: Annotated[float, Field(ge=0, le=10, description=_TOLERANCE)] = 0.1
    resamples: Annotated[
        int, Field(ge=100, le=10_000, description="Of the bootstrap of the intervals.")
    ] = 200
    rows: Annotated[
        int, Field(ge=2, description="Rows at most on which the use of columns is looked at.")
    ] = 200
    columns: Annotated[int, Field(ge=1, description="Columns at most whose use is looked at.")] = 50
    seed: Annotated[int, Field(ge=0, description="Seed of the random numbers.")] = 0


@dataclass(frozen=True, slots=True)
class _Measured:
    """Qualities of both models and the share that changed; each with its 95 % interval.

    There is no gain where no resample tells the models apart: an interval from 0 to 0 would
    claim that they are as good on other rows, too.
    """

    old: _Ends
    new: _Ends
    gain: _Ends | None
    share: _Ends


def _open(config: DifferenceConfig) -> DifferenceConfig:
    return config


def _ask(state: DifferenceConfig, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, DifferenceConfig]:
    """Compare the models ``old`` and ``new``; every question stands alone."""
    inputs, answers = facts["inputs"], facts["answers"]
    if not len(inputs):
        raise InvalidInput("There are no validation rows to compare models on.", where="inputs")
    old, new = facts["rivals"]["old"], facts["rivals"]["new"]
    said_before = old(inputs)
    said_now = new(inputs)
    changed = changed_rows(said_before, said_now, state.tolerance)
    measured = _measure(facts, said_before, said_now, changed, state)
    looked_at = inputs.columns[: state.columns]
    used_before = used_columns(old, inputs, looked_at, state)
    used_now = used_columns(new, inputs, looked_at, state)
    answer = ToolAnswer(
        advice=_advice(measured, int(changed.sum()), len(inputs)),
        numbers=(
            Number("old", "Quality of the old model on validation rows", *measured.old),
            Number("new", "Quality of the new model on validation rows", *measured.new),
            Number("gain", "Quality gained on validation rows", *(measured.gain or (0.0,))),
            Number("changed", "Share of predictions that change", *measured.share),
            Number("rows", "Validation rows", len(inputs)),
        ),
        assumes=_ASSUMES,
        verdict=_verdict(measured),
        tables=(
            _rows_table(answers, said_before, said_now, changed),
            _groups_table(inputs, changed),
            _columns_table(looked_at, used_before, used_now),
        ),
        notes=_notes(len(inputs.columns), state.columns),
    )
    return answer, state


def changed_rows(before: Any, now: Any, tolerance: float) -> np.ndarray:
    """Tell for each row (n,) whether its prediction changes.

    Another class, or a number that is further away than ``tolerance`` standard deviations of the
    numbers predicted before. Of a tensor, the cell that moved most counts.
    """
    if before.classes is not None:
        return np.asarray(before.values).astype(str) != np.asarray(now.values).astype(str)
    old = np.asarray(before.values, dtype=float)
    new = np.asarray(now.values, dtype=float)
    moved = np.abs(new - old).reshape(len(old), -1).max(axis=1)
    return moved > max(tolerance * float(np.std(old)), _CLOSE)


def used_columns(
    predict: Callable[[Any], Any],
    inputs: pd.DataFrame,
    columns: pd.Index,
    config: DifferenceConfig,
) -> set[str]:
    """Return the columns that a model looks at: shuffled, they change what it says of some row."""
    random = np.random.default_rng(config.seed)
    count = min(config.rows, len(inputs))
    chosen = inputs.iloc[np.sort(random.permutation(len(inputs))[:count])]
    plain = _outputs(predict(chosen))
    order = random.permutation(count)
    used = set()
    for column in columns:
        shuffled = chosen.copy(deep=False)
        shuffled[column] = chosen[column].iloc[order].set_axis(chosen.index)
        moved = np.abs(_outputs(predict(shuffled)) - plain)
        if moved.max() > _CLOSE:
            used.add(str(column))
    return used


def _outputs(said: Any) -> np.ndarray:
    """Return what a model says as numbers: chances where there are, else the codes of classes."""
    if said.probabilities is not None:
        return np.asarray(said.probabilities, dtype=float)
    if said.classes is None:
        return np.asarray(said.values, dtype=float)
    names = list(map(str, said.classes))
    return np.asarray([names.index(str(value)) for value in said.values], dtype=float)


def _measure(
    facts: Mapping[Fact, Any],
    before: Any,
    now: Any,
    changed: np.ndarray,
    config: DifferenceConfig,
) -> _Measured:
    """Measure both models on the same rows.

    The interval of the gain is the wider, at each end, of two. One is that of the percentile
    bootstrap over rows, each drawn with what both models say of it (Efron and Tibshirani, An
    Introduction to the Bootstrap, 1993, section 13.3): where one row tells the models apart, it
    reaches too few others. Of very many rows some are drawn: m of n spread sqrt(n / m) times as
    much (Bickel, Götze and van Zwet, Statistica Sinica 7, 1997). The other is ``_apart``. The
    interval of the share that changed is Wilson's: where no row changed, others may.
    """
    answers, quality = facts["answers"], facts["quality"]
    random = np.random.default_rng(config.seed)
    size = min(len(answers), _RESAMPLED)
    draws = []
    for _ in range(config.resamples):
        rows = random.integers(len(answers), size=size)
        known = answers.iloc[rows]
        draws.append((quality(known, before.of_rows(rows)), quality(known, now.of_rows(rows))))
    drawn = np.array(draws)
    old, new = facts["interval"](answers, before), facts["interval"](answers, now)
    gain = _gained(old, new, drawn, math.sqrt(size / len(answers)))
    share = float(changed.mean())
    share_told = (share, *wilson(share, len(changed)))
    tells_apart = gain[0] != 0 or np.ptp(drawn, axis=1).any()
    return _Measured(old, new, gain if tells_apart else None, share_told)


def _gained(old: _Ends, new: _Ends, drawn: np.ndarray, scale: float) -> _Ends:
    """Return what is gained, by qualities of both in resamples (draws, 2).

    ``scale``: by which resamples spread too much.
    """
    gain = new[0] - old[0]
    low, high = between_draws((drawn[:, 1] - drawn[:, 0] - gain) * scale)
    together = 0.0
    if drawn.std(axis=0).all():
        together = float(np.corrcoef(drawn.T)[0, 1])
    far_low, far_high = _apart(old, new, together)
    return gain, gain + min(0.0, low, far_low), gain + max(0.0, high, far_high)


def _apart(old: _Ends, new: _Ends, together: float) -> tuple[float, float]:
    """Return how far below and above a difference its interval reaches, by those of both values.

    The "method of variance estimates recovery" of values that vary ``together``, a correlation (G.
    Zou, Psychological Methods 12, 2007); of shares it is method 8 of R. Newcombe
    (Statistics in Medicine 17, 1998, 2635-2650), which holds where few rows differ.
    """
    value, low, high = new
    other, other_low, other_high = old
    down, up = value - low, high - value
    other_down, other_up = other - other_low, other_high - other
    below = down**2 - 2 * together * down * other_up + other_up**2
    above = up**2 - 2 * together * up * other_down + other_down**2
    return -math.sqrt(max(0.0, below)), math.sqrt(max(0.0, above))


def _verdict(measured: _Measured) -> str:
    if measured.gain is None:
        return "no clear difference"
    _, low, high = measured.gain
    if low > 0:
        return "better"
    return "worse" if high < 0 else "no clear difference"


def _advice(measured: _Measured, changed: int, rows: int) -> str:
    changes = f"{changed:,} of {rows:,} predictions change."
    if measured.gain is None:
        most = measured.share[2]
        return f"These validation rows do not tell the models apart: {changes} On other rows up to \
{most:.1%} may change. Take the one that is faster or smaller."
    gain, low, high = measured.gain
    where = "of quality on validation rows"
    interval = f"{_signed(gain)} ({_signed(low)} to {_signed(high)})"
    verdict = _verdict(measured)
    if verdict == "better":
        return f"The new model is better by {interval} {where}; {changes}"
    if verdict == "worse":
        return f"The new model is worse: {interval} {where}; {changes} Keep the old one."
    found = f"Neither model is clearly better: {interval} {where}; {changes}"
    if not changed:
        return f"{found} Take the one that is faster or smaller."
    return f"{found} Look at the rows that change before you decide."


def _signed(value: float) -> str:
    """Return a difference with its sign; what is rounded to nothing is no loss."""
    return f"{round(value, 4) + 0.0:+.4f}"


def _rows_table(answers: pd.Series, before: Any, now: Any, changed: np.ndarray) -> Table:
    places = np.flatnonzero(changed)
    rows = []
    for place in places[:_LISTED]:
        row = (
            str(answers.index[place]),
            _cell(answers.iloc[place]),
            _cell(before.values[place]),
            _cell(now.values[place]),
        )
        rows.append(row)
    note = f"{len(rows)} of {len(places)}." if len(places) > len(rows) else ""
    columns = ("Row", "True", "Old", "New")
    return Table("Predictions that change", columns, tuple(rows), note, data=columns)


def _groups_table(inputs: pd.DataFrame, changed: np.ndarray) -> Table:
    """List the values of categories whose rows change most often, the most changes first."""
    found = []
    for column in inputs.columns:
        if str(inputs[column].dtype) != "category":
            continue
        # Rows without a value are a group like others; a column of texts and gaps has no order.
        values = inputs[column].astype(object).fillna(_MISSING).astype(str).to_numpy()
        for value in np.unique(values[changed]):
            of_group = values == value
            changes = int((of_group & changed).sum())
            size = int(of_group.sum())
            found.append((str(column), str(value), size, changes, changes / size))
    found.sort(key=lambda row: (-row[3], -row[4], row[0], row[1]))
    columns = ("Column", "Value", "Rows", "Changes", "Share")
    return Table("Groups with the most changes", columns, tuple(found[:_LISTED]))


def _columns_table(columns: pd.Index, before: set[str], now: set[str]) -> Table:
    rows = []
    for column in map(str, columns):
        rows.append((column, yes_or_no(column in before), yes_or_no(column in now)))
    note = "A column is used if shuffling it changes what the model says of some row."
    return Table("Columns used", ("Column", "Old", "New"), tuple(rows), note)


def _notes(columns: int, most: int) -> tuple[str, ...]:
    if columns <= most:
        return ()
    return (f"The use of {most} of {columns} columns was looked at.",)


def _cell(value: Any) -> str | float:
    """Return a value as a table shows it; a tensor by its first characters."""
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    return str(value)[:100]


TOOLS = (
    Tool(
        name="difference",
        several=True,
        title="How do two models differ?",
        about="Compares two models: quality, predictions that change, where, and columns used.",
        needs=("inputs", "answers", "rivals", "quality", "interval"),
        config=DifferenceConfig,
        open=_open,
        ask=_ask,
        rows="validation",
        yes="better",
        models="pair",
    ),
)

"""Which columns does a model need? By permutation.

L. Breiman, Machine Learning 45, 2001, section 10; for any model: Fisher, Rudin and Dominici, JMLR
20, 2019. Many columns are shuffled in groups first (``column_groups``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Number, Table, Tool, ToolAnswer
from easeml.lifecycle.tools.column_groups import (
    Group,
    cost_of,
    costs_known,
    divided,
    first_groups,
    next_group,
    without,
)

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

_DRAWN = 20  # columns
_LITTLE = 0.01  # of quality
_TENTHS, _LEAST_OF_PART = 10, 5
_MUCH = 0.1  # of quality: a column that costs less dominates nothing
_DOMINATES = 5.0  # times what the next column costs
_NEARLY_ALL = 0.8  # of what all columns cost together
_PLACES = 5  # of a score: more say nothing
_LISTED = 1000
_NAMED = 10  # columns that a note tells there was no time for
_ASSUMES = (
    "Columns that tell the same stand in for each other: each alone may look unneeded.",
    "It is what this model looks at, which need not be what causes the answer.",
)


@dataclass(frozen=True)
class ImportanceConfig:
    """What is drawn by chance is the same for the same seed."""

    rounds: Annotated[int, Field(ge=1, le=100, description="How often a column is shuffled.")] = 10
    rows: Annotated[int, Field(ge=2, description="Rows that are predicted at most.")] = 2_000
    seed: Annotated[int, Field(description="Seed of the random numbers.")] = 0


@dataclass(frozen=True)
class _Measured:
    """What was measured so far: the quality as it is, and what each column lost, round for round.

    ``without``: the quality without each tenth of the rows. ``losses``: of each column in each
    round, of all rows and without each tenth. ``unrelated``: the quality of the same predictions,
    given for other rows. ``groups``: of columns that no other step looked at; ``together``: how
    often one was shuffled.
    """

    config: ImportanceConfig
    quality: float | None = None
    without: tuple[float, ...] = ()
    unrelated: float = 0.0
    losses: tuple[tuple[tuple[float, ...], ...], ...] = ()
    groups: tuple[Group, ...] = ()
    together: int = 0

    @property
    def steps(self) -> int:
        """How often a column was shuffled."""
        return sum(map(len, self.losses))


@dataclass(frozen=True, slots=True)
class _Weight:
    """How much quality a column costs when it is shuffled; the error is None after one round.

    ``by_chance``: the part of the error that shuffling has, on these very rows.
    """

    column: str
    loss: float
    error: float | None
    by_chance: float = 0.0


def _open(config: ImportanceConfig) -> _Measured:
    return _Measured(config)


def _ask(state: _Measured, facts: Mapping[Fact, Any]) -> tuple[ToolAnswer, _Measured]:
    """Shuffle the next column once. All columns come in turn, so that none is left out for long.

    Of many columns groups come first, and the costliest is divided.
    """
    inputs, answers = _chosen(facts["inputs"], facts["answers"], state.config)
    columns = list(inputs.columns)
    if not columns:
        raise InvalidInput("There is no column to weigh.", where="inputs")
    measure = facts["quality"]
    tenth = _tenths_of(len(inputs), state.config)
    if state.quality is None:
        predicted = facts["predict"](inputs)
        state = replace(
            state,
            quality=measure(answers, predicted),
            without=_without_tenths(measure, answers, predicted, tenth),
            unrelated=measure(_shuffled(answers, state.config), predicted),
            losses=((),) * len(columns),
            groups=first_groups(len(columns)),
        )

    state = replace(state, groups=divided(state.groups))
    group = next_group(state.groups) or Group((_in_turn(state.losses),))
    random = np.random.default_rng([state.config.seed, 1 + state.steps + state.together])
    order = _within_tenths(tenth, random)
    shuffled = inputs.copy(deep=False)
    for name in map(columns.__getitem__, group.places):
        shuffled[name] = inputs[name].iloc[order].set_axis(inputs.index)
    assert state.quality is not None
    predicted = facts["predict"](shuffled)
    loss = state.quality - measure(answers, predicted)
    if len(group.places) > 1:
        after = _with_group(state, group, loss)
    else:
        found = np.array(_without_tenths(measure, answers, predicted, tenth))
        after = _with_column(state, group, (loss, *(state.without - found)))
    return _answer(after, inputs), after


def _in_turn(losses: tuple[tuple[Any, ...], ...]) -> int:
    """Return the place of the column that was shuffled least often; of several the first."""
    return min(range(len(losses)), key=lambda place: len(losses[place]))


def _with_group(state: _Measured, group: Group, loss: float) -> _Measured:
    """Return what is known after a group of columns was shuffled together."""
    known = replace(group, loss=loss)
    groups = (*without(state.groups, group), known)
    return replace(state, groups=groups, together=state.together + 1)


def _with_column(state: _Measured, alone: Group, found: tuple[float, ...]) -> _Measured:
    """Return what is known after a single column was shuffled."""
    place = min(alone.places)
    losses = list(state.losses)
    losses[place] = (*losses[place], found)
    return replace(state, losses=tuple(losses), groups=without(state.groups, alone))


def _tenths_of(rows: int, config: ImportanceConfig) -> np.ndarray:
    """Return the tenth (rows,) that each row is of, drawn at random; fewer parts of few rows."""
    parts = max(1, min(_TENTHS, rows // _LEAST_OF_PART))
    return np.random.default_rng([config.seed, 0]).permutation(rows) % parts


def _within_tenths(tenth: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return whose value each row gets (rows,): that of another one of its ``tenth`` (rows,).

    Without a tenth there is then no trace of it.
    """
    order = np.arange(len(tenth))
    for part in np.unique(tenth):
        inside = random.permutation(np.flatnonzero(tenth == part))
        order[inside] = np.roll(inside, 1)
    return order


def _without_tenths(
    measure: Callable[[Any, Any], float], answers: pd.Series, predicted: Any, tenth: np.ndarray
) -> tuple[float, ...]:
    """Return the quality without each tenth of the rows; ``tenth`` (rows,): that each is of."""
    if not tenth.any():
        return ()
    found = []
    for left_out in np.unique(tenth):
        kept = np.flatnonzero(tenth != left_out)
        found.append(measure(answers.iloc[kept], _at(predicted, kept)))
    return tuple(found)


def _at(predicted: Any, rows: np.ndarray) -> Any:
    """Return what was predicted of some rows."""
    of_rows = getattr(predicted, "of_rows", None)
    return np.asarray(predicted)[rows] if of_rows is None else of_rows(rows)


def _shuffled(answers: pd.Series, config: ImportanceConfig) -> pd.Series:
    """Return the answers of other rows."""
    order = np.random.default_rng([config.seed, 0]).permutation(len(answers))
    return answers.iloc[order].set_axis(answers.index)


def _chosen(
    inputs: pd.DataFrame, answers: pd.Series, config: ImportanceConfig
) -> tuple[pd.DataFrame, pd.Series]:
    """Return rows drawn at random, where there are too many to predict again and again."""
    if len(inputs) <= config.rows:
        return inputs, answers
    random = np.random.default_rng([config.seed, 0])
    rows = np.sort(random.permutation(len(inputs))[: config.rows])
    return inputs.iloc[rows], answers.iloc[rows]


def _answer(state: _Measured, inputs: pd.DataFrame) -> ToolAnswer:
    columns = list(inputs.columns)
    measured = [pair for pair in zip(columns, state.losses, strict=True) if pair[1]]
    weights = sorted((_weight(*pair) for pair in measured), key=lambda one: -one.loss)
    assert state.quality is not None
    dominance = ()
    advice = _of_part(weights, len(columns), state.groups)
    if len(weights) == len(columns):
        advice = _advice(weights)
        dominance = _dominance(weights, state.quality - state.unrelated, inputs)
    return ToolAnswer(
        advice=advice,
        numbers=(
            Number("quality", "Quality with all columns as they are", state.quality),
            Number("rows", "Rows", len(inputs)),
            Number("rounds", "Times that every column was shuffled", min(map(len, state.losses))),
        ),
        assumes=_ASSUMES,
        figures=(_figure(weights),) if weights else (),
        tables=(_table(weights),) if weights else (),
        notes=(*dominance, *_unmeasured(columns, state), *_of_few(state, len(inputs))),
        of_model=dominance,
        unfinished=state.steps < state.config.rounds * len(columns),
    )


def _weight(column: str, losses: tuple[tuple[float, ...], ...]) -> _Weight:
    """Return what a column costs on average over the rounds.

    Its error is the jackknife's of tenths of the rows (B. Efron and C. Stein, Annals of Statistics
    9, 1981): it counts that these are some rows of many, and that they were shuffled by chance.
    """
    loss, *without_tenths = np.mean(losses, axis=0).tolist()
    error = None
    parts = len(without_tenths)
    if len(losses) > 1 and parts:
        error = float(np.std(without_tenths) * np.sqrt(parts - 1))
    rounds = [of_all for of_all, *_ in losses]
    by_chance = float(np.std(rounds) / np.sqrt(max(1, len(rounds) - 1)))
    return _Weight(column, loss, error, by_chance)


def _of_groups(groups: tuple[Group, ...]) -> str:
    """Say what is known before any column was shuffled alone."""
    known = costs_known(groups)
    return (
        f"{len(known)} of {len(groups)} groups of columns were shuffled; the costliest costs "
        f"{max(known):.4f} of quality. It is divided next."
    )


def _of_part(weights: list[_Weight], columns: int, groups: tuple[Group, ...]) -> str:
    """Say what is needed most, where not each of the ``columns`` was shuffled alone."""
    if not weights:
        return _of_groups(groups)
    first = weights[0]
    costs = f"{first.column} counts most: shuffled, it costs {first.loss:.4f} of quality."
    if groups and next_group(groups) is None and max(map(cost_of, groups)) <= first.loss:
        return f"Of {columns:,} columns {costs}"
    return (
        f"Of the {len(weights)} of {columns} columns that there was time for, {costs} "
        "Others may count more."
    )


def _advice(weights: list[_Weight]) -> str:
    """Say what is needed most."""
    first = weights[0]
    if first.loss <= 0:
        return "No column is needed: shuffling any of them costs nothing. The model learned little."
    found = f"It looks at {first.column} most: shuffled, it costs {first.loss:.4f} of quality."
    errors = [one.error for one in weights]
    if None in errors:
        return found  # not every column was shuffled twice: the others would be named by their turn
    # Few rows measure little: what nobody could measure there may be needed all the same.
    idle = sum(one.loss + 2 * (one.error or 0.0) <= _LITTLE for one in weights)
    if not idle:
        return found
    several = f"{idle} of {len(weights)} columns cost"
    names = "1 column costs" if idle == 1 else several
    return f"{found} {names} {_LITTLE} at most: try to do without."


def _dominance(weights: list[_Weight], known: float, inputs: pd.DataFrame) -> tuple[str, ...]:
    """Return that nearly all the model knows comes from one column, where that is so beyond doubt.

    ``known``: what all columns cost together. Of texts, pictures and arrays that is as it should
    be.
    """
    from easeml.lifecycle.monitoring import columns

    if len(weights) < 2:
        return ()
    first, second = weights[:2]
    surely = first.loss - 2 * first.by_chance  # other columns are shuffled on the same rows
    if surely < max(_MUCH, _DOMINATES * second.loss, _NEARLY_ALL * known):
        return ()
    values: Any = inputs[first.column]
    if isinstance(columns.learn(first.column, values), columns.Prose | columns.Cells):
        return ()
    return (
        f"Nearly all that the model knows comes from '{first.column}': shuffled, it costs "
        f"{first.loss:.2f} of score, and every other column less than a fifth of that. If it is "
        f"not known when you predict, drop it.",
    )


def _table(weights: list[_Weight]) -> Table:
    rows = []
    for one in weights[:_LISTED]:
        error = None if one.error is None else round(one.error, _PLACES)
        loss = round(one.loss, _PLACES) + 0.0  # without the sign of -0.0
        rows.append((one.column, loss, error))
    return Table("Importance of columns", ("Column", "Score lost", "Standard error"), tuple(rows))


def _figure(weights: list[_Weight]) -> Figure:
    """Draw the most important columns, within two standard errors where all of them are known."""
    from easeml.figures import Axis, Figure, Series, numbers

    shown = weights[:_DRAWN]
    losses = np.array([one.loss for one in shown])
    errors = np.array([one.error for one in shown], dtype=float)  # NaN where it is not known
    title, low, high = "score lost", (), ()
    if np.isfinite(errors).all():
        title = "score lost, within two standard errors"
        low, high = numbers(losses - 2 * errors), numbers(losses + 2 * errors)
    bars = Series(
        title,
        numbers(losses),
        numbers(range(len(shown))),
        kind="bars",
        tone="accent",
        low=low,
        high=high,
    )
    return Figure(
        "What the model looks at",
        Axis("score lost when the column is shuffled"),
        Axis("column", scale="category", categories=tuple(one.column for one in shown)),
        (bars,),
    )


def _unmeasured(columns: list[str], state: _Measured) -> tuple[str, ...]:
    """Return what is to be said of columns that were not shuffled alone."""
    names = [column for column, found in zip(columns, state.losses, strict=True) if not found]
    if not names:
        return ()
    listed = ", ".join(names[:_NAMED])
    if len(names) == 1:
        return (f"There was no time for the column {listed}: nothing is known of its importance.",)
    more = ", ..." if len(names) > _NAMED else "."
    if state.groups and next_group(state.groups) is None:
        most = max(map(cost_of, state.groups))
        told = f"{len(names):,} columns were shuffled in {len(state.groups)} groups only"
        return (f"{told}, of which each costs at most {most:.4f}: {listed}{more}",)
    told = f"There was no time for {len(names):,} columns: {listed}{more}"
    return (f"{told} Nothing is known of their importance.",)


def _of_few(state: _Measured, rows: int) -> tuple[str, ...]:
    """Return what is to be said where there are too few rows to leave some out."""
    if state.without:
        return ()
    return (f"{rows} rows are too few to tell how far these numbers are chance.",)


TOOLS = (
    Tool(
        name="importance",
        several=True,
        title="What does the model look at?",
        about="Says how much quality each column is worth to a model: what is lost when it is shuffled.",
        needs=("inputs", "answers", "predict", "quality"),
        config=ImportanceConfig,
        open=_open,
        ask=_ask,
        rows="validation",
    ),
)

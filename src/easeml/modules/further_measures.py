"""Measures that need more than answers and predictions: groups of rows, and rows with noise.

``gap(COLUMN, OBJECTIVE)`` is the largest difference of an objective's value between the groups of
a column, and ``worst(COLUMN, OBJECTIVE)`` its value for the group where it is worst: ``difference``
between groups and ``group_min`` (or ``group_max``) of fairlearn's ``MetricFrame``. ``noisy(SHARE,
OBJECTIVE)`` is the value where that share of the cells is exchanged with those of other rows. The
objective is that of the application where none is named.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput

from .added import objective_for
from .calls import Call, number, quoted, read_call, unquoted, written
from .contract import Predictions
from .group_intervals import Groups, of_gap, of_largest, of_least
from .objective_programs import ProcessObjective
from .registry import load_registry
from .score import Measured, measured
from .weights import Weights

if TYPE_CHECKING:
    import pandas as pd

GAP, WORST, NOISY = "gap", "worst", "noisy"
_EXAMPLES = {GAP: "gap(COLUMN, accuracy)", WORST: "worst(COLUMN, accuracy)", NOISY: "noisy(0.1)"}
FAMILIES = tuple(_EXAMPLES)
LEAST_ROWS = 10
"""Validation rows of a group that is compared; the value of fewer is mostly chance."""
_MOST_GROUPS = 50
_DRAWS, _SEED = 200, 20180801
_USUAL_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Further:
    """A measure of this kind. ``column``: of groups; ``share``: of cells; ``objective``: measured."""

    kind: str
    objective: str
    column: str = ""
    share: float = 0.0

    @property
    def name(self) -> str:
        """The one name that says the same; without the objective where it is the application's."""
        first = f"{self.share:.15g}" if self.kind == NOISY else quoted(self.column)
        return written(self.kind, list(filter(None, [first, self.objective])))

    @property
    def asks_model(self) -> bool:
        """Whether the model itself is asked again, and not what it predicted."""
        return self.kind == NOISY


def read_further(name: str) -> Further | None:
    """Return the measure that a name means; None for one that is an objective.

    Raises ``InvalidInput`` for what it does not take.
    """
    if name.strip().lower() == NOISY:
        return Further(NOISY, "", share=_USUAL_SHARE)
    call = read_call(name)
    if call is None or call.family not in FAMILIES:
        return None
    first, objective = _arguments(call)
    if call.family == NOISY:
        return Further(NOISY, objective, share=_share(first))
    return Further(call.family, objective, column=unquoted(first))


def _arguments(call: Call) -> tuple[str, str]:
    """Return a measure's column or share, and the objective that it names; empty: the usual one."""
    if not 1 <= len(call.arguments) <= 2:
        raise InvalidInput(
            f"{call.family} takes one or two things.",
            where="measure",
            remedy=f"Write {_EXAMPLES[call.family]}.",
        )
    first, objective, *_ = *call.arguments, ""
    return first, objective


def one_name(name: str) -> str:
    """Return the one name of a measure that was checked before, however it is written."""
    further = read_further(name)
    if further is None:
        return load_registry().get(name).name
    if not further.objective:
        return further.name
    return replace(further, objective=load_registry().get(further.objective).name).name


def _share(text: str) -> float:
    share = number(text)
    if not 0 < share < 1:
        raise InvalidInput(
            "The share of the cells is between 0 and 1.",
            where="measure",
            remedy="Write noisy(0.1).",
        )
    return share


def measure_further(
    further: Further,
    objective: str,
    rows: "pd.DataFrame",
    target: str,
    predictions: Predictions,
    predict: "Callable[[pd.DataFrame], Predictions] | None" = None,
    weights: Weights = None,
) -> Measured:
    """Return the measure of predictions of ``rows``, with a 95 % interval.

    ``objective``: of the application. ``predict``: the model, for ``noisy``. ``weights`` (rows,): by
    which rows count. Raises ``InvalidInput``
    where it cannot be measured: a column that is not there or has one group, no model, or an
    objective that is a program.
    """
    name = further.objective or objective
    if isinstance(objective_for(name, predictions.classes), ProcessObjective):
        raise InvalidInput(f"{name} is a program, which is too slow for this.", where=further.name)
    if further.kind == NOISY:
        if predict is None:
            raise InvalidInput("The model is needed to predict noisy rows.", where=further.name)
        said = predict(with_noise(rows, target, further.share))
        found = measured(name, rows[target], said, weights, target=target)
        return replace(found, objective=further.name)
    if further.column not in rows.columns:
        raise InvalidInput(f"There is no column {further.column!r}.", where=further.name)
    groups, actual = rows[[further.column]].iloc[:, 0], rows[[target]].iloc[:, 0]
    return _of_groups(further, name, groups, actual, predictions, weights)


def with_noise(rows: "pd.DataFrame", target: str, share: float) -> "pd.DataFrame":
    """Return the rows with a share of the cells of each input exchanged with those of other rows.

    Each column keeps its values: they stand in other rows. The same rows give the same each time.
    """
    random = np.random.default_rng(_SEED)
    noisy = rows.copy()
    for column in rows.columns.drop([target, "_row"], errors="ignore"):
        chosen = np.flatnonzero(random.random(len(rows)) < share)
        taken = random.permutation(len(rows))[: len(chosen)]
        values = rows[column].array.copy()
        values[chosen] = rows[column].array[taken]
        noisy[column] = values
    return noisy


def _of_groups(
    further: Further,
    name: str,
    column: Any,
    actual: Any,
    predictions: Predictions,
    weights: Weights,
) -> Measured:
    known = ~(column.isna() | actual.isna()).to_numpy()
    labels = column.astype(str).to_numpy()
    groups = _groups(labels[known], further)
    places = [np.flatnonzero(known & (labels == group)) for group in groups]
    by_group = []
    for rows in places:
        counts = None if weights is None else weights[rows]
        said = predictions.of_rows(rows)
        by_group.append(measured(name, actual.iloc[rows], said, counts, resamples=_DRAWS))
    first = by_group[0]
    ends = Groups(
        np.array([one.value for one in by_group]),
        np.array([one.low for one in by_group]),
        np.array([one.high for one in by_group]),
    )
    if further.kind == GAP:
        result, (low, high) = np.ptp(ends.values), of_gap(ends)
    elif first.lower_is_better:
        result, (low, high) = np.max(ends.values), of_largest(ends)
    else:
        result, (low, high) = np.min(ends.values), of_least(ends)
    return Measured(
        float(result),
        low,
        high,
        lower_is_better=further.kind == GAP or first.lower_is_better,
        in_unit_of_target=first.in_unit_of_target,
        objective=further.name,
        unit=first.unit,
    )


def _groups(labels: NDArray[Any], further: Further) -> list[str]:
    names, counts = np.unique(labels, return_counts=True)
    if len(names) > _MOST_GROUPS:
        raise InvalidInput(
            f"{further.column!r} has {len(names)} groups, more than {_MOST_GROUPS}.",
            where=further.name,
            remedy="Name a column of few categories.",
        )
    compared = list(map(str, names[counts >= LEAST_ROWS]))
    if len(compared) < 2:
        raise InvalidInput(
            f"Fewer than two groups of {further.column!r} have {LEAST_ROWS} validation rows.",
            where=further.name,
            remedy="Feed more rows, or name another column.",
        )
    return compared

"""The operators that ship with easeml, and all operators by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from easeml.data.errors import did_you_mean
from easeml.errors import InvalidInput
from easeml.lineage.advice import ADVICE, ANALYSES
from easeml.lineage.deltas import Analysis
from easeml.lineage.nodes import Node, Operator, Value
from easeml.relation import Relation, RowCandidates, Source, cell_candidates, optional_row
from easeml.search.installed import Installed, find_installed

_OPERATORS: dict[str, Operator] = {}


def register(name: str, version: str, function: Callable[..., Value]) -> Operator:
    """Add an operator by name; one of the same name and another function takes its place."""
    made = Operator(name, version, function)
    _OPERATORS[name] = made
    return made


def analysis(name: str, version: str, begin: Callable[..., Analysis]) -> Operator:
    """Return the operator of an analysis that can follow its data; made rows are not asked about."""

    @functools.wraps(begin)
    def answered(relation: Relation, *arguments: Any, **named: Any) -> dict[str, Any]:
        return begin(relation.observed(), *arguments, **named).answer

    return Operator(name, version, answered, begin)


def operator_named(name: str) -> Operator:
    """Return an operator, of this process or an installed one.

    Raises InvalidInput, with those there are.
    """
    if name in _OPERATORS:
        return _OPERATORS[name]
    found = installed_operators()
    if name in found.by_name:
        return found.by_name[name]
    meant = did_you_mean(name, sorted([*_OPERATORS, *found.by_name]))
    remedy = " ".join([meant, *found.problems])
    raise InvalidInput(f"There is no operator {name!r}.", remedy=remedy)


@cache
def installed_operators() -> Installed[Operator]:
    """Return the operators that stand above this room, or come with other packages."""
    return find_installed("operator", "", "easeml.operators", "easeml.operators", "OPERATORS")


def node_of(operator: Operator, arguments: Sequence[Any], named: dict[str, Any]) -> Node:
    """Return the use of an operator: nodes first, then parameters, by place or by name.

    Parameters that are left out have their defaults, so that saying them changes no key. Raises
    InvalidInput where they do not fit.
    """
    signature = inspect.signature(operator.function)
    try:
        bound = signature.bind(*arguments, **named)
    except TypeError as error:
        taken = ", ".join(signature.parameters)
        remedy = f"{operator.name} takes: {taken}."
        raise InvalidInput(f"{error}.", where=operator.name, remedy=remedy) from error
    bound.apply_defaults()
    inputs, parameters = [], {}
    for name, value in bound.arguments.items():
        if isinstance(value, Node):
            inputs.append(value)
        else:
            parameters[name] = value
    return Node(operator, parameters, tuple(inputs))


def with_candidates(
    relation: Relation,
    row_id: Any,
    column: str,
    weights: Sequence[tuple[Any, float]],
    source: Source | None = None,
) -> Relation:
    """Say what a cell could be; ``weights``: pairs of a value and its probability."""
    return relation.with_all([cell_of(row_id, column, weights, source)])


def cell_of(
    row_id: Any, column: str, weights: Sequence[tuple[Any, float]], source: Source | None = None
) -> RowCandidates:
    """Return the candidates of a cell, as ``with_candidates`` is told them."""
    return cell_candidates(row_id, column, dict(weights), source)


def with_optional(
    relation: Relation, row_id: Any, probability: float, source: Source | None = None
) -> Relation:
    """Say that a row exists with a probability."""
    return relation.with_all([optional_row(row_id, probability, source)])


def with_all(relation: Relation, told: Sequence[RowCandidates]) -> Relation:
    """Say what several rows could be."""
    return relation.with_all(told)


def rows_where(relation: Relation, condition: str | Callable[[Any], Any]) -> Relation:
    """Keep the rows that meet a condition."""
    return relation.filter(condition)


def with_column(
    relation: Relation, name: str, formula: str | None = None, sql: str | None = None
) -> Relation:
    """Compute a column, by a formula or by SQL."""
    return relation.with_column(name, formula, sql)


def select(relation: Relation, columns: Sequence[str]) -> Relation:
    """Keep some columns."""
    return relation.select(columns)


def split(
    relation: Relation,
    train: float = 0.6,
    validation: float = 0.2,
    test: float = 0.2,
    seed: int = 0,
) -> Relation:
    """Give each row a role."""
    return relation.split(train, validation, test, seed)


def in_role(relation: Relation, names: Sequence[str]) -> Relation:
    """Keep the rows of some roles."""
    return relation.in_role(*names)


def join(relation: Relation, other: Relation, on: str | Sequence[str]) -> Relation:
    """Pair rows that agree in some columns."""
    return relation.join(other, on)


def update(
    relation: Relation, changed: Relation | None = None, gone: Sequence[Any] = ()
) -> Relation:
    """Leave out the rows that are gone, and take those that changed or are new."""
    return relation.update(changed, gone)


SHIPPED = {
    "with_candidates": with_candidates,
    "with_optional": with_optional,
    "with_all": with_all,
    "filter": rows_where,
    "with_column": with_column,
    "select": select,
    "split": split,
    "in_role": in_role,
    "join": join,
    "update": update,
    **ADVICE,
    **ANALYSES,
}
_LATER_VERSIONS = {"clean": "2", "weak_labels": "2"}
"""Of operators that give other values than they first did, so that what was cached is not taken."""
for _name, _function in SHIPPED.items():
    _version = _LATER_VERSIONS.get(_name, "1")
    if _name in ANALYSES:
        _OPERATORS[_name] = analysis(_name, _version, _function)
    else:
        register(_name, _version, _function)

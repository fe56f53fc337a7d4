"""Operators that ask the lifecycle's tools, over relations; loaded when they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.errors import InvalidInput
from easeml.relation import Relation

if TYPE_CHECKING:
    import pandas as pd


def clean(
    relation: Relation,
    rules: str = "",
    methods: Sequence[str] | None = None,
    most: int = 10,
    seed: int = 0,
) -> Relation:
    """Give suspicious cells candidates (``lifecycle.doubts.clean``)."""
    from easeml.lifecycle import doubts

    if methods is None:
        return doubts.clean(relation, rules=rules, most=most, seed=seed)
    return doubts.clean(relation, rules=rules, methods=methods, most=most, seed=seed)


def weak_labels(
    relation: Relation,
    functions: Sequence[Any],
    classes: Sequence[Any] = (),
    method: str = "auto",
    seed: int = 0,
) -> Relation:
    """Give rows without a label candidates (``lifecycle.doubts.weak_labels``)."""
    from easeml.lifecycle import doubts

    return doubts.weak_labels(relation, functions, classes=classes, method=method, seed=seed)


def predict(
    relation: Relation,
    roles: Sequence[str] = ("pool", "production"),
    draws: int = 20,
    seed: int = 0,
) -> Relation:
    """Label rows by models of drawn worlds (``lifecycle.doubts.predicted``)."""
    from easeml.lifecycle import doubts

    return doubts.predicted(relation, roles, draws=draws, seed=seed)


def feasibility(
    relation: Relation, goal: float | None = None, confidence: float = 0.95, seed: int = 0
) -> dict[str, Any]:
    """Say whether a goal can be reached by any model, with the rows that are likeliest.

    Test rows are left out. Raises InvalidInput where there is no target.
    """
    from easeml.lifecycle.feasibility import study

    target = _target(relation)
    if relation.roles is not None:
        relation = relation.in_role("train", "validation")
    answer = study(relation.to_frame(), target, goal, confidence=confidence, seed=seed)
    return answer.to_json()


def plan_cleaning(relation: Relation, n: int = 50, k: int = 3) -> dict[str, Any]:
    """Say which train rows to clean first, so that validation predictions become certain soonest.

    The answer names rows by their ids (``row_id``). Raises InvalidInput where there is no target,
    or there are no rows of train or validation.
    """
    from easeml.lifecycle.cleaning import plan_table
    from easeml.lifecycle.doubts import table_candidates

    plan = plan_table(table_candidates(relation), k=k, n=n)
    answer = plan.to_json()
    row_ids = relation.in_role("train").row_ids
    for planned in answer["planned"]:
        planned["row_id"] = _plain(row_ids[planned["row"]])
    return answer


def label_next(relation: Relation, n: int = 50, k: int = 5, seed: int = 0) -> dict[str, Any]:
    """Say which rows of the pool to label first (``lifecycle.labeling.next_to_label``).

    Train rows have labels, and so have validation rows, as they are likeliest. Raises InvalidInput
    where there is no target, or no rows of train, validation or pool.
    """
    from easeml.lifecycle import encode
    from easeml.lifecycle.labeling import next_to_label

    target = _target(relation)
    roles = ("train", "validation", "pool")
    train, validation, pool = (_rows_in(relation, role) for role in roles)
    X, X_valid, X_pool = encode(
        train.drop(columns=target), validation.drop(columns=target), pool.drop(columns=target)
    )
    y, y_valid = train[target].astype(str), validation[target].astype(str)
    queue = next_to_label(X, y, X_pool, X_valid, y_valid, n, k, seed=seed)
    answer = queue.to_json()
    answer["row_ids"] = [_plain(row_id) for row_id in pool.index[queue.rows]]
    return answer


def _rows_in(relation: Relation, role: str) -> pd.DataFrame:
    """Return the rows of a role, as they are likeliest. Raises InvalidInput where there are none."""
    found = relation.in_role(role).to_frame()
    if found.empty:
        raise InvalidInput(f"There are no {role} rows.", remedy="Use split(), or give roles.")
    return found


def _target(relation: Relation) -> str:
    if relation.target is None:
        raise InvalidInput("The relation has no target.", remedy="Name one in from_frame.")
    return relation.target


def _plain(value: Any) -> Any:
    """Return a row id as a plain value, which JSON holds."""
    return value.item() if hasattr(value, "item") else value


ADVICE: Mapping[str, Any] = {
    "clean": clean,
    "weak_labels": weak_labels,
    "predict": predict,
    "feasibility": feasibility,
    "plan_cleaning": plan_cleaning,
    "label_next": label_next,
}
"""By name; their keys change with their versions."""

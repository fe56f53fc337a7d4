"""Operators that ask the lifecycle's tools, over relations; loaded when they are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from easeml.lineage.deltas import Analysis
from easeml.relation import Relation

if TYPE_CHECKING:
    from easeml.lineage.analyses import CleaningAnalysis, FeasibilityAnalysis, LabellingAnalysis


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


def augment(
    relation: Relation,
    copies: int | str = 1,
    ways: Sequence[str] | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> Relation:
    """Add train rows that are made of others (``lifecycle.augmentation.augment``)."""
    from easeml.lifecycle import augmentation

    return augmentation.augment(relation, copies, ways, synonyms, seed)


def embed(
    relation: Relation,
    columns: Sequence[str] | None = None,
    dimensions: int = 30,
    keep: bool = False,
    seed: int = 0,
) -> Relation:
    """Put numbers in the place of texts (``lifecycle.embedding.embed``)."""
    from easeml.lifecycle import embedding

    return embedding.embed(relation, columns, dimensions, keep, seed)


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
) -> FeasibilityAnalysis:
    """Say whether a goal can be reached by any model, with the rows that are likeliest.

    Test rows are left out. Raises InvalidInput where there is no target.
    """
    from easeml.lineage.analyses import FeasibilityAnalysis

    return FeasibilityAnalysis(relation, goal, confidence, seed)


def plan_cleaning(relation: Relation, n: int = 50, k: int = 3) -> CleaningAnalysis:
    """Say which train rows to clean first, so that validation predictions become certain soonest.

    The answer names rows by their ids (``row_id``). Raises InvalidInput where there is no target,
    or there are no rows of train or validation.
    """
    from easeml.lineage.analyses import CleaningAnalysis

    return CleaningAnalysis(relation, n, k)


def label_next(relation: Relation, n: int = 50, k: int = 5, seed: int = 0) -> LabellingAnalysis:
    """Say which rows of the pool to label first (``lifecycle.labeling.next_to_label``).

    Train rows have labels, and so have validation rows, as they are likeliest. Raises InvalidInput
    where there is no target, or no rows of train, validation or pool.
    """
    from easeml.lineage.analyses import LabellingAnalysis

    return LabellingAnalysis(relation, n, k, seed)


def check_labels(
    relation: Relation, n: int = 50, confidence: float = 0.33, seed: int = 0
) -> dict[str, Any]:
    """Say which labels of train rows look wrong (``lineage.label_checks.check_labels``)."""
    from easeml.lineage import label_checks

    return label_checks.check_labels(relation, n, confidence, seed)


ADVICE: Mapping[str, Any] = {
    "augment": augment,
    "clean": clean,
    "embed": embed,
    "weak_labels": weak_labels,
    "predict": predict,
    "check_labels": check_labels,
}
"""By name; their keys change with their versions."""

ANALYSES: Mapping[str, Callable[..., Analysis]] = {
    "feasibility": feasibility,
    "plan_cleaning": plan_cleaning,
    "label_next": label_next,
}
"""Questions whose answers follow their data, by name."""

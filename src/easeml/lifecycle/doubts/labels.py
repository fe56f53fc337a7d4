"""Candidates for labels that are missing, from the votes of labelling functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.doubts.conversions import target_of
from easeml.lifecycle.doubts.dawid_skene import ABSTAINS
from easeml.lifecycle.doubts.label_model import label_model
from easeml.lifecycle.doubts.votes import LabelFunction, votes_of
from easeml.relation import Relation, Source, cell_candidates

_SLIGHT = 1e-6  # probabilities below are left out


def weak_labels(
    relation: Relation,
    functions: Sequence[LabelFunction],
    *,
    classes: Sequence[Any] = (),
    method: str = "auto",
    seed: int = 0,
) -> Relation:
    """Return the relation with candidates for the labels that are missing.

    Labels that are there calibrate the functions. A row of which no function says anything gets the
    prior, as uncertain as that is. What is known of the functions is told by ``label_model.label_model``.

    Args:
        relation: with a target of text, categories or whole numbers.
        functions: see ``votes.votes_of``.
        classes: all labels; by default those that occur, and those that descriptions name.
        method: see ``label_model.label_model``.
        seed: likewise.

    Raises:
        InvalidInput: without a target, or where functions and labels do not fit.
    """
    target = target_of(relation)
    frame = relation.to_frame()
    column = relation.to_arrow().column(target).to_pylist()
    labels = list(classes) or _labels(column, functions)
    number = {label: place for place, label in enumerate(labels)} | {None: ABSTAINS}
    strange = [label for label in column if label not in number]
    if strange:
        raise InvalidInput(f"{strange[0]!r} is not among the classes.", where=f"column {target!r}")
    known = np.array([number[label] for label in column])
    votes = votes_of(functions, frame, labels)
    found = label_model(votes, len(labels), known=known, method=method, seed=seed)
    source = Source(f"weak_labels: {found.method}, {len(functions)} functions", "1", seed)
    told = []
    for row in np.flatnonzero(known == ABSTAINS):
        chances = np.where(found.probabilities[row] > _SLIGHT, found.probabilities[row], 0.0)
        chances = chances / chances.sum()
        weights = dict(zip(labels, chances.tolist(), strict=True))
        told.append(cell_candidates(frame.index[row], target, weights, source))
    return relation.with_all(told)


def _labels(column: Sequence[Any], functions: Sequence[LabelFunction]) -> list[Any]:
    """Return the labels that occur, and those that descriptions name, sorted."""
    found = {label for label in column if label is not None}
    for function in functions:
        if not callable(function) and "label" in function:
            found.add(function["label"])
    try:
        return sorted(found)
    except TypeError as error:
        raise InvalidInput("Labels are of several types.", remedy="Name all classes.") from error

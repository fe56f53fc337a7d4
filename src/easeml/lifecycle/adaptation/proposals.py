"""What a model should learn from to be right about recent rows, that nobody has labelled.

Each way assumes something that the data cannot show. So what it makes is a candidate, and labels of
recent rows decide whether it may serve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.lifecycle.adaptation.class_shares import ClassShares, shares_of
from easeml.lifecycle.adaptation.density import input_weights
from easeml.lifecycle.adaptation.moves import Move, moves_between
from easeml.lifecycle.held_out import Unseen
from easeml.lifecycle.monitoring.features import Encoder
from easeml.lifecycle.monitoring.shift import worth
from easeml.lifecycle.tool_answer import Number

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 50  # recent rows
_FEWEST_LIKE = 20.0  # labelled rows that have to resemble recent ones
_LEVEL = 0.01  # of the test that the classes' shares have changed
_UNEXPLAINED = 0.05  # area under the curve above 1/2 that other shares may leave
_SHOWN = 4  # columns, or classes, that a sentence names


@dataclass(frozen=True)
class Known:
    """Labelled and recent rows, and what the model that serves says.

    ``inputs``: of n labelled rows, ``answers``: what is true of them. ``held_out`` (n,): whether
    the model has not learned from a row; ``said``: what it says of those. ``recent``: inputs of m
    rows without answers, with the same columns; ``said_recent``: what it says of them.
    """

    inputs: pd.DataFrame
    answers: pd.Series
    held_out: np.ndarray
    said: Unseen
    recent: pd.DataFrame
    said_recent: Unseen


@dataclass(frozen=True)
class Proposal:
    """What an adapted model learns from, in the order of the labelled rows.

    ``applies``: whether the way fits; ``says``: what was found, or why it does not. ``inputs``:
    the labelled rows as they would look today (n,); ``weights`` (n,): how much each counts, above
    0, None: once each. ``extra``: places of recent rows that are added, with ``extra_answers``.
    """

    applies: bool
    says: str
    numbers: tuple[Number, ...] = ()
    inputs: pd.DataFrame | None = None
    weights: np.ndarray | None = None
    extra: np.ndarray | None = None
    extra_answers: np.ndarray | None = None


def propose(way: str, known: Known, seed: int = 0) -> Proposal:
    """Return what a model should learn from to be right about recent rows.

    Args:
        way: One of ``WAYS``.
        known: Labelled and recent rows.
        seed: Of what is drawn.
    """
    if len(known.recent) < FEWEST:
        return _not(f"{len(known.recent)} recent rows tell too little; {FEWEST} are needed.")
    return WAYS[way](known, seed)


def _weights(known: Known, seed: int) -> Proposal:
    """Count labelled rows by how often rows like them come by now."""
    labelled, recent = _features(known)
    found = input_weights(labelled, recent, seed=seed)
    numbers = (
        Number("separation", "How well recent rows are told from labelled ones", found.separation),
        Number("effective", "Rows that the weighted ones are worth", found.effective),
    )
    if not found.has_moved:
        says = "The inputs are as before: weights would change nothing."
        return _not(says, numbers)
    if found.exact < _FEWEST_LIKE:
        says = (
            f"Recent rows are too unlike the labelled ones: only {found.exact:.0f} of "
            f"{len(labelled):,} resemble them. Label some of them."
        )
        return _not(says, numbers)
    flat = " (flattened)" if found.power < 1 else ""
    says = (
        f"{_moved(known)} Labelled rows count by how often rows like them come by now{flat}: "
        f"{len(labelled):,} rows tell as much as {found.effective:,.0f}."
    )
    return Proposal(True, says, numbers, known.inputs, found.weights)


def _prior(known: Known, seed: int) -> Proposal:
    """Count labelled rows by how often their class comes by now."""
    chances = known.said.chances
    recent = known.said_recent.chances
    if chances is None or recent is None or known.said.classes is None:
        return _not("Shares of classes change where classes are predicted, with their chances.")
    codes = _codes(known)
    found = shares_of(chances, codes[known.held_out], recent, codes)
    numbers = (Number("p", "Chance of such rows with the old shares", found.p_value),)
    if found.p_value > _LEVEL:
        return _not("The classes come as often as before.", numbers)
    weights = found.ratios[codes]
    weights = weights / weights.mean()
    labelled, recent_rows = _features(known)
    left = input_weights(labelled, recent_rows, counts=weights, seed=seed)
    numbers += (Number("left", "Separation that other shares leave", left.separation),)
    if left.separation - 2 * left.error > 0.5 + _UNEXPLAINED:
        says = (
            "Other shares of the classes do not explain how the inputs have moved: recent rows are "
            f"still told from labelled ones (area under the curve {left.separation:.2f})."
        )
        return _not(says, numbers)
    says = f"{_shares_told(found, known.said.classes)} Labelled rows count by their class: "
    says += f"{len(codes):,} rows tell as much as {worth(weights):,.0f}."
    return Proposal(True, says, numbers, known.inputs, weights)


def _scale(known: Known, seed: int) -> Proposal:
    """Read the labelled rows as they would be read today."""
    moves = moves_between(known.inputs, known.recent)
    if not moves:
        return _not("No number column has moved by another location and scale alone.")
    inputs = known.inputs.copy()
    for move in moves:
        inputs[move.column] = move.apply(inputs[move.column])
    told = _listed(list(map(_move_told, moves)))
    says = f"Columns are read otherwise: {told}. The labelled rows are read so, too."
    return Proposal(True, says, (Number("columns", "Columns that drifted", len(moves)),), inputs)


def _pseudo_labels(known: Known, seed: int) -> Proposal:
    """Learn from recent rows, too, about which the model that serves is sure.

    Self-training (Scudder, IEEE Trans. Information Theory 11, 1965). A row is sure from the chance
    on at which the model makes half as many mistakes on rows that it has not learned from.
    """
    chances = known.said.chances
    recent = known.said_recent.chances
    if chances is None or recent is None:
        return _not("Nothing says how sure a model of numbers is: no row can be chosen.")
    right = _is_right(known)
    least = sure_from(chances.max(axis=1), right, 1 - (1 - right.mean()) / 2)
    if least is None:
        return _not("The model that serves is never sure enough to be learned from.")
    sure = np.flatnonzero(recent.max(axis=1) >= least)
    if len(sure) < FEWEST:
        return _not(f"The model that serves is sure about {len(sure)} recent rows only.")
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(sure)[: len(known.inputs)])
    says = (
        f"The model that serves is sure about {len(sure):,} of {len(known.recent):,} recent rows "
        f"(from a chance of {least:.2f} on); it learns from {len(chosen):,} of its own answers."
    )
    return Proposal(
        True,
        says,
        (Number("sure", "Recent rows learned from", len(chosen)),),
        known.inputs,
        extra=chosen,
        extra_answers=known.said_recent.values[chosen],
    )


WAYS: dict[str, Callable[[Known, int], Proposal]] = {
    "weights": _weights,
    "prior": _prior,
    "scale": _scale,
    "pseudo-labels": _pseudo_labels,
}
"""How a model may be adapted, by name."""


def sure_from(confidence: np.ndarray, right: np.ndarray, share: float) -> float | None:
    """Return the least confidence from which on at least ``share`` of the rows are right.

    ``confidence`` and ``right`` (n,): of rows that the model has not learned from. None where that
    is never so, or of fewer than 20 rows.
    """
    order = np.argsort(-confidence, kind="stable")
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero((shares >= share) & (np.arange(1, len(order) + 1) >= 20))
    return float(confidence[order[enough[-1]]]) if len(enough) else None


def _not(says: str, numbers: tuple[Number, ...] = ()) -> Proposal:
    return Proposal(False, says, numbers)


def _features(known: Known) -> tuple[np.ndarray, np.ndarray]:
    """Return labelled and recent inputs as numbers (n, d) and (m, d)."""
    encoder = Encoder.learn(known.inputs)
    return encoder.encode(known.inputs, are_reference=True), encoder.encode(known.recent)


def _moved(known: Known) -> str:
    """Name the columns that moved most."""
    from easeml.lifecycle.monitoring.drift import covariate_test

    encoder = Encoder.learn(known.inputs)
    inputs: Any = known.inputs
    recent_inputs: Any = known.recent
    found: dict[str, float] = {}
    for column in encoder.columns:
        rows, recent = (
            column.encode(inputs[column.name], are_reference=True),
            column.encode(recent_inputs[column.name]),
        )
        names = list(map(str, range(rows.shape[1])))
        p_value = covariate_test(rows, recent, names, _LEVEL).p_value
        if p_value is not None:
            found[column.name] = min(1.0, p_value * len(encoder.columns))
    moved = sorted((name for name in found if found[name] <= _LEVEL), key=found.__getitem__)
    if not moved:
        return "The inputs moved together, no column alone."
    return f"Inputs moved in {_listed(moved)}."


def _codes(known: Known) -> np.ndarray:
    """Return the classes of the labelled rows as places among the model's classes."""
    assert known.said.classes is not None
    place = {str(name): number for number, name in enumerate(known.said.classes)}
    return np.array([place[str(answer)] for answer in known.answers], dtype=np.int64)


def _is_right(known: Known) -> np.ndarray:
    answers = np.asarray(known.answers[known.held_out]).astype(str)
    return answers == np.asarray(known.said.values).astype(str)


def _shares_told(found: ClassShares, classes: np.ndarray) -> str:
    """Name the classes whose share changed most."""
    change = np.abs(found.by_likelihood - found.before)
    told = []
    for code in np.argsort(-change, kind="stable")[:_SHOWN]:
        before, after = found.before[code], found.by_likelihood[code]
        told.append(f"{classes[code]} {before:.1%} before, {after:.1%} now")
    more = " (the largest changes)" if len(classes) > _SHOWN else ""
    return f"Shares of the classes{more}: {'; '.join(told)}."


def _move_told(move: Move) -> str:
    return (
        f"{move.column} (median {move.median_before:.4g} to {move.median_after:.4g}, "
        f"spread times {move.factor:.3g})"
    )


def _listed(names: list[str]) -> str:
    """Return names in a sentence, the first few of them."""
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return ", ".join(names)

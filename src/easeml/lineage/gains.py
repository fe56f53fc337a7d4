"""What cleaning, checking and labelling are expected to bring, measured on the validation rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from easeml.lifecycle import encode
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.journey import Estimate
from easeml.lineage.label_checks import JudgedLabels
from easeml.relation import Relation

_WORLDS = 10
_DRAWS = 19
"""Trials of an action: what comes next lies between the least and the largest of them in 18 of 20
cases, if it is as they are.
"""


def cleaning_gain(relation: Relation, share: float, seed: int) -> Estimate:
    """Return what is gained when a share of the train rows in doubt becomes known.

    The truth is one of the worlds, drawn by their weights, so what is gained by knowing all of it
    is as the quality of models in drawn worlds beyond that in the likeliest one. The share is taken
    to bring its share. The interval is that of trials: in a drawn half of the train rows, a share
    of those in doubt is as in a drawn world.
    """
    now = relation.to_frame()
    before = quality(relation, now, now)
    gains = [quality(relation, world, now) - before for world in relation.worlds(_WORLDS, seed)]
    rng = np.random.default_rng(seed)
    train = now.index.intersection(relation.in_role("train").row_ids)
    doubtful = now.index.intersection(_doubtful(relation))
    trials = []
    for world in relation.worlds(_DRAWS, seed + 1):
        half = now.drop(index=rng.choice(train, len(train) // 2, replace=False))
        there = doubtful.intersection(half.index).intersection(world.index)
        known = rng.choice(there, round(share * len(there)), replace=False)
        settled = half.copy()
        settled.loc[known] = world.loc[known, list(settled.columns)]
        trials.append(quality(relation, settled, now) - quality(relation, half, now))
    return _estimate(share * float(np.mean(gains)), trials)


def labelling_gain(relation: Relation, rows: int, seed: int) -> Estimate:
    """Return what is gained by ``rows`` more labels, by the slope of the learning curve.

    Quality is taken to grow with the logarithm of the rows, as much as it does in trials: a drawn
    half of the train rows gets as many others. The interval is that of the trials.
    """
    now = relation.to_frame()
    rng = np.random.default_rng(seed)
    train = now.index.intersection(relation.in_role("train").row_ids)
    few = len(train) // 2
    more = min(few + rows, len(train))
    trials = []
    for _ in range(_DRAWS):
        order = rng.permutation(train)
        after = quality(relation, now.drop(index=order[more:]), now)
        trials.append(after - quality(relation, now.drop(index=order[few:]), now))
    doublings = np.log2(1 + rows / len(train)) / np.log2(more / few)
    return _estimate(float(np.mean(trials) * doublings), trials)


def checking_gain(relation: Relation, judged: JudgedLabels, rows: int, seed: int) -> Estimate:
    """Return what is gained by looking at the ``rows`` labels that are likeliest wrong.

    Each is wrong with its probability, and then what models of the other rows say. The gain is the
    mean over draws; the interval is that of the draws, on drawn halves of the train rows.
    """
    now = relation.to_frame()
    X, labels, *validation = _learnable(relation, now, now)
    first = judged.listed[:rows]
    places = labels.index.get_indexer(judged.labels.index[first])
    given = np.asarray(_plain(labels))
    others = np.asarray(judged.suggested)[first].astype(given.dtype)
    before = _score(X, given, *validation)
    rng = np.random.default_rng(seed)
    gains, trials = [], []
    for _ in range(_DRAWS):
        is_wrong = rng.random(rows) < judged.wrong[first]
        checked = given.copy()
        checked[places[is_wrong]] = others[is_wrong]
        gains.append(_score(X, checked, *validation) - before)
        half = rng.permutation(len(given))[: len(given) // 2]
        after = _score(X[half], checked[half], *validation)
        trials.append(after - _score(X[half], given[half], *validation))
    return _estimate(float(np.mean(gains)), trials)


def _estimate(gain: float, trials: list[float]) -> Estimate:
    """Return a gain with the interval of trials, which it is in."""
    return Estimate(gain, min(gain, *trials), max(gain, *trials))


def _doubtful(relation: Relation) -> pd.Index:
    """Return the ids of the train rows in doubt."""
    content = relation.in_role("train").content
    rows = content.blocks.row[content.blocks.sizes > 1]
    return content.row_ids[np.unique(rows)]


def quality(relation: Relation, train_world: pd.DataFrame, valid_world: pd.DataFrame) -> float:
    """Return accuracy or R2 of a small model on the validation rows."""
    X, labels, X_valid, truth = _learnable(relation, train_world, valid_world)
    return _score(X, _plain(labels), X_valid, truth)


def _learnable(
    relation: Relation, train_world: pd.DataFrame, valid_world: pd.DataFrame
) -> tuple[np.ndarray, Column, np.ndarray, Column]:
    """Return matrix and labels of the labelled train rows, and those of the validation rows.

    Those of validation rows are as models take them (``_plain``).
    """
    target = str(relation.target)
    train = _rows(train_world, relation.in_role("train").row_ids, target)
    valid = _rows(valid_world, relation.in_role("validation").row_ids, target)
    with warnings.catch_warnings():
        # A drawn half need not have every category that is validated on.
        warnings.filterwarnings("ignore", "Found unknown categories")
        X, X_valid = encode(train.drop(columns=target), valid.drop(columns=target))
    return X, train[target], X_valid, _plain(valid[target])


def _score(X: np.ndarray, labels: Column, X_valid: np.ndarray, truth: Column) -> float:
    """Return accuracy or R2 of a small forest; labels as ``_plain`` gives them."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    is_number = np.asarray(labels).dtype.kind == "f"
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    model = kind(50, random_state=0).fit(X, labels)
    return float(model.score(X_valid, truth))


def _rows(world: pd.DataFrame, row_ids: pd.Index, target: str) -> pd.DataFrame:
    there = world.loc[world.index.intersection(row_ids, sort=False)]
    return there[there[target].notna()]


def _plain(labels: Column) -> Column:
    """Return labels as models take them: numbers, or names of classes."""
    if pd.api.types.is_float_dtype(labels):
        return labels.to_numpy()
    return labels.astype(str)

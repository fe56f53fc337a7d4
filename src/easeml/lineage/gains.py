"""What cleaning and labelling are expected to bring, measured on the validation rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from easeml.lifecycle import encode
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.journey import Estimate
from easeml.relation import Relation

_WORLDS = 10
_PARTS = 10  # halves of the train rows that are drawn
_LEVEL = 0.9


def cleaning_gain(relation: Relation, share: float, seed: int) -> Estimate:
    """Return what is gained when a share of the train rows in doubt becomes known.

    The truth is one of the worlds, drawn by their weights, so what is gained by knowing all of it
    is as the quality of models in drawn worlds beyond that in the likeliest one. The share is taken
    to bring its share.
    """
    now = relation.to_frame()
    qualities = []
    for world in relation.worlds(_WORLDS, seed):
        qualities.append(quality(relation, world, now))
    gains = share * (np.array(qualities) - quality(relation, now, now))
    return _gain(gains)


def labelling_gain(relation: Relation, rows: int, seed: int) -> Estimate:
    """Return what is gained by ``rows`` more labels, by the slope of the learning curve.

    Quality is taken to grow with the logarithm of the rows, as much as it does from drawn halves of
    the train rows to all of them.
    """
    now = relation.to_frame()
    rng = np.random.default_rng(seed)
    train = now.index.intersection(relation.in_role("train").row_ids)
    whole = quality(relation, now, now)
    slopes = []
    for _ in range(_PARTS):
        left_out = rng.choice(train, len(train) // 2, replace=False)
        slopes.append(whole - quality(relation, now.drop(index=left_out), now))
    return _gain(np.array(slopes) * np.log2(1 + rows / len(train)))


def _gain(gains: np.ndarray) -> Estimate:
    """Return mean and interval of measured gains."""
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(gains, [tail, 1 - tail])
    return Estimate(float(gains.mean()), float(low), float(high))


def quality(relation: Relation, train_world: pd.DataFrame, valid_world: pd.DataFrame) -> float:
    """Return accuracy or R2 of a small model on the validation rows."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    target = str(relation.target)
    train = _rows(train_world, relation.in_role("train").row_ids, target)
    valid = _rows(valid_world, relation.in_role("validation").row_ids, target)
    X, X_valid = encode(train.drop(columns=target), valid.drop(columns=target))
    is_number = pd.api.types.is_float_dtype(train[target])
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    model = kind(50, random_state=0).fit(X, _plain(train[target]))
    return float(model.score(X_valid, _plain(valid[target])))


def _rows(world: pd.DataFrame, row_ids: pd.Index, target: str) -> pd.DataFrame:
    there = world.loc[world.index.intersection(row_ids, sort=False)]
    return there[there[target].notna()]


def _plain(labels: Column) -> Column:
    """Return labels as models take them: numbers, or names of classes."""
    if pd.api.types.is_float_dtype(labels):
        return labels.to_numpy()
    return labels.astype(str)

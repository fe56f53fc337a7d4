"""What cleaning, checking and labelling are expected to bring, measured on the validation rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from easeml.lifecycle.cleaning.frames import Column, Frame
from easeml.lifecycle.features import fitted_encoder
from easeml.lifecycle.journey import Estimate
from easeml.lineage.label_checks import JudgedLabels
from easeml.relation import Relation

_WORLDS = 10
_TREES = 30  # of a forest: a hundred and more are grown for one question
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
    rows = KnownRows(relation)
    doubtful = _doubtful(relation)
    worlds = [*relation.worlds(_WORLDS, seed), *relation.worlds(_DRAWS, seed + 1)]
    made = rows.of_worlds(worlds, doubtful)
    before = rows.quality(rows.now)
    gains = [rows.quality(world) - before for world in made[:_WORLDS]]
    rng = np.random.default_rng(seed)
    trials = []
    for world in made[_WORLDS:]:
        left_out = rng.choice(rows.train, len(rows.train) // 2, replace=False)
        half = rows.now.only(~rows.now.ids.isin(left_out))
        there = doubtful.intersection(half.ids).intersection(world.ids)
        known = rng.choice(there, round(share * len(there)), replace=False)
        settled = half.replaced(known, world)
        trials.append(rows.quality(settled) - rows.quality(half))
    return _estimate(share * float(np.mean(gains)), trials)


def labelling_gain(relation: Relation, rows: int, seed: int) -> Estimate:
    """Return what is gained by ``rows`` more labels, by the slope of the learning curve.

    Quality is taken to grow with the logarithm of the rows, as much as it does in trials: a drawn
    half of the train rows gets as many others. The interval is that of the trials.
    """
    known = KnownRows(relation)
    rng = np.random.default_rng(seed)
    few = len(known.train) // 2
    more = min(few + rows, len(known.train))
    trials = []
    for _ in range(_DRAWS):
        order = rng.permutation(known.train)
        after = known.quality(known.now.only(~known.now.ids.isin(order[more:])))
        before = known.quality(known.now.only(~known.now.ids.isin(order[few:])))
        trials.append(after - before)
    doublings = np.log2(1 + rows / len(known.train)) / np.log2(more / few)
    return _estimate(float(np.mean(trials) * doublings), trials)


def checking_gain(relation: Relation, judged: JudgedLabels, rows: int, seed: int) -> Estimate:
    """Return what is gained by looking at the ``rows`` labels that are likeliest wrong.

    Each is wrong with its probability, and then what models of the other rows say. The gain is the
    mean over draws; the interval is that of the draws, on drawn halves of the train rows.
    """
    known = KnownRows(relation)
    X = known.now.X
    given = known.now.labels
    first = judged.listed[:rows]
    places = known.now.ids.get_indexer(judged.labels.index[first])
    others = np.asarray(judged.suggested)[first].astype(given.dtype)
    before = known.quality(known.now)
    rng = np.random.default_rng(seed)
    gains, trials = [], []
    for _ in range(_DRAWS):
        is_wrong = rng.random(rows) < judged.wrong[first]
        checked = given.copy()
        checked[places[is_wrong]] = others[is_wrong]
        gains.append(known.score(X, checked) - before)
        half = rng.permutation(len(given))[: len(given) // 2]
        trials.append(known.score(X[half], checked[half]) - known.score(X[half], given[half]))
    return _estimate(float(np.mean(gains)), trials)


def _estimate(gain: float, trials: list[float]) -> Estimate:
    """Return a gain with the interval of trials, which it is in."""
    return Estimate(gain, min(gain, *trials), max(gain, *trials))


def _doubtful(relation: Relation) -> pd.Index:
    """Return the ids of the train rows in doubt."""
    content = relation.in_role("train").content
    rows = content.blocks.row[content.blocks.sizes > 1]
    return content.row_ids[np.unique(rows)]


@dataclass(frozen=True)
class Coded:
    """Labelled train rows as models take them: ``ids`` (n,), ``X`` (n, d), ``labels`` (n,)."""

    ids: pd.Index
    X: np.ndarray
    labels: np.ndarray

    def only(self, kept: np.ndarray) -> Coded:
        """Return the rows of which ``kept`` (n,) is true."""
        return Coded(self.ids[kept], self.X[kept], self.labels[kept])

    def replaced(self, row_ids: np.ndarray, world: Coded) -> Coded:
        """Return the rows with those of some ids as they are in another world."""
        places, theirs = self.ids.get_indexer(row_ids), world.ids.get_indexer(row_ids)
        X, labels = self.X.copy(), self.labels.copy()
        X[places] = world.X[theirs]
        labels[places] = world.labels[theirs]
        return Coded(self.ids, X, labels)


class KnownRows:
    """Train and validation rows, encoded once: that takes longer than the models that learn them.

    ``now``: the labelled train rows, as they are likeliest. ``train``: ids of all train rows.
    """

    def __init__(self, relation: Relation) -> None:
        self._target = str(relation.target)
        frame: Frame = relation.to_frame()
        self._train_ids = relation.in_role("train").row_ids
        self.train = frame.index.intersection(self._train_ids)
        train = _labelled(frame, self._train_ids, self._target)
        valid = _labelled(frame, relation.in_role("validation").row_ids, self._target)
        self._encode, X = fitted_encoder(train.drop(columns=self._target))
        self.now = Coded(train.index, X, self._labels(train))
        self._X_valid = self._encoded(valid)
        self._truth = self._labels(valid)

    def of_worlds(self, worlds: Sequence[Frame], doubtful: pd.Index) -> list[Coded]:
        """Return the labelled train rows of some worlds, of which those in doubt are encoded."""
        frames = [_labelled(world, self._train_ids, self._target) for world in worlds]
        certain = self.now.ids.difference(doubtful, sort=False)
        differ = [frame.loc[~frame.index.isin(certain)] for frame in frames]
        sizes = np.cumsum(list(map(len, differ)))[:-1]
        changed = np.split(self._encoded(pd.concat(differ)), sizes)
        return list(map(self._of_world, frames, differ, changed))

    def _of_world(self, frame: Frame, differ: Frame, changed: np.ndarray) -> Coded:
        X = self.now.X[self.now.ids.get_indexer(frame.index)]
        X[frame.index.get_indexer(differ.index)] = changed
        return Coded(frame.index, X, self._labels(frame))

    def quality(self, rows: Coded) -> float:
        """Return accuracy or R2 on the validation rows of a small forest that learns rows."""
        return self.score(rows.X, rows.labels)

    def score(self, X: np.ndarray, labels: np.ndarray) -> float:
        """Return the same of a forest that learns ``X`` (n, d) and ``labels`` (n,)."""
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        kind = RandomForestRegressor if labels.dtype.kind == "f" else RandomForestClassifier
        model = kind(_TREES, random_state=0).fit(X, labels)
        return float(model.score(self._X_valid, self._truth))

    def _encoded(self, frame: Frame) -> np.ndarray:
        with warnings.catch_warnings():
            # A world need not have the categories of the likeliest one.
            warnings.filterwarnings("ignore", "Found unknown categories")
            return self._encode(frame.drop(columns=self._target))

    def _labels(self, frame: Frame) -> np.ndarray:
        return np.asarray(_plain(frame[self._target]))


def _labelled(world: Frame, row_ids: pd.Index, target: str) -> Frame:
    there = world.loc[world.index.intersection(row_ids, sort=False)]
    return there[there[target].notna()]


def _plain(labels: Column) -> Column:
    """Return labels as models take them: numbers, or names of classes."""
    if pd.api.types.is_float_dtype(labels):
        return labels.to_numpy()
    return labels.astype(str)

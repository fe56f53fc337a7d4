"""Models of drawn worlds: a distribution over models, and over the answers that they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning.frames import Column
from easeml.lifecycle.doubts.conversions import target_of
from easeml.lifecycle.features import encode
from easeml.relation import Relation, Source, cell_candidates

_CONFIDENCE = 0.95
_FEW_NUMBERS = 20  # whole numbers with fewer different values are classes


@dataclass(frozen=True)
class WorldPredictions:
    """What the models of D drawn worlds answer for M rows.

    ``row_ids`` (M,); ``answers`` (D, M). ``unseen``: with 95 % confidence, the worlds in which a
    row that has one answer in all draws has another weigh at most this much.
    """

    row_ids: pd.Index
    answers: np.ndarray

    @property
    def certain(self) -> np.ndarray:
        """(M,) whether the models of all drawn worlds agree."""
        return (self.answers == self.answers[0]).all(axis=0)

    @property
    def unseen(self) -> float:
        """The weight of worlds that may have been missed: (1 - w)^D = .05 (Hanley, JAMA 1983)."""
        return 1 - (1 - _CONFIDENCE) ** (1 / len(self.answers))

    def shares(self, row: int) -> dict[Any, float]:
        """Return the answers for a row (its number) with the share of worlds that give them."""
        values, counts = np.unique(self.answers[:, row], return_counts=True)
        return dict(zip(values.tolist(), (counts / len(self.answers)).tolist(), strict=True))


def predict_over_worlds(
    relation: Relation,
    roles: Sequence[str] = ("pool", "production"),
    *,
    draws: int = 20,
    seconds: float = 60.0,
    clock: Callable[[], float] | None = None,
    seed: int = 0,
) -> WorldPredictions:
    """Train a model in each of some drawn worlds, and ask all of them about rows.

    Models are random forests of 50 trees. Features are learned once, from the likeliest world. Rows
    to predict vary with the world, too. Rows that may not exist are left out where they do not.

    Args:
        relation: with a target, and train rows.
        roles: of the rows to predict.
        draws: worlds, at least 2.
        seconds: after which no further world is drawn, where there is a ``clock``.
        clock: tells the time in seconds.
        seed: of the draws.

    Raises:
        InvalidInput: without a target, train rows with labels, or rows to predict.
    """
    if draws < 2:
        raise InvalidInput(f"draws is {draws}; it takes at least 2 worlds.")
    target = target_of(relation)
    asked = relation.in_role(*roles).row_ids
    trained = relation.in_role("train").row_ids
    likeliest = relation.to_frame()
    taught = _labelled(likeliest, trained, target)
    if taught.empty or len(asked) == 0:
        raise InvalidInput("There are no labelled train rows, or no rows to predict.")
    numeric = _is_number(taught[target])
    begun = clock() if clock is not None else 0.0
    answers = []
    for world in relation.worlds(draws, seed):
        answers.append(_answers(taught, world, trained, asked, target, numeric=numeric))
        if clock is not None and len(answers) > 1 and clock() - begun > seconds:
            break
    return WorldPredictions(asked, np.array(answers))


def predicted(
    relation: Relation, roles: Sequence[str], *, draws: int = 20, seed: int = 0
) -> Relation:
    """Return the rows of some roles with the answers of drawn worlds as candidates for the target.

    A row on which all models agree has no doubt left; the source of its label says so. Raises as
    ``predict_over_worlds`` does.
    """
    found = predict_over_worlds(relation, roles, draws=draws, seed=seed)
    target = target_of(relation)
    agreed = f"predicted, the same in {draws} worlds"
    differs = f"predicted, in {draws} worlds"
    told = []
    for row, row_id in enumerate(found.row_ids):
        source = Source(agreed if found.certain[row] else differs, "1", seed)
        told.append(cell_candidates(row_id, target, found.shares(row), source))
    return relation.in_role(*roles).with_all(told)


def _labelled(world: pd.DataFrame, row_ids: pd.Index, target: str) -> pd.DataFrame:
    there = world.loc[world.index.intersection(row_ids, sort=False)]
    return there[there[target].notna()]


def _is_number(labels: Column) -> bool:
    if not pd.api.types.is_numeric_dtype(labels):
        return False
    whole = bool((labels == labels.round()).all())
    return not (whole and labels.nunique() < _FEW_NUMBERS)


def _answers(
    taught: pd.DataFrame,
    world: pd.DataFrame,
    trained: pd.Index,
    asked: pd.Index,
    target: str,
    *,
    numeric: bool,
) -> np.ndarray:
    """Return (M,) what a model of one world says of the rows that are asked."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    train = _labelled(world, trained, target)
    points = world.reindex(asked)
    _, X, X_asked = encode(
        taught.drop(columns=target), train.drop(columns=target), points.drop(columns=target)
    )
    kind = RandomForestRegressor if numeric else RandomForestClassifier
    labels = train[target].to_numpy(dtype=float if numeric else None)
    model = kind(50, random_state=0).fit(X, labels)
    return model.predict(X_asked)

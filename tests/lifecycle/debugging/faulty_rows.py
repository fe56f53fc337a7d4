"""Rows with a fault that is known, and a model that learned from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from easeml.lifecycle.held_out import Predicted, Unseen

COLUMNS = ["x", "z", "site"]


def rows(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return inputs, and codes of what is true: the sign of x + z, but for one row of 20."""
    random = np.random.default_rng(seed)
    inputs = pd.DataFrame(
        {
            "x": random.normal(size=count),
            "z": random.normal(size=count),
            "site": pd.Categorical(random.choice(["north", "south", "west"], size=count)),
        },
        index=np.arange(count) + 100_000 * seed,
    )
    codes = (inputs["x"] + inputs["z"] > 0).to_numpy().astype(int)
    return inputs, np.where(random.random(count) < 0.05, 1 - codes, codes)


def answers(codes: np.ndarray, inputs: pd.DataFrame) -> pd.Series:
    """Return codes as a column of classes."""
    told = pd.Categorical.from_codes(codes, categories=["no", "yes"])
    return pd.Series(told, index=inputs.index, name="answer")


class Model:
    """What learned from rows."""

    def __init__(self, inputs: pd.DataFrame, truth: pd.Series) -> None:
        """Learn."""
        self._model = HistGradientBoostingClassifier(max_iter=40, random_state=0)
        self._model.fit(self._coded(inputs), truth.astype(str))

    def predict(self, inputs: pd.DataFrame) -> Unseen:
        """Return what it says."""
        chances = self._model.predict_proba(self._coded(inputs))
        classes = self._model.classes_.astype(object)
        return Unseen(classes[chances.argmax(axis=1)], chances, classes)

    @staticmethod
    def _coded(inputs: pd.DataFrame) -> pd.DataFrame:
        return inputs.assign(site=inputs["site"].cat.codes)


def facts(
    train: tuple[pd.DataFrame, np.ndarray],
    validation: tuple[pd.DataFrame, np.ndarray],
    production: tuple[pd.DataFrame, np.ndarray] | None = None,
) -> dict:
    """Return the facts of the tool, of a model that learned from ``train``."""
    known = answers(train[1], train[0])
    model = Model(train[0], known)
    inputs = validation[0]
    told = {
        "inputs": inputs,
        "answers": answers(validation[1], inputs),
        "predictions": model.predict(inputs),
        "predict": model.predict,
        "train": Predicted(train[0], known, {}),
    }
    if production is not None:
        later, codes = production
        said = {"model": model.predict(later)}
        told["newer"] = Predicted(later, answers(codes, later), said)
    return told

"""``AutoMLClassifier`` and ``AutoMLRegressor``."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from easeml.estimators.base import AutoML
from easeml.export import ExportedModel


class AutoMLClassifier(ClassifierMixin, AutoML):
    """A classifier that easeml searches for: data in, the best model that the seconds can buy out."""

    _kind = "category"

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Add rows to those of the fits before, and search on all of them.

        The search begins with the configurations that were best before. With ``url`` the rows make
        a new version of the application's data, and its search goes on; a class that is new cannot
        be added there. The first call is as ``fit``. ``classes``: those that may come, as
        scikit-learn asks for; one that is new and not among them is warned of. It is known to
        ``classes_`` from its first row on.

        Raises as ``fit``, and ``ValueError`` where other columns come, or where the rows before are
        not there any more: pickles and folders do not hold them.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, groups, sample_weight)
        rows = self._rows_of(X, y, groups, sample_weight, reset=False)
        self._tell_new_classes(rows.answers, classes)
        return self._fit_more(rows)

    def _tell_new_classes(self, answers: np.ndarray, expected: Any) -> None:
        known = set(self.classes_.tolist())
        new = sorted(set(answers.tolist()) - known, key=str)
        if new and self.url is not None:
            raise ValueError(
                f"The application has no classes {new}. Call fit with all rows: that declares "
                "another one."
            )
        surprising = [label for label in new if expected is None or label not in expected]
        if surprising:
            warnings.warn(f"Classes that no fit before had: {surprising}.", stacklevel=3)

    def predict(self, X: Any) -> np.ndarray:
        """Return a class a row, (n,), of those in ``y``."""
        said = self._predicted(X)["prediction"]
        names = _names(len(self.classes_))
        place_of = dict(zip(names, range(len(names)), strict=True))
        places = said.map(place_of.__getitem__)
        return self.classes_[places.to_numpy(dtype=int)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities (n, classes), in the order of ``classes_``; rows add up to 1."""
        found = self._predicted(X)
        columns = [f"probability_{name}" for name in _names(len(self.classes_))]
        return found.reindex(columns=columns, fill_value=0.0).to_numpy(dtype=float)

    def _answers(self, y: Any, rows: int) -> np.ndarray:
        import pandas as pd

        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        gaps = int(pd.isna(labels).sum())
        if gaps:
            raise ValueError(
                f"Input y contains NaN or None in {gaps} of {len(labels)} rows: leave these rows out."
            )
        check_classification_targets(labels)
        _check_length(labels, rows)
        return labels

    def _name_classes(self, answers: np.ndarray) -> None:
        classes = np.unique(answers)
        if len(classes) < 2:
            raise ValueError(
                "Classifier can't train when only one class is present: bring rows of another class."
            )
        self.classes_ = classes

    def _coded(self, answers: np.ndarray) -> np.ndarray:
        codes = np.searchsorted(self.classes_, answers)
        return np.array(_names(len(self.classes_)), dtype=object)[codes]

    def _labels(self) -> dict[str, Any]:
        return dict(zip(_names(len(self.classes_)), self.classes_.tolist(), strict=True))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "classes_": self.classes_.tolist()}

    def _take(self, model: ExportedModel, told: dict[str, Any]) -> None:
        super()._take(model, told)
        self.classes_ = np.array(told["classes_"])


class AutoMLRegressor(RegressorMixin, AutoML):
    """A regressor that easeml searches for, with intervals (``predict_interval``)."""

    _kind = "number"

    def partial_fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of the fits before, and search on all of them.

        The search begins with the configurations that were best before. With ``url`` the rows make
        a new version of the application's data, and its search goes on. The first call is as
        ``fit``.

        Raises as ``fit``, and ``ValueError`` where other columns come, or where the rows before are
        not there any more: pickles and folders do not hold them.
        """
        if not hasattr(self, "model_"):
            return self.fit(X, y, groups, sample_weight)
        return self._fit_more(self._rows_of(X, y, groups, sample_weight, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Return a number a row, (n,)."""
        return self._predicted(X)["prediction"].to_numpy(dtype=float)

    def predict_interval(self, X: Any) -> np.ndarray:
        """Return lower and upper ends (n, 2) that hold nine answers of ten.

        NaN where there were too few rows to tell.
        """
        found = self._predicted(X)
        return found.reindex(columns=["lower", "upper"]).to_numpy(dtype=float)

    def _answers(self, y: Any, rows: int) -> np.ndarray:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None.")
        values = column_or_1d(y, warn=True)
        _check_length(values, rows)
        numbers = _numbers(values)
        if not np.isfinite(numbers).all():
            raise ValueError("Input y contains NaN or infinity: leave these rows out.")
        if np.ptp(numbers) == 0:
            raise ValueError(f"y is {numbers[0]:g} in every row: bring rows with other values.")
        return numbers


def _names(classes: int) -> list[str]:
    """Return how classes are called in tables: with a letter, so that none is taken for a number."""
    return [f"c{code}" for code in range(classes)]


def _numbers(values: np.ndarray) -> np.ndarray:
    """Return answers as numbers. Raises ``ValueError`` for texts that are none."""
    try:
        return values.astype(float)
    except ValueError as error:
        raise ValueError(f"y holds what is no number: {error}. Use AutoMLClassifier.") from error


def _check_length(answers: np.ndarray, rows: int) -> None:
    if len(answers) != rows:
        raise ValueError(f"X has {rows} rows, y {len(answers)}: inconsistent numbers of samples.")
    if rows < 2:
        raise ValueError(f"Found {rows} sample(s); at least 2 are needed.")

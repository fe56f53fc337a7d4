"""``AutoMLClassifier`` and ``AutoMLRegressor``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from easeml.data.errors import did_you_mean
from easeml.estimators.frames import frame_of, typed
from easeml.estimators.searching import Clock, Found, Problem, Search, Trial, finish
from easeml.export import load_exported
from easeml.export.exported import LABELS, ExportedModel
from easeml.modules import conformal, load_registry
from easeml.modules.ensemble import TrainedEnsemble, member_folder, seal
from easeml.modules.pipeline import TrainedPipeline, save

if TYPE_CHECKING:
    import pandas as pd

_HELD = 0.25  # of the rows, to choose by
_MOST_HELD = 20_000
_FOLDS = 4  # of cross-validation
_FOLDED_ROWS = 3000  # at most, for cross-validation
_LEAST_ROWS = 8  # from which rows are held out at all
_SAMPLE = 5  # rows that prove that a saved model predicts alike

Listener = Callable[[Trial], None]


class _AutoML(BaseEstimator):
    """What both estimators do."""

    _kind = ""
    n_features_in_: int
    feature_names_in_: np.ndarray

    def __init__(
        self,
        time_limit: float = 60.0,
        *,
        objective: str = "",
        max_models: int = 1000,
        models: Sequence[str] = (),
        random_state: int = 0,
        n_jobs: int = 1,
        callback: Listener | None = None,
    ):
        """Make an estimator; nothing is done before ``fit``.

        ``time_limit``: processor seconds of ``fit``, of all its threads. ``objective``: what models
        are compared by (``accuracy``, ``roc-auc``, ``r2``, ...), by default what fits the answers.
        ``max_models``: models to try at most; ``models``: names of those that may be tried, by
        default all that fit (``easeml module list``). ``n_jobs``: threads of a fit, -1 for all
        cores. ``callback`` hears of each model that was tried.
        """
        self.time_limit = time_limit
        self.objective = objective
        self.max_models = max_models
        self.models = models
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search for a model.

        ``X`` (n, d): a frame of pandas or Polars, an Arrow table, or an array; columns may hold
        numbers, categories, texts and dates, and cells may be missing. ``y`` (n,). ``groups`` (n,):
        rows of one group are never on both sides when models are compared.

        Raises ``ValueError`` where nothing can be learned, ``TypeError`` for sparse matrices.
        """
        clock = Clock()
        frame = frame_of(X)
        validate_data(self, X, skip_check_array=True)
        answers = self._answers(y, len(frame))
        table = typed(frame, answers, self._kind)
        registry = load_registry()
        fitting = [module.name for module in registry.objectives_for(table.schema_out)]
        objective = self.objective or fitting[0]
        if objective not in fitting:
            raise ValueError(
                f"There is no objective {objective!r} for these answers. "
                f"{did_you_mean(objective, fitting)}"
            )
        problem = Problem(
            table=table,
            splits=self._splits(answers, groups),
            objective=objective,
            limit=self.time_limit,
            trials=self.max_models,
            models=tuple(self.models),
            threads=(os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs,
            seed=self.random_state or 0,
        )
        with threadpool_limits(problem.threads):  # else OpenMP takes all cores, and waits on them
            trials = Search(registry, problem, clock).run(self.callback or _be_quiet)
            found = finish(problem, trials, clock)
        model = ExportedModel(found.model, table.schema_in, table.schema_out)
        self._keep(found, model, problem.actual)
        self._sample = table.frame.iloc[:_SAMPLE]
        self.objective_ = objective
        self.seconds_ = clock.used()
        return self

    def _keep(self, found: Found, model: ExportedModel, held: Any) -> None:
        band = conformal.describe(held, found.unseen)
        if band is not None:
            trained = replace(found.model, manifest={conformal.FACT: band})
            model = replace(model, trained=trained)
        self.model_ = model
        self.quality_ = found.quality
        self.refitted_ = found.refitted
        self.members_ = [(trial.name, weight) for trial, weight in found.members]
        self.trials_ = [replace(one, trained=(), predictions=None) for one in found.trials]

    def _answers(self, y: Any, rows: int) -> np.ndarray:
        raise NotImplementedError

    def _splits(self, answers: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the places of the rows to learn from, and of those to choose by, by split."""
        rows = len(answers)
        if rows < _LEAST_ROWS:
            return [(np.arange(rows), np.arange(rows))]  # too few to hold any out
        if groups is None:
            splitter = self._splitter(answers)
        else:
            splitter = self._group_splitter(groups)
        return list(splitter.split(np.zeros((rows, 1)), answers, groups))

    def _group_splitter(self, groups: Any) -> GroupShuffleSplit | GroupKFold:
        """Return what divides rows such that those of a group stay together."""
        if len(groups) > _FOLDED_ROWS or len(np.unique(groups)) < _FOLDS:
            return GroupShuffleSplit(1, test_size=_HELD, random_state=self.random_state)
        return GroupKFold(_FOLDS)

    def _splitter(self, answers: np.ndarray) -> Any:
        """Return what divides rows: folds of few, one part of many; by class where these last."""
        rows = len(answers)
        least = self._least(answers)
        if rows > _FOLDED_ROWS:
            once = StratifiedShuffleSplit if least >= 2 else ShuffleSplit
            held = min(int(_HELD * rows), _MOST_HELD)
            return once(1, test_size=held, random_state=self.random_state)
        folds = StratifiedKFold if least >= _FOLDS else KFold
        return folds(_FOLDS, shuffle=True, random_state=self.random_state)

    def _least(self, answers: np.ndarray) -> int:
        """Return the rows of the rarest class; 0 where answers are numbers."""
        if self._kind != "category":
            return 0
        return int(np.unique(answers, return_counts=True)[1].min())

    def _predicted(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self)
        frame = frame_of(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.model_.predict(frame)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that the model uses."""
        check_is_fitted(self)
        return np.array(list(self.model_.schema_in.columns), dtype=object)

    def leaderboard(self) -> pd.DataFrame:
        """Return a frame of the models that were tried, the best first.

        Its columns: ``model``, ``quality`` (on rows that it had not seen; a score, 1 is best),
        ``seconds`` of the processor, ``config``, ``error``.
        """
        import pandas as pd

        check_is_fitted(self)
        rows = []
        for trial in self.trials_:
            config = trial.pipeline["model"]["config"]
            rows.append((trial.name, trial.quality, trial.seconds, config, trial.error))
        columns = ["model", "quality", "seconds", "config", "error"]
        found = pd.DataFrame(rows, columns=columns)
        return found.sort_values("quality", ascending=False, ignore_index=True)

    def fit_summary(self) -> str:
        """Return in sentences what ``fit`` did."""
        check_is_fitted(self)
        failed = sum(trial.quality is None for trial in self.trials_)
        made = ", ".join(f"{name} ({weight:.0%})" for name, weight in self.members_)
        rows = "all rows" if self.refitted_ else "a part of the rows"
        return (
            f"{len(self.trials_)} models were tried in {self.seconds_:.1f} processor seconds; "
            f"{failed} failed. What predicts: {made}, fitted on {rows}. "
            f"{self.objective_} on rows that it had not seen: {self.quality_:.4f} (a score)."
        )

    def save(self, folder: str | Path) -> None:
        """Write the model into a new folder, without pickle; ``easeml.export.load_exported`` reads
        it, and so does ``load`` of this class. Raises ``FileExistsError``.
        """
        check_is_fitted(self)
        folder = Path(folder)
        folder.mkdir(parents=True)
        facts = {
            "quality": self.quality_,
            "objective": self.objective_,
            conformal.FACT: self.model_.trained.manifest.get(conformal.FACT),
            "estimator": self._told(),
            LABELS: self._labels(),
        }
        _write(self.model_.trained, folder, self._sample, facts)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return a fitted estimator from its folder. Raises ``Damaged``."""
        model = load_exported(folder)
        loaded = cls()
        loaded._take(model, model.trained.manifest["estimator"])
        return loaded

    def _labels(self) -> dict[str, Any]:
        """Return the classes by their names in the model; none where answers are numbers."""
        return {}

    def _told(self) -> dict[str, Any]:
        told = {
            "n_features_in_": self.n_features_in_,
            "members_": self.members_,
            "refitted_": self.refitted_,
            "seconds_": self.seconds_,
        }
        if hasattr(self, "feature_names_in_"):
            told["feature_names_in_"] = self.feature_names_in_.tolist()
        return told

    def _take(self, model: ExportedModel, told: dict[str, Any]) -> None:
        for name, value in told.items():
            setattr(self, name, np.array(value, dtype=object) if "names" in name else value)
        self.model_ = replace(model, labels={})  # it is this class that names them
        self.quality_ = model.trained.manifest["quality"]
        self.objective_ = model.trained.manifest["objective"]
        self.trials_ = []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class AutoMLClassifier(ClassifierMixin, _AutoML):
    """A classifier that easeml searches for: data in, the best model that the seconds can buy out."""

    _kind = "category"

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
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        return np.array(_names(len(self.classes_)), dtype=object)[codes]

    def _labels(self) -> dict[str, Any]:
        return dict(zip(_names(len(self.classes_)), self.classes_.tolist(), strict=True))

    def _told(self) -> dict[str, Any]:
        return {**super()._told(), "classes_": self.classes_.tolist()}

    def _take(self, model: ExportedModel, told: dict[str, Any]) -> None:
        super()._take(model, told)
        self.classes_ = np.array(told["classes_"])


class AutoMLRegressor(RegressorMixin, _AutoML):
    """A regressor that easeml searches for, with intervals (``predict_interval``)."""

    _kind = "number"

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
        numbers = values.astype(float)
        if not np.isfinite(numbers).all():
            raise ValueError("Input y contains NaN or infinity: leave these rows out.")
        return numbers


def _names(classes: int) -> list[str]:
    """Return how classes are called in tables: with a letter, so that none is taken for a number."""
    return [f"c{code}" for code in range(classes)]


def _check_length(answers: np.ndarray, rows: int) -> None:
    if len(answers) != rows:
        raise ValueError(f"X has {rows} rows, y {len(answers)}: inconsistent numbers of samples.")
    if rows < 2:
        raise ValueError(f"Found {rows} sample(s); at least 2 are needed.")


def _be_quiet(trial: Trial) -> None:
    """Tell nobody."""


def _write(
    model: TrainedPipeline | TrainedEnsemble, folder: Path, sample: Any, facts: dict[str, Any]
) -> None:
    if isinstance(model, TrainedPipeline):
        save(model, folder, **facts)
        return
    for number, member in enumerate(model.members):
        save(member, member_folder(folder, number))
    seal(model, folder, sample, **facts)

"""What the estimators have in common: they check rows, ask a search, and tell what it came to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from easeml.estimators import in_process
from easeml.estimators.frames import frame_of
from easeml.estimators.outcome import FoundModel, Listener, Outcome, Rows, Trial, Wish, leaderboard
from easeml.estimators.problem import Clock
from easeml.export import ExportedModel, load_exported
from easeml.optional import if_known

if TYPE_CHECKING:
    import pandas as pd

_KINDS = {True: "category", False: "number"}
_READERS = {"category": "classes: AutoMLClassifier", "number": "numbers: AutoMLRegressor"}
_FIRST = 6  # configurations that were best before, with which a search on more rows begins


class AutoML(BaseEstimator):
    """What both estimators do."""

    _kind = ""
    n_features_in_: int
    feature_names_in_: np.ndarray
    model_: FoundModel

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
        url: str | None = None,
        api_key: str | None = None,
    ):
        """Make an estimator; nothing is done before ``fit``.

        ``time_limit``: processor seconds of ``fit``, of all its threads. ``objective``: what models
        are compared by (``accuracy``, ``roc-auc``, ``r2``, ...), by default what fits the answers.
        ``max_models``: models to try at most; ``models``: names of those that may be tried, by
        default all that fit (``easeml module list``). ``random_state``: seeds what is drawn; what
        is tried next hangs on what runs have cost, too, which no seed repeats. ``n_jobs``: threads
        of a fit, -1 for all cores. ``callback`` hears of each model that was tried.

        ``url``: of an easeml service that is to have the rows, search and predict; None: all is done
        in this process. There ``time_limit`` is in seconds of its devices, and ``n_jobs`` says
        nothing. ``api_key``: for it; by default ``EASEML_API_KEY``, or what ``easeml login`` saved.

        A pickle holds the fitted model, but neither the rows, nor ``api_key``, nor ``callback``.
        """
        self.time_limit = time_limit
        self.objective = objective
        self.max_models = max_models
        self.models = models
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback
        self.url = url
        self.api_key = api_key

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Search for a model.

        ``X`` (n, d): a frame of pandas or Polars, an Arrow table, or an array; columns may hold
        numbers, categories, texts and dates, and cells may be missing. ``y`` (n,). ``groups`` (n,):
        rows of one group are never on both sides when models are compared. ``sample_weight`` (n,):
        how much each row counts, by whatever it is learned from, measured and chosen: 2 as if it
        was there twice, 0 as if it was not. Of numbers that are not whole only ratios matter.

        Raises ``ValueError`` where nothing can be learned, ``TypeError`` for sparse matrices; with
        ``url`` also the errors of ``easeml.client``.
        """
        clock = Clock()
        if not self.time_limit > 0:  # NaN is no limit either
            raise ValueError(f"time_limit is in seconds, above 0: it is {self.time_limit}.")
        self._forget()
        rows = self._rows_of(X, y, groups, sample_weight, reset=True)
        self._name_classes(rows.answers)
        if self.url is not None:
            return self._fit_at_service(rows)
        # The caller's arrays may change before rows are added to these.
        return self._fit_in_process(replace(rows, frame=rows.frame.copy()), clock)

    def _forget(self) -> None:
        """Let go of an earlier fit: if this one fails, a model and the classes must not be of two."""
        for name in ("model_", "_rows"):
            vars(self).pop(name, None)

    def _rows_of(self, X: Any, y: Any, groups: Any, sample_weight: Any, *, reset: bool) -> Rows:
        """Return rows, checked. ``reset``: they say which columns there are; else these are known."""
        frame = self._checked(X, reset=reset)
        answers = self._answers(y, len(frame))
        kept_groups = if_known(groups, np.array)
        weights = _weights_of(sample_weight, len(frame))
        return Rows(frame, answers.copy(), kept_groups, weights).that_count()

    def _fit_in_process(self, rows: Rows, clock: Clock, first: Sequence[Any] = ()) -> Self:
        wish = replace(self._wish(), first=first)
        coded = replace(rows, answers=self._coded(rows.answers))
        self._take_in(in_process.search(coded, wish, self._listener, clock))
        self._rows = rows
        return self

    def _fit_at_service(self, rows: Rows) -> Self:
        from easeml.estimators import at_service

        assert self.url is not None  # the caller has looked
        service = at_service.Service(self.url, self.api_key)
        coded = replace(rows, answers=self._coded(rows.answers))
        model = at_service.declare(service, coded, self._wish())
        self.application_id_ = model.application_id
        self._take_in(at_service.wait(model, self._listener))
        return self

    def _fit_more(self, rows: Rows) -> Self:
        """Fit on the rows before and these."""
        clock = Clock()
        if self.url is not None:
            return self._feed(rows)
        if not hasattr(self, "_rows"):
            raise ValueError(
                "Pickles and saved folders do not hold the rows of the fits before: call fit with "
                "all rows."
            )
        together = self._rows.with_more(rows)
        before = dict(vars(self))
        self._name_classes(together.answers)
        try:
            return self._fit_in_process(together, clock, self._best_before())
        except BaseException:  # an interrupted search, too: the classes are the model's again
            vars(self).update(before)
            raise

    def _feed(self, rows: Rows) -> Self:
        from easeml.estimators import at_service

        model = self.model_
        if not isinstance(model, at_service.ServedModel):
            raise ValueError("The fit before was in this process: call fit to begin at a service.")
        at_service.feed(model, replace(rows, answers=self._coded(rows.answers)))
        self._take_in(at_service.wait(model, self._listener))
        return self

    def _best_before(self) -> list[Any]:
        """Return the modules and configurations that were best before, the best first."""
        measured = [trial for trial in self.trials_ if trial.quality is not None]
        measured.sort(key=lambda trial: -trial.merit)
        return [trial.pipeline["model"] for trial in measured[:_FIRST]]

    def _wish(self) -> Wish:
        return Wish(
            kind=self._kind,
            labels=self._labels(),
            objective=self.objective,
            limit=self.time_limit,
            trials=self.max_models,
            models=tuple(self.models),
            threads=(os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs,
            seed=self.random_state or 0,
        )

    @property
    def _listener(self) -> Listener:
        return self.callback or _be_quiet

    def _take_in(self, outcome: Outcome) -> None:
        self.model_ = outcome.model
        self.objective_ = outcome.objective
        self.quality_ = outcome.quality
        self.seconds_ = outcome.seconds
        self.members_ = outcome.members
        self.refitted_ = outcome.refitted
        self.trials_ = outcome.trials

    def _answers(self, y: Any, rows: int) -> np.ndarray:
        """Return answers (n,), checked."""
        raise NotImplementedError

    def _name_classes(self, answers: np.ndarray) -> None:
        """Learn which classes there are, where answers are such."""

    def _coded(self, answers: np.ndarray) -> np.ndarray:
        """Return answers as they are in tables."""
        return answers

    def _predicted(self, X: Any) -> pd.DataFrame:
        check_is_fitted(self, "model_")
        return self.model_.predict(self._checked(X, reset=False))

    def _checked(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return rows as a frame with the columns of the fit: those without names by their order."""
        frame = frame_of(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset:
            self._columns = list(frame.columns)
        known = vars(self).get("_columns", frame.columns)  # old folders say nothing of them
        return frame.set_axis(known, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that the model uses."""
        check_is_fitted(self, "model_")
        return np.array(list(self.model_.schema_in.columns), dtype=object)

    def leaderboard(self) -> pd.DataFrame:
        """Return a frame of the models that were tried, the best first.

        Its columns: ``model``, ``quality`` (on rows that it had not seen; a score, 1 is best),
        ``seconds`` of the processor, ``config``, ``error``.
        """
        check_is_fitted(self, "model_")
        return leaderboard(self.trials_)

    def fit_summary(self) -> str:
        """Return in sentences what ``fit`` did."""
        check_is_fitted(self, "model_")
        failed = sum(trial.quality is None for trial in self.trials_)
        made = ", ".join(f"{name} ({weight:.0%})" for name, weight in self.members_)
        all_rows, of = "all rows", "processor"
        if self.url is not None:
            all_rows, of = "all rows except the test rows", "device"
        rows = all_rows if self.refitted_ else "a part of the rows"
        return (
            f"{len(self.trials_)} models were tried in {self.seconds_:.1f} {of} seconds; "
            f"{failed} failed. What predicts: {made}, fitted on {rows}. "
            f"{self.objective_} on rows that it had not seen: {self.quality_:.4f} (a score)."
        )

    def save(self, folder: str | Path) -> None:
        """Write the model into a new folder, without pickle; ``easeml.export.load_exported`` reads
        it, and so does ``load`` of this class. Raises ``FileExistsError``.

        With ``url`` the folder is as ``easeml model export`` makes it, and ``load_exported`` reads
        its folder ``model``.
        """
        check_is_fitted(self, "model_")
        facts = {
            "quality": self.quality_,
            "objective": self.objective_,
            "estimator": self._told(),
        }
        self.model_.save(Path(folder), facts)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Return a fitted estimator from its folder. Raises ``Damaged``, and ``ValueError`` for a
        folder that no estimator of this process made.
        """
        if (Path(folder) / "load.py").exists():
            raise ValueError(
                f"{folder} is an export of a service: "
                f"easeml.export.load_exported({str(Path(folder) / 'model')!r}) reads it."
            )
        model = load_exported(folder)
        told = model.trained.manifest.get("estimator")
        if told is None:
            raise ValueError(
                f"No estimator made {folder}: "
                f"easeml.export.load_exported({str(folder)!r}) reads it."
            )
        loaded = cls()
        loaded._check_kind(folder, _KINDS["classes_" in told])
        loaded._take(model, told)
        return loaded

    def _check_kind(self, folder: str | Path, kind: str) -> None:
        """Refuse a folder of the other estimator. Raises ``ValueError``."""
        if kind != self._kind:
            raise ValueError(f"What is in {folder} predicts {_READERS[kind]}.load reads it.")

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the model, but not the rows, the key and who listens."""
        state = {**vars(self), "api_key": None, "callback": None}
        state.pop("_rows", None)
        return state

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        if self.api_key is None:
            return super().__repr__(N_CHAR_MAX)
        return repr(self._without_key())

    def _html_repr(self) -> str:
        if self.api_key is None:
            return super()._html_repr()
        return self._without_key()._html_repr()

    def _without_key(self) -> Self:
        return type(self)(**{**self.get_params(deep=False), "api_key": None})

    def _labels(self) -> dict[str, Any]:
        """Return the classes by their names in the model; none where answers are numbers."""
        return {}

    def _told(self) -> dict[str, Any]:
        told = {
            "n_features_in_": self.n_features_in_,
            "_columns": self._columns,
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
        unnamed = replace(model, labels={})  # it is this class that names them
        self.model_ = in_process.LocalModel(unnamed, model.labels)
        self.quality_ = model.trained.manifest["quality"]
        self.objective_ = model.trained.manifest["objective"]
        self.trials_ = []

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _weights_of(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Return weights (n,), checked; None where there are none."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(
        sample_weight, np.empty((rows, 0)), dtype=np.float64, ensure_non_negative=True
    )
    return weights.copy()


def _be_quiet(trial: Trial) -> None:
    """Tell nobody."""

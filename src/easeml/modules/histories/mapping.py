"""What the trials of a study mean here: models of ours, configurations of their spaces, qualities."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.modules.histories.studies import Direction, Study, Trial
from easeml.search import spaces

_MODEL_NAMES = ("model", "classifier", "regressor", "estimator", "algorithm", "algo", "model_type")
_KINDS = re.compile(r"(classifier|regressor|classification|regression)$")
_SHORT = {  # of models: what people call them -> our name without dashes
    "lgbm": "lightgbm",
    "lgb": "lightgbm",
    "xgb": "xgboost",
    "cat": "catboost",
    "cb": "catboost",
    "rf": "randomforest",
    "et": "extratrees",
    "hgb": "histgradientboosting",
    "histgb": "histgradientboosting",
    "logreg": "logistic",
    "lr": "logistic",
    "svc": "svm",
    "svr": "svm",
    "kneighbors": "knn",
    "nearestneighbors": "knn",
    "gaussiannb": "naivebayes",
    "nb": "naivebayes",
    "tree": "decisiontree",
    "gp": "gaussianprocess",
}
_SYNONYMS = {  # ours -> what LightGBM, XGBoost, CatBoost and scikit-learn call it
    "trees": ("n_estimators", "num_iterations", "num_boost_round", "iterations", "max_iter"),
    "learning_rate": ("eta", "lr", "learning_rate_init"),
    "leaves": ("num_leaves", "max_leaf_nodes", "max_leaves"),
    "leaf_rows": ("min_child_samples", "min_data_in_leaf", "min_samples_leaf"),
    "l2": ("reg_lambda", "lambda_l2", "l2_regularization", "l2_leaf_reg", "lambda"),
    "row_share": ("subsample", "bagging_fraction"),
    "feature_share": ("colsample_bytree", "feature_fraction", "rsm"),
    "features": ("max_features",),
    "bins": ("max_bin", "max_bins"),
    "depth": ("max_depth",),
    "neighbours": ("n_neighbors",),
    "alpha": ("l2",),
    "C": ("c",),
}
_OURS: dict[str, str] = {}  # what others call it -> ours
for _place, _names in _SYNONYMS.items():
    _OURS.update(dict.fromkeys(_names, _place))
_LOW, _MIDDLE, _HIGH = 0.1, 0.6, 0.9  # qualities that stand for values of another scale


@dataclass(frozen=True, slots=True)
class Taken:
    """A trial as a run here: ``trial`` is its name, ``quality`` in [0, 1] is comparable within it."""

    trial: str
    model: str
    config: dict[str, Any]
    value: float
    quality: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A trial that is not taken, and why."""

    trial: str
    why: str


@dataclass(frozen=True, slots=True)
class Mapped:
    """What a study gives. ``ignored``: parameters that no space here has -> in how many trials."""

    taken: Sequence[Taken]
    left_out: Sequence[LeftOut]
    ignored: Mapping[str, int]
    notes: Sequence[str]


def mapped(study: Study, models: Mapping[str, Mapping[str, Any]], model: str = "") -> Mapped:
    """Return what the trials of a study mean for ``models`` (name -> space) of ours.

    A trial names its model by a parameter such as "classifier"; where it does not, ``model`` is
    meant. Parameters are known by our names and by those of scikit-learn, LightGBM, XGBoost and
    CatBoost, also behind a prefix of their model (``lgbm_``, ``clf__``). One that is outside of our
    space cannot be tried here, so its trial is left out.

    The values of a study are compared with each other alone. Those in [0, 1] of which more is better
    are taken as they are; others are laid on a scale by their order and distance, since the search
    learns level and scale of each job.
    """
    known = {_bare(name): name for name in models}
    chosen: list[_Meant] = []
    left_out: list[LeftOut] = []
    ignored: Counter[str] = Counter()
    for trial in study.trials:
        try:
            meant = _read(trial, models, known, model)
        except InvalidInput as error:
            where = f" ({error.where})" if error.where else ""
            left_out.append(LeftOut(trial.name, f"{error.message}{where}"))
            continue
        chosen.append(meant)
        ignored.update(meant.ignored)
    values = np.array([one.value for one in chosen], dtype=float)
    qualities, notes = _qualities(values, study.direction)
    taken = []
    for one, quality in zip(chosen, qualities.tolist(), strict=True):
        taken.append(Taken(one.trial, one.model, one.config, one.value, quality))
    return Mapped(taken, left_out, dict(ignored), [*study.notes, *notes])


@dataclass(frozen=True, slots=True)
class _Meant:
    """A trial as a run here, before its value is compared with others."""

    trial: str
    model: str
    config: dict[str, Any]
    value: float
    ignored: Sequence[str]


def _read(
    trial: Trial,
    models: Mapping[str, Mapping[str, Any]],
    known: Mapping[str, str],
    model: str,
) -> _Meant:
    """Return what a trial means here. Raises ``InvalidInput`` for one that is not taken."""
    if trial.value is None:
        raise InvalidInput("It has no value: it failed, was pruned, or did not end.")
    asked, name = _named(trial, known, model)
    if not asked:
        raise InvalidInput("It names no model.")
    if not name:
        raise InvalidInput(f"No model here is called {asked!r}.")
    given, unknown = _placed(trial, asked, models[name])
    if unknown and not given:
        raise InvalidInput(f"None of its parameters is one of {name}.")
    config = spaces.complete(models[name], given)
    return _Meant(trial.name, name, config, trial.value, unknown)


def _named(trial: Trial, known: Mapping[str, str], model: str) -> tuple[str, str]:
    """Return what a trial calls its model, and ours; empty where there is none."""
    for param, value in trial.params.items():
        if param.lower() in _MODEL_NAMES:
            return str(value), known.get(_bare(str(value)), "")
    return model, model


def _placed(trial: Trial, model: str, space: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a trial's parameters as those of a space, and the names of those that it has not."""
    given = {}
    unknown = []
    for param, value in trial.params.items():
        if param.lower() in _MODEL_NAMES:
            continue
        place = _place_of(param, model, space)
        if place:
            given[place] = _fitting(space[place], value)
        else:
            unknown.append(param)
    return given, unknown


def _bare(name: str) -> str:
    """Return a model's name as all spellings of it have it."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    short = _KINDS.sub("", letters) or letters
    return _SHORT.get(short, short)


def _place_of(param: str, model: str, space: Mapping[str, Any]) -> str:
    """Return the parameter of a space that another program's is; empty where there is none."""
    return next(filter(space.__contains__, _spellings(param, model)), "")


def _spellings(param: str, model: str) -> Iterator[str]:
    """Yield a parameter's name without the prefix of a pipeline, then without that of its model.

    What is ours for a name follows it; empty where nothing is.
    """
    bare = param.rpartition("__")[2]
    yield from (bare, _OURS.get(bare, ""))
    prefix, _, rest = bare.partition("_")
    if rest and _bare(prefix) == _bare(model):
        yield from (rest, _OURS.get(rest, ""))


def _fitting(node: Any, value: Any) -> Any:
    """Return a value in the form that our space has it: a whole number, or the text for none."""
    match node, value:
        case {".choice": _}, None:
            return "none"
        case {".float": _}, int() if not isinstance(value, bool):
            return float(value)
        case {".int": _}, float() if value.is_integer():
            return int(value)
    return value


def _qualities(values: Any, direction: Direction) -> tuple[Any, list[str]]:
    """Return values as qualities, of which more is better, and what was done."""
    if not len(values):
        return values, []
    gains = -values if direction == Direction.MINIMIZE else values
    if gains.min() >= 0 and gains.max() <= 1:
        return gains, []
    middle = float(np.median(gains))
    above, below = gains.max() - middle, np.median(middle - gains[gains <= middle])
    unit = max(float(above), float(below), 1e-12)
    laid = _MIDDLE + (_HIGH - _MIDDLE) * (gains - middle) / unit
    note = "Its values are no shares: they are compared with each other by their distances."
    return np.clip(laid, _LOW, _HIGH), [note]

"""What objectives are called: in sentences, and by people who name one."""

import re

_KNOWN = {
    "f-beta": "F-beta",
    "f1-macro": "macro F1",
    "f1-weighted": "weighted F1",
    "label-f1": "F1 by label",
    "r2": "R²",
    "roc-auc": "ROC AUC",
    "row-f1": "F1 by row",
}
_MEANT = {
    "acc": "accuracy",
    "auc": "roc-auc",
    "auroc": "roc-auc",
    "brier-score": "brier",
    "cross-entropy": "log-loss",
    "errors": "error",
    "f1-by-label": "label-f1",
    "f1-by-row": "row-f1",
    "kappa": "quadratic-kappa",
    "logloss": "log-loss",
    "macro-f1": "f1-macro",
    "mae": "mean-absolute-error",
    "mcc": "matthews",
    "mean-error": "mean-absolute-error",
    "pr-auc": "average-precision",
    "qwk": "quadratic-kappa",
    "root-mean-squared-error": "rmse",
    "r²": "r2",
    "weighted-f1": "f1-weighted",
}
_NAMED = frozenset(
    {
        "accuracy",
        "average-precision",
        "balanced-accuracy",
        "brier",
        "calibration-error",
        "error",
        "f-beta",
        "f1-macro",
        "f1-weighted",
        "hamming-score",
        "jaccard",
        "label-f1",
        "log-loss",
        "mape",
        "matthews",
        "mean-absolute-error",
        "precision",
        "quadratic-kappa",
        "r2",
        "recall",
        "rmse",
        "roc-auc",
        "row-f1",
        "selection-rate",
        "specificity",
        "subset-accuracy",
    }
)


def in_words(objective: str) -> str:
    """Return the name of an objective as people read it: ``balanced accuracy``.

    A table of costs is not told each time; classes that a name holds stay as they are.
    """
    name, parenthesis, held = objective.partition("(")
    if name == "cost":
        return name
    return f"{_KNOWN.get(name, name.replace('-', ' '))}{parenthesis}{held}"


def meant(said: str) -> str:
    """Return the name of the objective that people call so: ``MAE`` is ``mean-absolute-error``.

    What holds the names of classes or costs stays as it is: ``recall(Bad)``.
    """
    if "(" in said:
        return said
    plain = re.sub(r"[\s_-]+", "-", said.strip().lower())
    return _MEANT.get(plain, plain)


def is_known(said: str) -> bool:
    """Is it what people call an objective of easeml, or an error?"""
    return meant(said) in _NAMED

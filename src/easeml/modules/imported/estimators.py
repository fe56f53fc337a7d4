"""scikit-learn's estimators that were fitted elsewhere."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput

_LEAF = -1  # the child of a leaf of scikit-learn's trees

# Beside what skops trusts: classes of scikit-learn that keep state, and open or start nothing.
TRUSTED = (
    "numpy.dtype",
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.tree._tree.Tree",
)


def read_skops(content: bytes, where: str) -> Any:
    """Return the estimator in a skops file.

    Raises ``InvalidInput`` where it is none, or holds a type that is not trusted: nothing of such a
    type is made.
    """
    from skops.io import get_untrusted_types, loads

    try:
        refused = sorted(set(get_untrusted_types(data=content)) - set(TRUSTED))
        if not refused:
            return _fitted(loads(content, trusted=list(TRUSTED)), where)
    except InvalidInput:
        raise
    except Exception as error:  # a file may be wrong in any way
        said = f"The file cannot be read as skops: {type(error).__name__}: {error}"
        raise InvalidInput(said, where=where, remedy="Write it by skops.io.dump.") from error
    raise InvalidInput(
        f"The file holds what is not loaded: {', '.join(refused[:5])}.",
        where=where,
        remedy="Import a pipeline of scikit-learn's own parts, or the model as ONNX.",
    )


def _fitted(estimator: Any, where: str) -> Any:
    if hasattr(estimator, "predict"):
        _check_trees(estimator, where)
        return estimator
    said = f"This is not a model but {type(estimator).__name__}."
    raise InvalidInput(
        said, where=where, remedy="Give a fitted estimator, or a pipeline that ends with one."
    )


def _check_trees(estimator: Any, where: str) -> None:
    """Raise ``InvalidInput`` for a tree in which a way down comes back: it would go on for ever.

    scikit-learn numbers the nodes so that children come after their parents, and believes it.
    """
    for part in _parts(estimator):
        kind = type(part).__name__
        if kind == "Tree":
            children = np.stack([part.children_left, part.children_right])
            inner = part.children_left != _LEAF
        elif kind == "TreePredictor":
            nodes = part.nodes
            children = np.stack([nodes["left"], nodes["right"]]).astype(np.int64)
            inner = nodes["is_leaf"] == 0
        else:
            continue
        places = np.arange(children.shape[1])
        is_after = (children > places) & (children < len(places))
        if not is_after[:, inner].all():
            raise InvalidInput("A tree of the model is damaged.", where=where)


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and all that it is made of, each once."""
    waiting, seen = [estimator], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting.extend(_inside(part))


def _inside(part: Any) -> list[Any]:
    """Return what a part of an estimator holds."""
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, list | tuple | set):
        return list(part)
    if isinstance(part, np.ndarray):
        is_of_objects = part.dtype == object
        return part.ravel().tolist() if is_of_objects else []
    attributes = getattr(part, "__dict__", {})
    return list(attributes.values())


def wanted_columns(estimator: Any, columns: list[str], where: str) -> list[str]:
    """Return the columns that an estimator takes, in its order; ``columns``: those there are.

    One that was fitted on an array knows no names: it takes all columns, if it takes as many.
    Raises ``InvalidInput``.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return list(map(str, names))
    width = getattr(estimator, "n_features_in_", None)
    if width in (None, len(columns)):
        return columns
    raise InvalidInput(
        f"The model was fitted on {width} columns without names; the application has {len(columns)}.",
        where=where,
        remedy="Fit it on a data frame with the columns of the application.",
    )


def classes_of(estimator: Any) -> list[Any] | None:
    """Return the classes of a classifier in its order; None of a regressor."""
    if not hasattr(estimator, "classes_"):
        return None
    classes = np.asarray(estimator.classes_)
    return classes.tolist()


def predicted(estimator: Any, frame: Any) -> NDArray[Any]:
    """Return values, or probabilities of ``classes_of``; 0 and 1 where it has labels alone."""
    knows_names = hasattr(estimator, "feature_names_in_")
    given = frame if knows_names else frame.to_numpy()
    if hasattr(estimator, "predict_proba"):
        shares = estimator.predict_proba(given)
        return np.asarray(shares, dtype=np.float64)
    found = np.asarray(estimator.predict(given))
    classes = classes_of(estimator)
    if classes is None:
        return found.astype(np.float64)
    is_class = found[:, None] == np.asarray(classes)[None, :]
    return is_class.astype(np.float64)

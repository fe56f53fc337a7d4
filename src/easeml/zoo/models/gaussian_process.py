"""Gaussian processes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from easeml.modules import Context, Data
from easeml.modules.estimators import ended_early, target_scale
from easeml.modules.files import load_arrays, save_arrays

_MOST_ROWS = 2000  # time grows with their cube, memory with their square
_KERNEL_ROWS = 200  # by which the kernel is chosen: 300 bring no more, and a search fewer models
_MOST_LENGTHS = 50  # features that may have a length each
_STEPS = 8  # to a likelier kernel; more of them fit these rows alone
_LENGTHS = 0.1, 1e4
_BOUND = 3.0  # deviations
_JITTER = 1e-8  # on the diagonal, so that rows may be alike
_BLOCK = 500  # rows that are predicted at once
_FILE = "process.npz"


@dataclass(frozen=True, slots=True)
class TrainedGaussianProcess:
    """The mean of the posterior: a sum of bumps, one a row that was learnt.

    ``smoothness``: of the Matern kernel. ``lengths`` (features,): how far bumps reach. ``rows``
    (n, features): in these lengths. ``weights`` (n,): in the unit of the target, as ``centre`` is.
    """

    bound: ClassVar[float] = _BOUND
    smoothness: float
    lengths: NDArray[np.float64]
    rows: NDArray[np.float64]
    weights: NDArray[np.float64]
    centre: float
    notes: tuple[str, ...] = ()

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values."""
        from sklearn.gaussian_process.kernels import Matern

        kernel = Matern(nu=self.smoothness)
        values = np.empty(len(X))
        for first in range(0, len(X), _BLOCK):
            block = slice(first, first + _BLOCK)
            near = kernel(bounded(X[block]) / self.lengths, self.rows)
            values[block] = near @ self.weights + self.centre
        return values

    def save(self, folder: Path) -> None:
        """Write the kernel and the rows."""
        save_arrays(
            folder / _FILE,
            smoothness=np.asarray(self.smoothness),
            lengths=self.lengths,
            rows=self.rows,
            weights=self.weights,
            centre=np.asarray(self.centre),
        )


class GaussianProcess:
    """Regression by a Gaussian process with a Matern kernel and noise (C. E. Rasmussen and C. K. I.
    Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1).

    The kernel is a likely one for up to 200 of the rows (section 5.4.1). Beyond 2,000 rows it
    learns from a random part of them.
    """

    def fit(
        self, data: Data, config: Mapping[str, Any], context: Context
    ) -> TrainedGaussianProcess:
        """Fit the process; the search for its kernel ends early where the context has enough."""
        order = np.random.default_rng(context.seed).permutation(len(data.X))
        notes: tuple[str, ...] = ()
        if len(order) > _MOST_ROWS:
            notes = (f"It learnt from {_MOST_ROWS} of {len(order)} training rows.",)
        order = order[:_MOST_ROWS]
        X = bounded(data.X[order])
        centre, scale = map(float, target_scale(data))
        y = (data.y[order] - centre) / scale
        smoothness = float(config["smoothness"])
        kernel, told = _likeliest(X[:_KERNEL_ROWS], y[:_KERNEL_ROWS], smoothness, context)
        process = _process(kernel, optimizer=None).fit(X, y)
        height = kernel.k1.k1.constant_value
        bump = kernel.k1.k2
        lengths = np.broadcast_to(bump.length_scale, X.shape[1]).astype(np.float64)
        weights = np.asarray(process.alpha_) * height * scale
        return TrainedGaussianProcess(
            smoothness, lengths, X / lengths, weights, centre, notes + told
        )

    def load(self, folder: Path) -> TrainedGaussianProcess:
        """Read what was saved."""
        arrays = load_arrays(folder / _FILE)
        return TrainedGaussianProcess(
            float(arrays["smoothness"]),
            arrays["lengths"],
            arrays["rows"],
            arrays["weights"],
            float(arrays["centre"]),
        )


def bounded(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scaled features within (-3, 3): what lies far out is near to nothing otherwise."""
    return _BOUND * np.tanh(X / _BOUND)


def _likeliest(
    X: NDArray[np.float64], y: NDArray[np.float64], smoothness: float, context: Context
) -> tuple[Any, tuple[str, ...]]:
    """Return the kernel, height * Matern + noise, under which ``y`` is likeliest, and notes.

    A length of its own for each feature is a kernel of many more parameters: it is taken where it
    is likelier by more than their number (H. Akaike, IEEE Trans. Automatic Control 19, 1974).
    """
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    features = X.shape[1]
    bump = Matern(float(np.sqrt(features)), _LENGTHS, smoothness)
    start = ConstantKernel(1.0, (1e-2, 1e4)) * bump + WhiteKernel(0.2, (1e-4, 10.0))
    climb = _Climb(context)
    one = climb.from_kernel(start, X, y)
    if features == 1 or features > _MOST_LENGTHS or climb.notes:
        return one.kernel_, climb.notes

    length: Any = np.full(features, one.kernel_.k1.k2.length_scale)
    start = one.kernel_.k1.k1 * Matern(length, _LENGTHS, smoothness) + one.kernel_.k2
    each = climb.from_kernel(start, X, y)
    gain = each.log_marginal_likelihood_value_ - one.log_marginal_likelihood_value_
    is_worth = gain > features - 1
    return (each if is_worth else one).kernel_, climb.notes


class _Climb:
    """Steps to likelier kernels. ``notes``: what to say where the context had enough of them."""

    def __init__(self, context: Context):
        self._context = context
        self._done = 0
        self.notes: tuple[str, ...] = ()

    def from_kernel(self, kernel: Any, X: NDArray[np.float64], y: NDArray[np.float64]) -> Any:
        """Return the fitted process of a likelier kernel."""
        import warnings

        self._done = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of lengths at their bounds: features that say nothing
            return _process(kernel, optimizer=self._search).fit(X, y)

    def _search(self, loss: Any, start: Any, bounds: Any) -> tuple[Any, float]:
        from scipy.optimize import minimize

        told = {"bounds": bounds, "callback": self._step, "options": {"maxiter": _STEPS}}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", **told)
        return found.x, found.fun

    def _step(self, _: Any) -> None:
        self._done += 1
        if self._done < _STEPS and self._context.enough():
            self.notes = ended_early(self._done, _STEPS)
            raise StopIteration


def _process(kernel: Any, optimizer: Any) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor

    return GaussianProcessRegressor(kernel, alpha=_JITTER, optimizer=optimizer)

"""Feasibility: can the goal be reached at all? Bounds on the Bayes error, before any training.

``bayes_error`` gives the final answer, ``study`` one after every size of the training set. The
method is that of Snoopy (Renggli et al., 2023): nearest neighbours in many representations, the
best of which is found by successive halving.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from easeml.lifecycle.feasibility.bounds import (
    lower_bound,
    with_noise,
    with_transition,
    without_noise,
)
from easeml.lifecycle.feasibility.representations import (
    Representation,
    hugging_face,
    onnx_model,
    pretrained,
    torch_model,
)
from easeml.lifecycle.feasibility.result import BayesError, Forecast, LabelNoise, Tried

if TYPE_CHECKING:
    from easeml.lifecycle.feasibility.estimation import answers_by_size, bayes_error, study

__all__ = [
    "BayesError",
    "Forecast",
    "LabelNoise",
    "Representation",
    "Tried",
    "answers_by_size",
    "bayes_error",
    "hugging_face",
    "lower_bound",
    "onnx_model",
    "pretrained",
    "study",
    "torch_model",
    "with_noise",
    "with_transition",
    "without_noise",
]


def __getattr__(name: str) -> object:
    """Load what needs scikit-learn and Numba when it is first asked for."""
    if name in ("answers_by_size", "bayes_error", "study"):
        from easeml.lifecycle.feasibility import estimation

        return getattr(estimation, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

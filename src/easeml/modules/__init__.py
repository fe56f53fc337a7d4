"""What can be plugged in: the contract of modules, the registry of what is installed, and
candidates made of them.

Fitting and loading are in ``easeml.modules.pipeline``, the suite that every model passes in
``easeml.modules.conformance``.
"""

from easeml.modules.accepts import Accepts
from easeml.modules.added import objective_for
from easeml.modules.contract import (
    CONTRACT_VERSION,
    Context,
    Data,
    FittedTransform,
    Model,
    Objective,
    Predictions,
    Trained,
    Transform,
)
from easeml.modules.module import Module, parse
from easeml.modules.registry import ModelMatch, Registry, load_registry, warm_up
from easeml.modules.score import Measured, interval, measured, score, scorer, value
from easeml.modules.target import labels_of

__all__ = [
    "CONTRACT_VERSION",
    "Accepts",
    "Context",
    "Data",
    "FittedTransform",
    "Measured",
    "Model",
    "ModelMatch",
    "Module",
    "Objective",
    "Predictions",
    "Registry",
    "Trained",
    "Transform",
    "interval",
    "labels_of",
    "load_registry",
    "measured",
    "objective_for",
    "parse",
    "score",
    "scorer",
    "value",
    "warm_up",
]

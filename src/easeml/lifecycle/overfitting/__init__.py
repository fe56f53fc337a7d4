"""Overfitting to the validation set: a meter that does not wear the test set out.

``plan`` says how many examples to label, ``Meter`` shows how far validation quality has drifted,
``bounds_after`` what is known without a test set, ``attack`` tries a promise against developers who
look at every answer. `Ladder` and `Thresholdout` are other ways to answer.
"""

from easeml.lifecycle.overfitting.histories import (
    MODES,
    History,
    Mode,
    code_length,
    log_histories,
    log_models,
)
from easeml.lifecycle.overfitting.mechanisms import Ladder, Thresholdout
from easeml.lifecycle.overfitting.meter import EDGES, Meter, Reading
from easeml.lifecycle.overfitting.plan import Budget, MeterOption, MeterPlan, budget, plan
from easeml.lifecycle.overfitting.rounds import (
    RoundBound,
    RoundBounds,
    bounds_after,
    ladder_bound,
    noise_bound,
)
from easeml.lifecycle.overfitting.simulation import (
    DEVELOPERS,
    Answer,
    Attacked,
    Keeper,
    World,
    attack,
    keep_with_meter,
    keep_with_thresholdout,
    keep_without_care,
)
from easeml.lifecycle.overfitting.sizes import deviation, supported_reports

__all__ = [
    "DEVELOPERS",
    "EDGES",
    "MODES",
    "Answer",
    "Attacked",
    "Budget",
    "History",
    "Keeper",
    "Ladder",
    "Meter",
    "MeterOption",
    "MeterPlan",
    "Mode",
    "Reading",
    "RoundBound",
    "RoundBounds",
    "Thresholdout",
    "World",
    "attack",
    "bounds_after",
    "budget",
    "code_length",
    "deviation",
    "keep_with_meter",
    "keep_with_thresholdout",
    "keep_without_care",
    "ladder_bound",
    "log_histories",
    "log_models",
    "noise_bound",
    "plan",
    "supported_reports",
]

"""Quality of a deployed model without labels: estimates with intervals, drift tests, a few labels,
alerts.

``fit`` learns on labelled reference rows where the model tends to be right; ``Monitor.score``
estimates its quality on a batch, and says "cannot tell" where that would be guessing;
``Monitor.choose`` names rows whose labels help most. ``save`` and ``load`` keep a monitor as bytes.
"""

from easeml.lifecycle.monitoring.alerts import AlertRules, Status
from easeml.lifecycle.monitoring.backtest import Trust
from easeml.lifecycle.monitoring.drift import KINDS, DriftTest, level_at
from easeml.lifecycle.monitoring.estimators import Estimates
from easeml.lifecycle.monitoring.labels import Labelled, Query, at_random
from easeml.lifecycle.monitoring.monitor import Monitor, fit
from easeml.lifecycle.monitoring.poisson_binomial import poisson_binomial, right_interval
from easeml.lifecycle.monitoring.report import MonitorReport
from easeml.lifecycle.monitoring.state import load, save
from easeml.lifecycle.monitoring.tolerance import default_tolerance

__all__ = [
    "KINDS",
    "AlertRules",
    "DriftTest",
    "Estimates",
    "Labelled",
    "Monitor",
    "MonitorReport",
    "Query",
    "Status",
    "Trust",
    "at_random",
    "default_tolerance",
    "fit",
    "level_at",
    "load",
    "poisson_binomial",
    "right_interval",
    "save",
]

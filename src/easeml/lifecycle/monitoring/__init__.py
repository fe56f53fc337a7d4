"""Quality of a deployed model without labels: estimates with intervals, drift tests, alerts.

``fit`` learns on labelled reference rows where the model tends to be right, and returns a state;
``ask(state, Batch(...)) -> (report, state)`` estimates its quality on a batch, and says what cannot
be told; ``choose`` draws rows whose labels would tell. ``save`` and ``load`` keep a state as bytes.
"""

from easeml.lifecycle.monitoring.alerts import AlertRules, Status
from easeml.lifecycle.monitoring.asking import ask, choose
from easeml.lifecycle.monitoring.backtest import Trust
from easeml.lifecycle.monitoring.cohorts import Cohort, CohortTest
from easeml.lifecycle.monitoring.drawn import Claim, Drawn, DrawnTest
from easeml.lifecycle.monitoring.drift import KINDS, DriftTest, level_at
from easeml.lifecycle.monitoring.estimators import Estimates
from easeml.lifecycle.monitoring.labels import Labelled, Late, Query, at_random
from easeml.lifecycle.monitoring.monitor import Batch, Monitor, fit
from easeml.lifecycle.monitoring.poisson_binomial import poisson_binomial, right_interval
from easeml.lifecycle.monitoring.report import MonitorReport
from easeml.lifecycle.monitoring.sequential import ConceptTest, labels_needed
from easeml.lifecycle.monitoring.state import load, save
from easeml.lifecycle.monitoring.tolerance import default_tolerance

__all__ = [
    "KINDS",
    "AlertRules",
    "Batch",
    "Claim",
    "Cohort",
    "CohortTest",
    "ConceptTest",
    "Drawn",
    "DrawnTest",
    "DriftTest",
    "Estimates",
    "Labelled",
    "Late",
    "Monitor",
    "MonitorReport",
    "Query",
    "Status",
    "Trust",
    "ask",
    "at_random",
    "choose",
    "default_tolerance",
    "fit",
    "labels_needed",
    "level_at",
    "load",
    "poisson_binomial",
    "right_interval",
    "save",
]

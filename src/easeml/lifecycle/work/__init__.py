"""What people should be asked about rows, in one order (pure)."""

from easeml.lifecycle.questions import CELL, CHECK, LABEL
from easeml.lifecycle.work.calibration import Answered, Experience, calibrated, experience
from easeml.lifecycle.work.highlights import what_matters
from easeml.lifecycle.work.judging import Judging, judging_checks
from easeml.lifecycle.work.keeping import kept_order
from easeml.lifecycle.work.proposals import Proposal, propose
from easeml.lifecycle.work.stand_in import Rows, StandIn

__all__ = [
    "CELL",
    "CHECK",
    "LABEL",
    "Answered",
    "Experience",
    "Judging",
    "Proposal",
    "Rows",
    "StandIn",
    "calibrated",
    "experience",
    "judging_checks",
    "kept_order",
    "propose",
    "what_matters",
]

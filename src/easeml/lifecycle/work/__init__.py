"""What people should be asked about rows, in one order (pure)."""

from easeml.lifecycle.work.calibration import Answered, Experience, calibrated, experience
from easeml.lifecycle.work.highlights import what_matters
from easeml.lifecycle.work.proposals import CELL, CHECK, LABEL, Proposal, propose
from easeml.lifecycle.work.stand_in import Rows

__all__ = [
    "CELL",
    "CHECK",
    "LABEL",
    "Answered",
    "Experience",
    "Proposal",
    "Rows",
    "calibrated",
    "experience",
    "propose",
    "what_matters",
]

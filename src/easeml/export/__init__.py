"""Trained models taken elsewhere: folders that predict without a service, and without an easeml
that is installed.
"""

from easeml.export.exported import ExportedModel, load_exported
from easeml.export.facts import ModelFacts, said_otherwise
from easeml.export.folders import FORMATS, write_export
from easeml.export.signed import check_signed
from easeml.export.smaller import Evidence

__all__ = [
    "FORMATS",
    "Evidence",
    "ExportedModel",
    "ModelFacts",
    "check_signed",
    "load_exported",
    "said_otherwise",
    "write_export",
]

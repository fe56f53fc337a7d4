"""Trained models as ONNX graphs: the whole pipeline, from columns to predictions.

Needs the extra ``onnx``; nothing else of the export imports it.
"""

from easeml.export.graphs.agreement import LARGEST, Agreement, agreement
from easeml.export.graphs.convert import convert

__all__ = ["LARGEST", "Agreement", "agreement", "convert"]

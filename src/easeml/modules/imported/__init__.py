"""Models that were trained elsewhere, as models of a pipeline without transforms.

``convert`` reads a file once, in a task; what it keeps is skops or ONNX, never pickle. The pipeline
carries ``SOURCE``, the description of a module that loads it: whatever loads trained models loads it.
"""

from easeml.modules.imported.convert import convert, predictions_of
from easeml.modules.imported.model import ImportedEstimator, ImportedGraph

__all__ = ["ImportedEstimator", "ImportedGraph", "convert", "predictions_of"]

"""From raw tables to relations whose doubts are stated, and from these to the lifecycle's advice.

``clean`` gives suspicious cells candidates, ``weak_labels`` gives rows without a label some.
``predict_over_worlds`` trains in drawn worlds. ``table_candidates`` and ``relation_of`` convert to
and from what CPClean works on.
"""

from easeml.lifecycle.doubts.cells import clean
from easeml.lifecycle.doubts.cleaning_table import CleaningTable
from easeml.lifecycle.doubts.conversions import relation_of, table_candidates
from easeml.lifecycle.doubts.label_model import LabelModel, label_model
from easeml.lifecycle.doubts.labels import weak_labels
from easeml.lifecycle.doubts.predictions import WorldPredictions, predict_over_worlds, predicted
from easeml.lifecycle.doubts.votes import votes_of

__all__ = [
    "CleaningTable",
    "LabelModel",
    "WorldPredictions",
    "clean",
    "label_model",
    "predict_over_worlds",
    "predicted",
    "relation_of",
    "table_candidates",
    "votes_of",
    "weak_labels",
]

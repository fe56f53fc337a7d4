"""What training rows are worth, which are mislabelled, and which rows to label next.

Values are Shapley values of a game whose worth is the quality of a k-nearest-neighbour classifier
on validation rows: exact, and fast enough for a million rows. ``knn_shapley`` and its variants
return plain arrays, as do ``judge_classes`` and ``judge_numbers``, which judge labels by held-out
predictions; ``value_rows``, ``next_to_label``, ``find_mislabelled``, ``find_wrong_numbers``
and ``contributions`` return results with advice and a figure.
"""

from easeml.lifecycle.labeling.approximate import Approximation, approximate_knn_shapley
from easeml.lifecycle.labeling.knn import expected_knn_shapley, knn_shapley
from easeml.lifecycle.labeling.label_errors import (
    LabelErrors,
    chances_of_votes,
    judge_answers,
    judge_classes,
    judge_numbers,
)
from easeml.lifecycle.labeling.mislabelled import Suspects, find_mislabelled, find_wrong_numbers
from easeml.lifecycle.labeling.moving import MovingQueue
from easeml.lifecycle.labeling.owners import Contributions, contributions
from easeml.lifecycle.labeling.pool import predicted_pool_values, value_pool
from easeml.lifecycle.labeling.precision import Precision, by_checks, by_trusted
from easeml.lifecycle.labeling.provenance import Provenance
from easeml.lifecycle.labeling.queue import Queue, next_to_label
from easeml.lifecycle.labeling.threshold import threshold_knn_shapley
from easeml.lifecycle.labeling.units import sampled_unit_knn_shapley, unit_knn_shapley
from easeml.lifecycle.labeling.values import Values, value_rows
from easeml.lifecycle.labeling.vote import weighted_knn_shapley

__all__ = [
    "Approximation",
    "Contributions",
    "LabelErrors",
    "MovingQueue",
    "Precision",
    "Provenance",
    "Queue",
    "Suspects",
    "Values",
    "approximate_knn_shapley",
    "by_checks",
    "by_trusted",
    "chances_of_votes",
    "contributions",
    "expected_knn_shapley",
    "find_mislabelled",
    "find_wrong_numbers",
    "judge_answers",
    "judge_classes",
    "judge_numbers",
    "knn_shapley",
    "next_to_label",
    "predicted_pool_values",
    "sampled_unit_knn_shapley",
    "threshold_knn_shapley",
    "unit_knn_shapley",
    "value_pool",
    "value_rows",
    "weighted_knn_shapley",
]

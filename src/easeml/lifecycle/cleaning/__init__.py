"""Which cells to clean first (CPClean), and how to find dirty ones.

From the bottom: ``Incomplete`` holds training rows that could each be one of several vectors.
``count_worlds``, ``possible_labels`` and ``label_probabilities`` answer what a k-nearest-neighbour
classifier says over all worlds. ``CleaningSession`` chooses the next row and takes answers in;
``plan_cleaning`` makes a plan of many rows. ``detect_errors`` finds suspicious cells of a plain
table, and ``candidates_of`` turns such tables into ``Incomplete``.

Ties, everywhere: of equally far rows the one with the smaller index is nearer, of labels with
equally many votes the smallest wins. If k is larger than the number of rows, all rows vote.
"""

from easeml.lifecycle.cleaning.counting import count_worlds, count_worlds_by_similarity
from easeml.lifecycle.cleaning.detect import METHODS, ErrorReport, SuspectCell, detect_errors
from easeml.lifecycle.cleaning.incomplete import Incomplete
from easeml.lifecycle.cleaning.plan import (
    CleaningPlan,
    PlannedRow,
    plan_cleaning,
    plan_of,
    plan_table,
)
from easeml.lifecycle.cleaning.queries import label_probabilities, possible_labels
from easeml.lifecycle.cleaning.rules import Rule, parse_rules
from easeml.lifecycle.cleaning.session import CleaningSession
from easeml.lifecycle.cleaning.tables import TableCandidates, candidates_of

__all__ = [
    "METHODS",
    "CleaningPlan",
    "CleaningSession",
    "ErrorReport",
    "Incomplete",
    "PlannedRow",
    "Rule",
    "SuspectCell",
    "TableCandidates",
    "candidates_of",
    "count_worlds",
    "count_worlds_by_similarity",
    "detect_errors",
    "label_probabilities",
    "parse_rules",
    "plan_cleaning",
    "plan_of",
    "plan_table",
    "possible_labels",
]

"""Relations: tables whose doubts are kept, with answers as distributions over all worlds."""

from easeml.relation.candidates import Candidate, RowCandidates, cell_candidates, optional_row
from easeml.relation.content import Content, Source
from easeml.relation.distributions import Distribution
from easeml.relation.relation import Relation

__all__ = [
    "Candidate",
    "Content",
    "Distribution",
    "Relation",
    "RowCandidates",
    "Source",
    "cell_candidates",
    "optional_row",
]

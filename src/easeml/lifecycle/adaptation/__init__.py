"""Domain adaptation: what a model should learn from to be right about rows nobody has labelled.

``propose(way, known)`` weighs, moves or adds to the labelled rows, and says what it found, or why the
way does not fit. What is learned from it is a candidate: labels of recent rows decide whether it may
serve.
"""

from easeml.lifecycle.adaptation.class_shares import (
    ClassShares,
    likeliest_shares,
    shares_by_confusions,
    shares_of,
)
from easeml.lifecycle.adaptation.density import Weighting, input_weights
from easeml.lifecycle.adaptation.moves import Move, moves_between
from easeml.lifecycle.adaptation.proposals import FEWEST, WAYS, Known, Proposal, propose, sure_from

__all__ = [
    "FEWEST",
    "WAYS",
    "ClassShares",
    "Known",
    "Move",
    "Proposal",
    "Weighting",
    "input_weights",
    "likeliest_shares",
    "moves_between",
    "propose",
    "shares_by_confusions",
    "shares_of",
    "sure_from",
]

"""Which of my trained models is best on today's data? Choose it with few labels.

``pick`` does it in one call; ``Session`` asks for rows and takes labels when they come;
``StreamPicker`` decides at once for each example of a stream.
"""

from easeml.lifecycle.picking.methods import METHODS
from easeml.lifecycle.picking.result import Asked, Picking, Standing
from easeml.lifecycle.picking.run import pick
from easeml.lifecycle.picking.session import Session
from easeml.lifecycle.picking.stream import StreamPicker
from easeml.lifecycle.picking.tuning import tune_epsilon, vote_accuracy

__all__ = [
    "METHODS",
    "Asked",
    "Picking",
    "Session",
    "Standing",
    "StreamPicker",
    "pick",
    "tune_epsilon",
    "vote_accuracy",
]

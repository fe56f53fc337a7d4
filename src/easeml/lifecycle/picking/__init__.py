"""Which of my trained models is best on today's data? Choose it with few labels.

``pick`` does it in one call; ``Session`` asks for rows and takes labels when they come;
``StreamPicker`` decides at once for each example of a stream. All three hold values: the pure
steps are ``open_picking``, ``ask``, ``tell``, ``result_of``, and ``open_stream``, ``offer``,
``hear``.
"""

from easeml.lifecycle.picking.methods import METHODS
from easeml.lifecycle.picking.pool import Pool
from easeml.lifecycle.picking.result import Asked, Picking, Standing
from easeml.lifecycle.picking.run import pick
from easeml.lifecycle.picking.session import Session, result_of
from easeml.lifecycle.picking.steps import AUDIT, Config, State, ask, open_picking, tell
from easeml.lifecycle.picking.stream import Stream, StreamPicker, hear, offer, open_stream
from easeml.lifecycle.picking.tuning import tune_epsilon, vote_accuracy

__all__ = [
    "AUDIT",
    "METHODS",
    "Asked",
    "Config",
    "Picking",
    "Pool",
    "Session",
    "Standing",
    "State",
    "Stream",
    "StreamPicker",
    "ask",
    "hear",
    "offer",
    "open_picking",
    "open_stream",
    "pick",
    "result_of",
    "tell",
    "tune_epsilon",
    "vote_accuracy",
]

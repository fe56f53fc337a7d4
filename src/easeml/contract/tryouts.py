"""Try-outs: a model that the owner of an application wants trained now."""

from easeml.contract.resources import Answer


class Tryout(Answer):
    """A training task that goes before others. ``state``: waiting or running.

    ``candidate``: which configuration of the model is trained.
    """

    task_id: str
    model: str
    candidate: str
    state: str

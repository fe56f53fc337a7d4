"""The REST types of how a search went."""

from easeml.contract.models import Measure
from easeml.contract.resources import Answer


class ProgressPoint(Answer):
    """A training task that is done. ``spent``: device seconds of the job until it had ended."""

    task_id: str
    name: str
    quality: float
    measure: Measure | None = None  # the quality in its own unit
    cost: float
    spent: float
    better: bool  # than all before it
    promoted: bool  # its model went live


class Progress(Answer):
    """How a job went: of many ``tasks``, those that matter and some of the others, in the order of
    their ends.
    """

    points: list[ProgressPoint]
    tasks: int
    cost: float

"""The REST types of pickings: models that are compared on rows of production, again and again."""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import PickingWay
from easeml.contract.times import Moment


class NewPicking(Request):
    """When the models of an application are compared on its production.

    ``way``: off, daily, or alert, when watching says that what serves may not be right any more.
    ``labels``: that one comparison may ask people for. Among four models about 80 show one that is
    better by 20 points; 40 show none. ``end``: a comparison that runs is ended, without a choice.
    """

    way: PickingWay
    labels: int = Field(100, ge=1, le=10_000)
    end: bool = False


class PickingRule(Answer):
    """When the models of an application are compared on its production, and what came of it.

    ``proving``: the newest is of adapted models, see ``Adaptation``. ``running``: it is under way,
    of ``models`` models on ``rows`` rows; it has asked for
    ``asked`` labels. ``says``: what the last one came to. ``began``: the newest; 0 for never.
    ``why_not``: why its models cannot be compared so, whatever comes; empty where they can.
    """

    application_id: str
    way: PickingWay
    labels: int
    proving: bool = False
    running: bool
    models: int = 0
    rows: int = 0
    asked: int = 0
    says: str = ""
    began: Moment = 0.0
    why_not: str = ""

    @property
    def is_comparing(self) -> bool:
        """Whether models that may serve are compared now, and not those that were adapted."""
        return self.running > self.proving

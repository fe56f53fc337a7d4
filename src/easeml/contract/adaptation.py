"""The REST types of adaptation: models that are fitted to rows of production without labels."""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import AdaptWay, TaskState
from easeml.contract.times import Moment


class NewAdaptation(Request):
    """How what serves is adapted to the newest rows of production.

    ``ways``: those that are tried; none: all. ``labels``: that may be bought to prove that what was
    made is better. ``rows``: how many of the newest ones; models learn from
    three quarters of them, and are compared on the newest quarter.
    """

    ways: list[AdaptWay] = Field(default_factory=list, max_length=len(AdaptWay))
    labels: int = Field(200, ge=1, le=10_000)
    rows: int = Field(4_000, ge=100, le=20_000)


class AdaptedWay(Answer):
    """What came of a way: ``state`` of its task, whether it ``applies`` and what it ``says``.

    ``model_id``, ``name``: of the model that it made; empty where there is none.
    """

    way: AdaptWay
    task_id: str
    state: TaskState
    applies: bool = False
    says: str = ""
    model_id: str = ""
    name: str = ""


class Adaptation(Answer):
    """The newest adaptation of an application, and what came of it.

    ``running``: models are being made, or are compared with what serves on ``rows`` rows of
    production, of which people were asked about ``asked``, of at most ``labels``. ``says``: what it
    came to. ``began``: 0 for never.
    """

    application_id: str
    running: bool = False
    ways: list[AdaptedWay] = Field(default_factory=list)
    rows: int = 0
    labels: int = 0
    asked: int = 0
    says: str = ""
    began: Moment = 0.0

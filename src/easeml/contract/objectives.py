"""The REST types of an application's objective, and of changing it."""

from pydantic import Field

from easeml.contract.applications import ObjectiveFamily, ObjectiveOption
from easeml.contract.resources import Answer, Request


class NewObjective(Request):
    """What models are judged by from now on.

    ``objective``: a name, or that of a class: recall(bad), f-beta(bad, 2). ``costs``: true label ->
    said label -> its cost, in place of a name.
    """

    objective: str | None = Field(None, max_length=20_000)
    costs: dict[str, dict[str, float]] | None = None
    cost_unit: str = Field("", max_length=50)


class ObjectiveChoice(Answer):
    """What the models of an application are judged by, and what else they could be.

    ``kept``: trained models that another objective would judge without training them again.
    ``judging``: that is under way. ``remarks``: what a change leaves as it is, such as a goal by
    the former objective.
    """

    application_id: str
    objective: str
    title: str
    options: list[ObjectiveOption]
    families: list[ObjectiveFamily] = Field(default_factory=list)
    labels: list[str] = Field(default_factory=list)  # of the target; none of a number
    kept: int = 0
    judging: bool = False
    remarks: list[str] = Field(default_factory=list)

"""The REST types of several measures of an application's models at once."""

from pydantic import Field

from easeml.contract.resources import Answer


class ParetoAxis(Answer):
    """A measure: of the validation rows, or what a model takes (latency in seconds, size in bytes)."""

    name: str
    title: str
    unit: str = ""
    lower_is_better: bool


class ParetoPoint(Answer):
    """A model with its ``values`` by the axes. ``on_front``: no other is as good in all of them and
    better in one. ``breaks``: the rule of the application that it breaks; it may not serve.
    """

    model_id: str
    name: str
    task_id: str
    values: list[float]
    on_front: bool
    live: bool = False
    breaks: str = ""


class Pareto(Answer):
    """Models by several measures, in the order of the first. ``unmeasured``: models that lack one."""

    application_id: str
    axes: list[ParetoAxis]
    points: list[ParetoPoint] = Field(default_factory=list)
    unmeasured: int = 0

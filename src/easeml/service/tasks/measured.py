"""What a task that makes a model keeps beside its quality."""

from dataclasses import dataclass, field

from easeml.store.shapes import Json, Shape


@dataclass(frozen=True, slots=True)
class Member(Shape):
    """A model that an ensemble is made of, and its share in what is predicted."""

    model_id: str
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class Measured(Shape):
    """What was measured, as far as the release of the task measured it.

    ``low``, ``high``: 95 % interval of the quality; ``latency``: seconds to predict one row.
    ``members``: of an ensemble; ``gain``: its quality over that of a single model's choice;
    ``temperature``: of its probabilities, None where a model keeps them as they are.
    ``thresholds``: of labels of which a row may have several, else None.
    """

    low: float | None = None
    high: float | None = None
    latency: float | None = None
    measures: Json = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)
    gain: float = 0.0
    temperature: float | None = None
    thresholds: list[float] | None = None

"""What can be tried: arms."""

import math
from dataclasses import dataclass

from easeml.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Arm:
    """A candidate as the search sees it.

    ``cost``: predicted device seconds. ``features``: the configuration as coordinates in [0, 1],
    see ``spaces.features``; empty when unknown. Raises ``InvalidInput`` for a cost or feature that
    is not finite.
    """

    name: str
    model: str
    cost: float
    features: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not math.isfinite(self.cost) or self.cost < 0:
            raise InvalidInput(
                f"The predicted cost {self.cost} is not a number of seconds.",
                where=f"arm {self.name!r}",
            )
        if not all(map(math.isfinite, self.features)):
            raise InvalidInput(
                "Features must be finite numbers.",
                where=f"arm {self.name!r}",
            )

"""How many predictors an endpoint needs, by how long its requests wait (pure)."""

from collections import deque
from dataclasses import dataclass, field

LATE_SECONDS = 0.05
"""A request is late where all predictors are busy with one that has waited for so long."""

_MANY = 5  # requests, below which it may be chance that most were late
_QUIET_LOOKS = 30


@dataclass
class Load:
    """What was seen of the requests of an endpoint; it is looked at once a second."""

    _asked: int = 0
    _late: int = 0
    _busy: deque[int] = field(default_factory=lambda: deque(maxlen=_QUIET_LOOKS))

    def note(self, wait: float) -> None:
        """Note a request; ``wait``: of the oldest before it, at the least busy predictor."""
        self._asked += 1
        self._late += wait > LATE_SECONDS

    def change(self, predictors: int, busy: int) -> int:
        """Return how many predictors more (1) or fewer (-1) there should be.

        One more as soon as most of some requests were late; slow ones are counted over several
        looks. One fewer where in all looks of half a minute fewer than half of the others were
        ``busy``, in the mean.
        """
        is_pressed = self._late >= _MANY and self._late > self._asked / 2
        if self._asked >= _MANY or not busy:
            self._asked = self._late = 0
        self._busy.append(busy)
        if is_pressed:
            self._busy.clear()
            return 1
        is_quiet = len(self._busy) == _QUIET_LOOKS
        if is_quiet and sum(self._busy) / _QUIET_LOOKS < (predictors - 1) / 2:
            self._busy.clear()
            return -1
        return 0

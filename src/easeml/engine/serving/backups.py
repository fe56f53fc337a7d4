"""When a request that waits is asked of a second predictor, too (pure).

After Dean and Barroso, "The tail at scale" (CACM 2013), and DLIS (Soifer et al., OpML 2019): the
request goes to a second server once it has waited longer than usual, the first answer counts, and
the other server forgets it if it has not begun.
"""

from collections import deque
from dataclasses import dataclass, field
from statistics import median

_MOST_NEEDLESS = 0.1  # of the requests: so many may be answered twice
_USUAL = 2.0  # times the median answer, before a request has waited longer than usual
_LEAST_SECONDS = 0.002
_ANSWERS = 64  # of which the median is taken
_OLDER = 0.999  # what a request counts after each further one: about a thousand count


@dataclass
class Backups:
    """What was seen of the answers of an endpoint that has several predictors."""

    _seconds: deque[float] = field(default_factory=lambda: deque([0.0], maxlen=_ANSWERS))
    _answered: float = 0.0
    _needless: float = 0.0  # of the requests asked twice, until it is known that one was spared

    @property
    def patience(self) -> float:
        """Seconds after which a request has waited longer than usual."""
        return max(_LEAST_SECONDS, _USUAL * median(self._seconds))

    @property
    def may_ask(self) -> bool:
        """Whether answers that nobody needed were few enough to risk another one."""
        return self._needless + 1 <= _MOST_NEEDLESS * self._answered

    def note_answer(self, seconds: float) -> None:
        """Note an answer, and for how long it was waited for."""
        self._seconds.append(seconds)
        self._answered = self._answered * _OLDER + 1
        self._needless *= _OLDER

    def note_asked_twice(self) -> None:
        """Note that a request is asked of a second predictor."""
        self._needless += 1

    def note_spared(self) -> None:
        """Note that one of the two did not begin it."""
        self._needless = max(0.0, self._needless - 1)

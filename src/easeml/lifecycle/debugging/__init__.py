"""Where a model errs more than elsewhere, why, and what to do about it.

From the bottom: ``Condition`` and ``Slice`` say which rows are meant; ``scan`` finds slices with
significantly more mistakes; ``causes_of`` divides these among causes; ``remedies_of`` says what
would correct them. ``debug`` does all of it for a ``Case``, which ``case_of`` makes. ``came_of``
says what came of a remedy that was ``Followed``.
"""

from easeml.lifecycle.debugging.causes import TITLES, Cause, Here
from easeml.lifecycle.debugging.conditions import Condition, Slice
from easeml.lifecycle.debugging.debug import Debugged, Diagnosis, debug
from easeml.lifecycle.debugging.followed import Came, Followed, came_of
from easeml.lifecycle.debugging.rows import Case, Judged, case_of

__all__ = [
    "TITLES",
    "Came",
    "Case",
    "Cause",
    "Condition",
    "Debugged",
    "Diagnosis",
    "Followed",
    "Here",
    "Judged",
    "Slice",
    "came_of",
    "case_of",
    "debug",
]

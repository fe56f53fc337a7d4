"""The answer to a prediction request, on its way from the predictor to the caller."""

from typing import NamedTuple


class Answered(NamedTuple):
    """HTTP status and JSON bytes of an answer: a ``Prediction`` or a ``Problem``.

    ``share``: the chance that a model that is rolled out would answer; ``failed``: it was to, and
    could not, so that the model that serves did.
    """

    status: int
    content: bytes
    share: float = 0.0
    failed: bool = False

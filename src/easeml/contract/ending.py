"""The REST type of when a search is expected to end."""

from easeml.contract.resources import Answer


class Ending(Answer):
    """When a search is expected to end, in seconds of the epoch; all null where that is not known.

    Nine of ten searches are expected to end between ``low`` and ``high``. ``limited_by``: which of
    its limits ends it at the latest: tasks, seconds, deadline, or none. ``text``: the same in a
    sentence.
    """

    job_id: str
    low: float | None = None
    expected: float | None = None
    high: float | None = None
    limited_by: str = ""
    text: str

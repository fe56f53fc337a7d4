"""The REST types of what becomes of an application: what hangs on it, deleted, shared."""

from easeml.contract.resources import Answer
from easeml.contract.states import ShareRole
from easeml.contract.times import Moment


class Dependents(Answer):
    """What hangs on an application, and would stop or be lost without it.

    ``endpoint``: its address, empty where nothing is live. ``searches``: that have not ended.
    ``schedules``: that let its model predict. ``applications``: others that use the same version of
    the data, which stays.
    """

    application_id: str
    name: str
    endpoint: str
    models: int
    searches: int
    gates: int
    work_items: int
    work_answers: int
    kept_requests: int
    schedules: int = 0
    shared_with: list[str]
    applications: list[str]


class Deletion(Answer):
    """An application that was deleted. It can be restored before ``until``."""

    application_id: str
    name: str
    deleted: Moment
    until: Moment


class Share(Answer):
    """A person whom an application is shared with."""

    application_id: str
    name: str
    user: str
    role: ShareRole
    created: Moment


class Shares(Answer):
    """Who was given which application."""

    items: list[Share]

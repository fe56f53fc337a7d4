"""The REST types of what easeml tells a user by itself."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment


class Notification(Answer):
    """An event that its owner wants to know of.

    ``subject`` is the application or dataset that it is about; ``text`` says of it what happened.
    """

    seq: int
    kind: str
    subject: str
    name: str  # of the subject
    text: str = ""
    data: dict[str, Any] = Field(default_factory=dict)
    unread: bool
    created: Moment


class Notifications(Answer):
    """The newest notifications first, and how many were not read."""

    items: list[Notification]
    unread: int

"""The REST types of what easeml tells a user by itself."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer, Request


class Notification(Answer):
    """An event that its owner wants to know of.

    ``subject`` is the application or dataset that it is about.
    """

    seq: int
    kind: str
    subject: str
    name: str  # of the subject
    data: dict[str, Any] = Field(default_factory=dict)
    unread: bool
    created: float


class Notifications(Answer):
    """The newest notifications first, and how many were not read."""

    items: list[Notification]
    unread: int


class ReadMark(Request):
    """All up to the event of this number were read."""

    seq: int = Field(ge=0, le=2**63 - 1)

"""The REST types of the service itself: its processes, its health and its events."""

from typing import Any, Literal

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment


class Event(Answer):
    """Something that happened."""

    seq: int
    kind: str
    subject: str
    data: dict[str, Any] = Field(default_factory=dict)
    created: Moment


class Process(Answer):
    """A running part of the service."""

    id: str
    kind: str
    pid: int
    host: str
    state: str
    heartbeat: Moment
    created: Moment


class Health(Answer):
    """Whether the service can do its work; ``problems`` says in sentences what is wrong."""

    status: Literal["ok", "failing"]
    problems: list[str] = Field(default_factory=list)


class Readiness(Answer):
    """Whether the service can do its whole work.

    ``checks``: what is wrong with each part, in a sentence; empty where it is well.
    """

    ready: bool
    checks: dict[str, str]


class Status(Answer):
    """The service in a few numbers."""

    version: str
    database: str = ""  # name and version, for providers
    containers: str = ""  # what runs programs in images on this machine, for providers
    isolation: str = ""  # level that tasks and serving children are confined to, for providers
    processes: list[Process]
    tasks: dict[str, int]  # by state, of the caller's tenant
    applications: int

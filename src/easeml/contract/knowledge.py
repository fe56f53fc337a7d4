"""The REST types of the knowledge base."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer


class Record(Answer):
    """How a model has done, over all tenants: numbers only.

    ``best``: in how many of its ``searches`` it found the best quality. ``seconds``: median device seconds of a task.
    """

    tasks: int
    failed: int
    searches: int
    best: int
    seconds: float | None = None


class FittingApplication(Answer):
    """An application of the caller that a module fits."""

    id: str
    name: str


class Module(Answer):
    """A model, transform, objective or optimizer. Schemas in their text form; ``space``: name -> what it may be."""

    name: str
    kind: str
    title: str
    about: str = ""
    version: str
    schema_in: str = ""
    schema_out: str = ""
    transforms: list[str] = Field(default_factory=list)
    space: dict[str, Any] = Field(default_factory=dict)
    record: Record | None = None
    fits: list[FittingApplication] = Field(default_factory=list)
    archived: bool = False  # no new search tries it


class KnowledgeBase(Answer):
    """All modules, by kind and rank; ``problems`` tells of files that are no modules."""

    modules: list[Module]
    problems: list[str] = Field(default_factory=list)

"""What all REST types are made of: answers, requests, pages and problems.

Each resource has a file of its own beside this one. Times: seconds of the epoch.
"""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")


class Answer(BaseModel):
    """Answers tolerate unknown keys, so that an older client reads a newer service."""

    # Built at first use: a command needs few of all types. Routes need requests at once.
    model_config = ConfigDict(extra="ignore", defer_build=True)


class Request(BaseModel):
    """Requests do not: a misspelt key is an error, not a silent default. Nor do they have numbers
    that JSON has not (NaN and infinities), which no answer could tell.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Page(Answer, Generic[T]):
    """A page of a list; send ``next`` as ``after`` for the next one."""

    items: list[T]
    next: str | None = None


class Problem(Answer):
    """Problem details (RFC 9457), plus the place and the remedy."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    code: str = ""
    where: str = ""
    remedy: str = ""
    errors: list[dict[str, Any]] = Field(default_factory=list)

"""The REST types of what production sees: requests that are kept, and what was true of them."""

from typing import Any

from pydantic import Field, RootModel, model_validator

from easeml.contract.resources import Answer, Request


class NewRequestLog(Request):
    """What is to be kept of the requests to an endpoint.

    ``share``: of the requests, drawn at random; 0 keeps none. ``days``: how long. ``mask``: columns
    whose values are not kept.
    """

    share: float = Field(1.0, ge=0, le=1)
    days: float = Field(30.0, gt=0, le=3650)
    mask: list[str] = Field(default_factory=list, max_length=10_000)


class RequestLog(Answer):
    """What is kept of the requests to an endpoint.

    ``rows``: that were kept; ``told``: what was said to be true of rows, each time counted.
    ``missed``: requests that could not be kept: longer than 4 MiB, neither in JSON nor CSV nor
    pictures, or more than could be written.
    """

    application_id: str
    share: float
    days: float
    mask: list[str]
    rows: int
    told: int
    missed: int = 0

    @property
    def says_missed(self) -> str:
        """How many requests could not be kept, and which these are, in a sentence."""
        if not self.missed:
            return (
                "Requests in JSON, CSV and pictures are kept, up to 4 MiB each; others are counted "
                "here."
            )
        requests = "request is" if self.missed == 1 else "requests are"
        return (
            f"{self.missed:,} {requests} not kept: longer than 4 MiB, neither in JSON nor CSV nor "
            "pictures, or too many at once. Send such rows in parts, as CSV or JSON."
        )


class Told(Request):
    """What was true of a row that an endpoint was asked about.

    It is named by the ``request_id`` of the answer and its number in the request, from 0, or by the
    ``key`` that was sent with it as a column of that name. ``value``: where rows may have several
    labels, a list of them, or a text as in the table; empty of a row without any. ``at_random``:
    the row was drawn at random from all of its days, whatever is known of it; false withdraws that
    this was said, and None says nothing of it.
    """

    request_id: str = Field("", max_length=100)
    row: int = Field(0, ge=0)
    key: str = Field("", max_length=1000)
    value: str | float | bool | list[str]
    at_random: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _key_as_text(cls, given: Any) -> Any:
        match given:
            case {"key": int() | float() as key}:
                return {**given, "key": str(key)}
        return given

    @model_validator(mode="after")
    def _names_one_row(self) -> "Told":
        if bool(self.request_id) == bool(self.key):
            raise ValueError("name the row by request_id and row, or by key")
        return self


class Feedback(RootModel[list[Told]]):
    """What was true of some rows; 10,000 at a time."""

    root: list[Told] = Field(min_length=1, max_length=10_000)


class FeedbackKept(Answer):
    """``kept``: how many were kept. ``known``: how many of them name rows that were kept by now.
    ``foreign``: how many are nothing that a model could answer, so that it counts as wrong there.
    ``drawn``: how many were said to be of rows that were drawn at random; ``withdrawn``: of how many
    that is not said any more. ``contradicted``: how many were replaced by a later word on the same
    row that says something else.
    """

    kept: int
    known: int
    foreign: int = 0
    drawn: int = 0
    withdrawn: int = 0
    contradicted: int = 0

    @property
    def says(self) -> str:
        """What became of what was told, in sentences."""
        truths = "truth" if self.kept == 1 else "truths"
        said = (
            f"{self.kept:,} {truths} kept; {self.known:,} of them name rows of requests that were "
            "kept."
        )
        if self.known < self.kept:
            said += (
                " The others count as soon as their rows are kept: some seconds after the answer, "
                "where requests are kept at all."
            )
        if self.drawn:
            said += (
                f" {self.drawn:,} of them are said to be of rows that were drawn at random: that "
                "is kept with your name, and alarms may rest on it."
            )
        if self.withdrawn:
            said += (
                f" {self.withdrawn:,} of them are not said to be drawn at random any more: the "
                "next look takes them as they came. What earlier looks have counted stays."
            )
        if self.contradicted:
            said += (
                f" {self.contradicted:,} of them are about rows of which a later line says "
                "something else; the last word on a row counts."
            )
        if self.foreign:
            said += (
                f" Nothing that a model could answer, so that they count as mistakes: "
                f"{self.foreign:,}. Tell the right ones to replace them."
            )
        return said

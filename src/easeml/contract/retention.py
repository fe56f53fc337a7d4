"""The REST types of what is kept, and of what goes by itself."""

from enum import StrEnum

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.times import Moment


class KeptKind(StrEnum):
    """What stored bytes are, or what else goes by itself."""

    DATA = "data"
    MODELS = "models"
    PREDICTIONS = "predictions"  # of models, of validation and test rows
    RETIRED = "retired models"
    RESULTS = "predicted files"
    LOGS = "logs"
    OTHER = "other"
    EVENTS = "events"
    UPLOADS = "unfinished uploads"
    APPLICATIONS = "deleted applications"
    STRAYS = "files that nothing names"


class Amount(Answer):
    """How many there are of a kind, and their bytes."""

    kind: KeptKind
    count: int
    size: int


class DueItem(Answer):
    """Something that goes with the next look, and why. ``size``: bytes that nothing else needs."""

    kind: KeptKind
    id: str
    tenant_id: str
    application_id: str
    why: str
    size: int


class RetentionPlan(Answer):
    """What the next look would let go. ``amounts``: of all; ``items``: the first of those with a
    name of their own.
    """

    amounts: list[Amount]
    items: list[DueItem]


class Collected(Answer):
    """What a look let go. ``ran``: seconds of the epoch; ``size``: bytes that are free now."""

    ran: Moment
    amounts: list[Amount]
    size: int


class NewRetention(Request):
    """What of an application is to be kept; null: as the provider says.

    ``models``: how many of its newest search, the best. ``model_days``: days after which others go
    that nobody needs, ``result_days``: predictions of files; 0: never.
    """

    models: int | None = Field(None, ge=1, le=10_000)
    model_days: float | None = Field(None, ge=0, le=36_500)
    result_days: float | None = Field(None, ge=0, le=36_500)


class Retention(Answer):
    """What of an application is kept. ``asked``: by its owner; the numbers are those in force.

    ``kept``: ids of models that somebody keeps; ``retired``: of those that can be had back.
    """

    application_id: str
    asked: NewRetention
    models: int
    model_days: float
    result_days: float
    kept: list[str]
    retired: list[str]

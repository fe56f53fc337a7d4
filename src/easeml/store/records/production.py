"""What endpoints were asked, and what was true."""

from dataclasses import dataclass, field

from easeml.store.shapes import Json, OtherAnswer, Picking


@dataclass(frozen=True, slots=True)
class RequestLog:
    """What is kept of the requests to an endpoint. ``id``: the application.

    ``share``: of the requests, at random; 0: none. ``days``: how long. ``masked``: columns whose
    values are not kept. ``missed``: requests that were to be kept and could not be. ``failed``:
    those that a model that is rolled out failed on, since its roll-out began. ``picking``: when the
    models are compared on the rows that are kept.
    """

    id: str
    tenant_id: str
    share: float
    days: float
    masked: list[str] = field(default_factory=list)
    created: float = 0.0
    missed: int = 0
    failed: int = 0
    picking: Picking | None = None


@dataclass(frozen=True, slots=True)
class ProductionRow:
    """A row that an endpoint was asked about, and what it answered.

    ``id``: the request's, and the number of the row in it. ``key``: the value of its column
    ``key``, by which its owner knows it; empty where it has none. ``looked``: the task that looked
    at it to watch the model, ``learned``: the one that took its truth, and ``sampled``: the one
    that took that as the truth of a row drawn at random; empty before that. ``fed``: the version
    that it joined with its truth; empty where none has it.
    """

    id: str
    tenant_id: str
    application_id: str
    request_id: str
    row: int
    key: str
    model_id: str
    inputs: Json
    answer: Json  # prediction, and probabilities where there are
    created: float = 0.0
    share: float = 0.0  # the chance that a model that is rolled out would answer it
    rollout_id: str = ""  # of the roll-out in which both models have predicted it
    other: OtherAnswer | None = None  # of the other model in a roll-out; None: it was not asked
    counted: bool = False  # its truth is part of the evidence
    looked: str = ""
    learned: str = ""
    sampled: str = ""
    fed: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was true of a row that an endpoint was asked about; the newest of a row counts.

    It names the row by request and number, or by key. ``value``: as JSON, under ``value``.
    ``chosen``: the row was chosen by what models say of it, so that it is no fair sample.
    ``drawn``: who says that the row was drawn at random: a user's id, or ``easeml`` where it did
    that itself, or ``nobody`` where an owner takes back what was said before; empty where nobody
    says so.
    """

    id: str
    tenant_id: str
    application_id: str
    request_id: str
    row: int
    key: str
    value: Json
    created: float = 0.0
    chosen: bool = False
    drawn: str = ""

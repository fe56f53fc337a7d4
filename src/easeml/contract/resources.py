"""The REST types: what the API accepts and answers, shared by ``api`` and ``client``.

Times: seconds of the epoch.
"""

from typing import Any, Generic, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from easeml.contract.states import KeyKind, Role

T = TypeVar("T")


class Answer(BaseModel):
    """Answers tolerate unknown keys, so that an older client reads a newer service."""

    model_config = ConfigDict(extra="ignore")


class Request(BaseModel):
    """Requests do not: a misspelt key is an error, not a silent default."""

    model_config = ConfigDict(extra="forbid")


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


# Accounts


class LoginRequest(Request):
    """Name and password of a user."""

    name: str
    password: str


class NewKey(Request):
    """Wish for an API key; ``expires_in`` in seconds, null for a key that does not expire."""

    name: str = Field(min_length=1, max_length=100)
    expires_in: float | None = Field(None, gt=0)


class Key(Answer):
    """An API key; ``secret`` is there once, when it is made."""

    id: str
    name: str
    tenant_id: str
    created: float
    expires: float | None = None
    revoked: bool = False
    kind: KeyKind = KeyKind.API  # made by a person, or by signing in
    secret: str | None = None


class NewUser(Request):
    """A person; made with a tenant of his own named like him."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$")
    password: str = Field(min_length=8, max_length=1000)


class Access(Request):
    """Whether a user may use this easeml."""

    disabled: bool


class RoleChange(Request):
    """What a user may do: a provider runs this easeml and sees all tenants."""

    role: Role


class PasswordChange(Request):
    """A new password; the old one proves who asks (the provider may leave it out for others)."""

    old: str = ""
    new: str = Field(min_length=8, max_length=1000)


class User(Answer):
    """A person who signs in."""

    id: str
    name: str
    role: str
    tenant_id: str
    created: float
    disabled: bool = False  # may not sign in, and no key works
    unread: int = 0  # notifications, of who asks; at most 100 are counted


# Data


class Upload(Answer):
    """A file that comes in pieces: ``offset`` of ``length`` bytes are here; given up after
    ``expires``.
    """

    id: str
    length: int
    offset: int
    expires: float


class Column(Answer):
    """What easeml saw in a column, and what it proposes."""

    name: str
    type: str  # number, category, text, timestamp; image, tensor, graph
    role: str  # what is done with it: input, target, drop
    missing: float = 0.0  # share of the rows
    distinct: int = 0
    examples: list[str] = Field(default_factory=list)
    classes: list[str] = Field(default_factory=list)
    evidence: str = ""
    nature: str = (
        "input"  # what it seems to be: input, target, identifier, constant, leak, time, group
    )
    confidence: float = 1.0  # in the type, 0 to 1
    nature_confidence: float = 1.0
    format: str = ""  # how numbers (1.234,5) or timestamps (%d.%m.%Y) are written
    missing_codes: list[str] = Field(default_factory=list)  # declared to stand for no value
    suspected_codes: list[str] = Field(
        default_factory=list
    )  # seem to; confirm with set COLUMN.missing
    content: dict[str, Any] = Field(
        default_factory=dict
    )  # of an image, tensor or graph: what the schema says of it
    distribution: dict[str, Any] = Field(
        default_factory=dict
    )  # {low, high, counts} of numbers, else {values, others}
    # For columns as targets, what shows that this one knows them too well.
    leaks: dict[str, str] = Field(default_factory=dict)


class Version(Answer):
    """An immutable version of a dataset."""

    id: str
    dataset_id: str
    number: int
    state: str
    operation: dict[str, Any]
    parents: list[str] = Field(default_factory=list)
    columns: list[Column] = Field(default_factory=list)
    schema_in: dict[str, Any] = Field(default_factory=dict)
    schema_out: dict[str, Any] = Field(default_factory=dict)
    summary: dict[str, Any] = Field(default_factory=dict)
    error: str = ""
    created: float


class Dataset(Answer):
    """Named data of a tenant, with its newest version."""

    id: str
    name: str
    created: float
    version: Version


# Applications


class Declaration(Request):
    """What a user declares. Everything but the dataset has a default that easeml proposes."""

    dataset_id: str
    version_id: str | None = None  # None: the newest upload
    name: str | None = None
    target: str | None = None
    objective: str | None = None
    set: dict[str, str] = Field(default_factory=dict)
    drop: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    models: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    constrain: dict[str, dict[str, Any]] = Field(
        default_factory=dict
    )  # model -> parameter -> value, list, {low, high}
    max_tasks: int | None = Field(None, gt=0)
    max_seconds: float | None = Field(None, gt=0)
    deadline: AwareDatetime | None = None  # no training that is expected to end later is started
    tolerance: float = Field(0.001, ge=0)
    seed: int = 0
    split: str = "random"  # or time:COLUMN, group:COLUMN, given:COLUMN


class ObjectiveOption(Answer):
    """An objective that fits an output schema."""

    name: str
    title: str
    about: str = ""
    default: bool = False


class ModelOption(Answer):
    """A model of the knowledge base against a schema; ``why_not`` is empty where it fits."""

    name: str
    title: str
    about: str = ""
    fits: bool
    why_not: str = ""
    predicted_cost: float | None = None  # device seconds of one task; null where it does not fit
    space: dict[str, Any] = Field(
        default_factory=dict
    )  # what is tuned, as far as it was not constrained


class Proposal(Answer):
    """What a declaration would mean: shown before it is made."""

    columns: list[Column]
    target: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    objectives: list[ObjectiveOption]
    models: list[ModelOption]


class Measure(Answer):
    """A measure in its own unit, with its 95 % interval where there is one.

    ``in_unit_of_target``: its unit is that of the target column. ``baseline``: what always guessing
    ``guess`` (such as the commonest class) reaches on the same rows.
    """

    value: float
    low: float | None = None
    high: float | None = None
    lower_is_better: bool
    in_unit_of_target: bool
    baseline: float | None = None
    guess: str = ""


class TrainedModel(Answer):
    """A trained model; quality on the validation rows of the version that it learned from.

    ``measure``: the quality in its own unit; ``measures``: by every objective that fits. Models of
    older versions of easeml have none.

    ``comparable``: these are the validation rows that the application's data has now.
    """

    id: str
    name: str
    quality: float
    measure: Measure | None = None
    measures: dict[str, Measure] = Field(default_factory=dict)
    low: float | None = None  # 95 % interval of the quality on these rows
    high: float | None = None
    latency: float | None = None  # seconds to predict one row, as measured after training
    cost: float = 0.0  # device seconds of its training
    size: int = 0  # bytes of the artefact
    config: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    task_id: str
    version: int = 0  # number of the version
    comparable: bool = True
    error: str = ""  # why it cannot be loaded any more
    created: float


class Improvement(Answer):
    """A task that found a better quality than all before it in its job.

    ``cost``: spent till then.
    """

    task_id: str
    name: str
    quality: float
    measure: Measure | None = None
    cost: float
    finished: float


class Job(Answer):
    """One model search."""

    id: str
    application_id: str
    version_id: str
    state: str
    waiting_reason: str = ""  # why nothing of it runs, and what helps; empty while something does
    best_quality: float | None = None
    expected_improvement: float | None = None
    expected_improvement_error: float | None = None
    cost: float = 0.0
    tasks_done: int = 0
    tasks_failed: int = 0
    tasks_under_way: int = 0
    candidates: int = 0
    improvements: list[Improvement] = Field(default_factory=list)  # oldest first
    limits: dict[str, Any] = Field(default_factory=dict)
    tolerance: float = 0.001
    error: str = ""
    created: float


class JobLimits(Request):
    """What a job may use in all; null: no limit."""

    max_tasks: int | None = Field(None, gt=0, le=2**32 - 1)
    max_seconds: float | None = Field(None, gt=0, le=2**32 - 1)
    deadline: AwareDatetime | None = None


class TestQuality(Answer):
    """The honest number: quality on test rows (a score, 1 is best), read through the ledger.

    ``measure``: the same in the objective's own unit; readings of older versions have none.
    """

    __test__ = False  # not a pytest class

    measure: Measure | None = None
    value: float
    low: float
    high: float
    rows: int
    model_id: str
    readings: int


class Application(Answer):
    """What a user declared, and how it does."""

    id: str
    name: str
    state: str
    dataset_id: str
    version_id: str
    target: str
    objective: str
    objective_title: str = ""
    objective_about: str = ""  # a sentence on what it means
    left_out: list[str] = Field(default_factory=list)  # models that were switched off
    constrained: dict[str, dict[str, Any]] = Field(
        default_factory=dict
    )  # model -> parameter -> what it may be
    endpoint: str
    live_model: TrainedModel | None = None
    pinned: bool = False  # is the live model held against better ones?
    test_quality: TestQuality | None = None
    job: Job | None = None
    running: list[str] = Field(default_factory=list)  # names of candidates under way
    next: list[str] = Field(default_factory=list)  # names of candidates that wait for a device
    schema_in: dict[str, Any] = Field(default_factory=dict)
    schema_out: dict[str, Any] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    error: str = ""
    created: float


class Promotion(Answer):
    """A change of what an endpoint serves."""

    id: str
    model_id: str
    previous_model_id: str
    state: str
    kind: str
    reason: str
    created: float


class Prediction(Answer):
    """Answer of an endpoint: one entry a row."""

    model_id: str
    model_name: str
    predictions: list[Any]
    probabilities: list[dict[str, float]] | None = None
    quality: dict[str, Any] | None = None  # where the rows had their labels
    notes: list[str] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list)  # of the files, where each is a row


class Task(Answer):
    """One piece of work."""

    id: str
    kind: str
    lane: str
    state: str
    subject: str
    job_id: str
    name: str = ""
    attempts: int
    quality: float | None = None
    measure: Measure | None = None  # the quality in its own unit
    cost: float
    error: str = ""
    result: dict[str, Any] = Field(default_factory=dict)
    created: float
    started: float | None = None
    finished: float | None = None


class Attempt(Answer):
    """One execution of a task. ``state``: running, done, failed or lost (with its worker)."""

    number: int
    state: str
    error: str = ""
    started: float
    finished: float | None = None


class TaskDetail(Answer):
    """What a task was told to do, and its executions, oldest first."""

    spec: dict[str, Any]
    attempts: list[Attempt]


class Decision(Answer):
    """A recorded choice of the scheduler."""

    id: str
    job_id: str
    task_id: str
    policy: str
    explanation: dict[str, Any]
    created: float


class Event(Answer):
    """Something that happened."""

    seq: int
    kind: str
    subject: str
    data: dict[str, Any] = Field(default_factory=dict)
    created: float


class Process(Answer):
    """A running part of the service."""

    id: str
    kind: str
    pid: int
    host: str
    state: str
    heartbeat: float
    created: float


class Health(Answer):
    """Whether the service can do its work; ``problems`` says in sentences what is wrong."""

    status: Literal["ok", "failing"]
    problems: list[str] = []


class Status(Answer):
    """The service in a few numbers."""

    version: str
    database: str = ""  # name and version, for providers
    processes: list[Process]
    tasks: dict[str, int]  # by state, of the caller's tenant
    applications: int

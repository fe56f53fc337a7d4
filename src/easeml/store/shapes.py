"""The shapes of the JSON in records.

A ``Shape`` is a dataclass that a column converts (``store.columns``). A JSON object that REST shows
as it was kept comes back key by key as it was written, in whatever release.
"""

import math
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, NotRequired, Self, TypedDict

from pydantic import TypeAdapter

Json = dict[str, Any]


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def or_endless(limit: float | None) -> float:
    """Return a limit as a number to compare with: infinity where there is none."""
    return math.inf if limit is None else limit


@dataclass(frozen=True, slots=True)
class Shape:
    """A value that the database holds as a JSON object."""

    @classmethod
    def from_json(cls, document: Json) -> Self:
        """Return the value of a JSON object; missing keys have their defaults, others are left out.

        Raises ``pydantic.ValidationError`` for a key without default that is missing, or another
        type.
        """
        return _reader(cls).validate_python(document)

    def to_json(self) -> Json:
        """Return the JSON object."""
        return asdict(self)


@cache
def _reader(shape: type) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


@dataclass(frozen=True, slots=True)
class Deed(Shape):
    """What an event tells of who did it: the id of a user, or the name of what took its place.

    Nobody did what the service does by itself.
    """

    by: str | None = None


@dataclass(frozen=True, slots=True)
class Removed(Shape):
    """What the event of a removal tells of a person: the name that they had."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class SeenGpu:
    """A GPU, or a slice of one, as a worker saw it; sizes in bytes.

    ``id``: by which CUDA knows it. ``used``: what all programs have; ``foreign``: what those have
    that are no tasks.
    """

    id: str
    name: str
    memory: int
    used: int
    foreign: int


@dataclass(frozen=True, slots=True)
class SeenGpus(Shape):
    """The GPUs of which a worker gives shares."""

    seen: list[SeenGpu] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Limits(Shape):
    """What may be used; None: no limit, and no key in the JSON."""

    def to_json(self) -> Json:
        """Return the limits that there are."""
        return given(**asdict(self))


@dataclass(frozen=True, slots=True)
class JobLimits(Limits):
    """What a job may use in all. ``deadline`` in seconds of the epoch."""

    tasks: int | None = None
    seconds: float | None = None
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class TenantLimits(Limits):
    """What a tenant may use; ``contract.administration.TenantLimits`` says what each means."""

    priority: float | None = None
    devices: int | None = None
    seconds: float | None = None
    storage: int | None = None
    applications: int | None = None
    month_seconds: float | None = None
    uploads: int | None = None
    requests: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFiles(Shape):
    """What a model's row says of its files; ``records.TrainedModel`` says what each means."""

    artefact: str = ""
    predictions: str = ""
    evaluation: str = ""
    refitted: str = ""
    refitted_predictions: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class RolloutPlan(Shape):
    """How a model is rolled out; ``lifecycle.rollout.Plan`` says what each means.

    ``run``, ``least``: where balanced accuracy counts, rows of a run, and of each class in it
    (``lifecycle.balanced``); 0 where each row is a gain of its own. ``by_class``: before a release,
    balanced accuracy counts (``lifecycle.rounds``).
    """

    shares: list[float]
    tolerance: float
    reliability: float
    run: int = 0
    least: int = 0
    by_class: bool = False


@dataclass(frozen=True, slots=True)
class RolloutEvidence(Shape):
    """What the requests of a roll-out told; ``lifecycle.rollout.Evidence`` says what each means."""

    fine: list[float] = field(default_factory=list)
    worse: list[float] = field(default_factory=list)
    peak: float = 0.0
    better: int = 0
    worse_off: int = 0
    alike: int = 0
    failures: int = 0
    before: float = 0.0
    gained: float = 0.0
    classes: dict[str, list[int]] = field(default_factory=dict)
    waiting: dict[str, dict[str, list[int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OtherAnswer(Shape):
    """What the model says of a row that did not answer it; ``failed``: it could not."""

    prediction: str | float | bool | None = None
    failed: bool = False


_ADDED_LATER = (
    "latency",
    "size",
    "monotonic",
    "measures",
    "optimizer",
    "histories",
    "weight",
    "forecast",
)


@dataclass(frozen=True, slots=True)
class Rules(Shape):
    """What an application leaves of the knowledge base.

    ``models``: these only, None: all. ``constrain``: model -> parameter -> what it may be.
    ``latency``: seconds that a model may take to predict one row; ``size``: bytes that its files
    may have; None: any. ``monotonic``: column -> rising or falling, as the prediction has to follow
    it. ``measures``: what every model is measured by beside what fits its target. ``optimizer``:
    what proposes configurations; empty: what the provider chose for all. ``histories``: tasks that
    read trials of other programs, of which the search learns. ``weight``: the column that says how
    much each row counts; empty: each once, else only what uses weights is searched. ``forecast``:
    how the target follows its own past (``easeml.contract.tasks.ForecastRule``); empty: it is none.
    """

    models: list[str] | None = None
    exclude: list[str] = field(default_factory=list)
    constrain: dict[str, Json] = field(default_factory=dict)
    latency: float | None = None
    size: int | None = None
    monotonic: dict[str, str] = field(default_factory=dict)
    measures: list[str] = field(default_factory=list)
    optimizer: str = ""
    histories: list[str] = field(default_factory=list)
    weight: str = ""
    forecast: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        """Return the JSON object; without what is not said, as before there were such keys."""
        document = asdict(self)
        for name in _ADDED_LATER:
            if not document[name]:
                del document[name]
        return document


@dataclass(frozen=True, slots=True)
class ModuleConfig(Shape):
    """A module of the knowledge base with a configuration."""

    module: str
    config: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidatePipeline(Shape):
    """Transforms, in order, then a model. ``monotonic`` and ``forecast``: as of ``Rules`` when it
    was made.
    """

    transforms: list[ModuleConfig]
    model: ModuleConfig
    monotonic: dict[str, str] = field(default_factory=dict)
    forecast: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        """Return the JSON object; without the rules of which there are none."""
        document = asdict(self)
        for rule in ("monotonic", "forecast"):
            if not document[rule]:
                del document[rule]
        return document


class OperationName(StrEnum):
    """How a version was made.

    ``upload`` reads a file and proposes columns; ``declare`` applies the user's changes to its
    parent and gives every row a role; ``feed`` adds the rows of a file, ``refine`` switches rows
    off or on, ``answer`` has what people answered, ``flow`` what a person's graph of steps gave;
    ``replace`` has the rows of a file, and none of its parent's; ``retire`` made train rows of
    worn-out test rows.
    """

    UPLOAD = "upload"
    DECLARE = "declare"
    FEED = "feed"
    REFINE = "refine"
    ANSWER = "answer"
    FLOW = "flow"
    REPLACE = "replace"
    RETIRE = "retire"


_INHERITED = ("seed", "split", "weight")


@dataclass(frozen=True, slots=True)
class Operation(Shape):
    """How a version was made; ``told`` are the other keys of the JSON, which each name has its own
    of.
    """

    name: OperationName
    told: Json = field(default_factory=dict)

    @classmethod
    def from_json(cls, document: Json) -> Self:
        """Return the operation; raises ``ValueError`` for a name that this program does not know."""
        told = {key: value for key, value in document.items() if key != "name"}
        return cls(OperationName(document["name"]), told)

    def to_json(self) -> Json:
        """Return the JSON object."""
        return {"name": str(self.name), **self.told}

    @property
    def application_id(self) -> str:
        """The application that goes on with the version; empty for uploads and declarations."""
        return self.told.get("application_id", "")

    @property
    def upload_id(self) -> str:
        """The upload whose new rows joined; empty where rows came otherwise."""
        return self.told.get("upload_id", "")

    @property
    def origin(self) -> Json:
        """Where it was fetched: address, query, digest, size, etag, time; empty for a file."""
        return self.told.get("origin", {})

    @property
    def seed(self) -> int:
        """What rows were divided by; uploads have none. Raises ``KeyError`` for these."""
        return self.told["seed"]

    @property
    def division(self) -> Json:
        """How rows were divided and weighed, as the next version inherits it, where known."""
        return {key: self.told[key] for key in _INHERITED if key in self.told}


@dataclass(frozen=True, slots=True)
class WorkOption(Shape):
    """A value that may be right, and how likely that is held to be."""

    value: str
    weight: float


@dataclass(frozen=True, slots=True)
class WaitingTest(Shape):
    """A test that waits for labels: of which model against which, on the rows of which version.

    ``about``: labels that it should still need, None: not known; ``low``, ``high``: as a rule;
    ``most``: at most.
    """

    new_id: str
    old_id: str
    version_id: str
    about: int | None = None
    most: int = 0
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Reserve(Shape):
    """Rows of the pool, by id, on which a gate may buy ``labels``, counted since it was ``opened``.

    ``ledger``: of ``easeml.lifecycle.ci``, about these rows in their order. ``short``: labels that
    the newest test might still buy, which could not tell; null where it told, or waits for labels.
    """

    ledger: Json
    rows: list[int]
    labels: int
    opened: float
    waiting: WaitingTest | None = None
    short: int | None = None


@dataclass(frozen=True, slots=True)
class Picking(Shape):
    """When models are compared on rows of production, and how far the newest comparison has come.

    ``way``: of ``PickingWay``; ``labels``: that one may ask for. ``began``: the newest one. While
    it is under way, ``rows`` has the ids of its rows of production, an empty one where nobody knows
    the answer, ``models`` those of the models by name, and ``task_id`` the task that compares, empty
    while people are asked. ``says``: what the last one came to.

    ``proving``: the newest one has to prove that an adapted model is better than what serves, by so
    many labels at most; 0: it is a usual one. Until ``adapted``, the tasks that adapt models, have
    ended, it has no models. ``compared``: the rows that came before are not compared again; null:
    those before the newest one.
    """

    way: str = "off"
    labels: int = 100
    began: float = 0.0
    rows: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    task_id: str = ""
    says: str = ""
    proving: int = 0
    adapted: list[str] = field(default_factory=list)
    compared: float | None = None


@dataclass(frozen=True, slots=True)
class LabelLimit(Shape):
    """How many labels gate and comparisons of an application may buy in any ``days`` days."""

    labels: int
    days: float


@dataclass(frozen=True, slots=True)
class WorkQuestion(Shape):
    """What a person is shown. ``given``: the value as it is, empty for none. ``options``: the
    likeliest first; any other value may be given too. ``values``: the row's other cells as text.
    ``matters``: columns among them that bear on the answer. ``source``: what found it. ``told``:
    what the answer should bring, reckoned alone, before experience with its kind. ``of_row``: the
    id of the row of production that is asked about; empty for other rows.
    """

    given: str = ""
    options: list[WorkOption] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    matters: list[str] = field(default_factory=list)
    source: str = ""
    told: float = 0.0
    of_row: str = ""


@dataclass(frozen=True, slots=True)
class VersionSummary(Shape):
    """A version in a few numbers; ``told`` is the JSON, whose keys grew with the releases."""

    told: Json = field(default_factory=dict)

    @classmethod
    def from_json(cls, document: Json) -> Self:
        """Return the summary of a JSON object."""
        return cls(document)

    def to_json(self) -> Json:
        """Return the JSON object."""
        return self.told

    @property
    def rows(self) -> int | None:
        """Rows in all; None before the file was read."""
        return self.told.get("rows")

    @property
    def off(self) -> int:
        """Train rows that are switched off."""
        return self.told.get("off", 0)

    @property
    def folds(self) -> int:
        """By how many folds models are judged; 0: by the validation rows alone."""
        return self.told.get("folds", 0)

    @property
    def fits(self) -> int:
        """How often a model is fitted to be judged."""
        return max(self.folds, 1)

    @property
    def retired(self) -> int:
        """Test rows that were worn out and are train rows now, of this version and those before."""
        return self.told.get("retired", 0)

    def corrected(self, role: str) -> int:
        """Answers of validation or test rows that people corrected, of this version and before."""
        by_role: dict[str, int] = self.told.get("corrected", {})
        return by_role.get(role, 0)

    @property
    def added(self) -> dict[str, int]:
        """Rows that the version before had not, by role."""
        return self.told.get("added", {})

    @property
    def target(self) -> str:
        """The target of a declared version, the proposed one of an upload; empty without one."""
        return self.told.get("target") or ""

    @property
    def notes(self) -> list[str]:
        """What people should know of the data."""
        return self.told.get("notes", [])

    def rows_of(self, role: str) -> int:
        """Rows with a role; 0 before roles are given."""
        return self.told.get(role) or 0


class ColumnSeen(TypedDict):
    """A column report of ``easeml.data``; ``contract.datasets.Column`` says what each key means."""

    name: str
    type: str
    role: str
    classes: NotRequired[list[str]]
    content: NotRequired[Json]
    missing: NotRequired[float]
    distribution: NotRequired[Json]
    leaks: NotRequired[dict[str, str]]
    alike: NotRequired[dict[str, str]]

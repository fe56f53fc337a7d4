"""The REST types of applications: what is declared, what easeml proposes, what is served."""

from collections.abc import Sequence
from itertools import filterfalse
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from easeml.contract.datasets import Column
from easeml.contract.jobs import Job
from easeml.contract.models import EnsembleMember, Measure, TrainedModel
from easeml.contract.resources import Answer, Request
from easeml.contract.states import Permission, RolloutState
from easeml.contract.tasks import ForecastRule
from easeml.contract.times import Moment
from easeml.errors import InvalidInput


class Forecast(Request):
    """A forecast, at most ``ahead`` steps after what is known, by the time that rows are split by.

    ``series``: the columns by which series are told apart; empty where there is one. ``past_only``:
    columns of numbers that are not known ahead: models look at what they were, and nobody sends them.
    """

    ahead: int = Field(ge=1, le=10_000)
    series: list[str] = Field(default_factory=list)
    past_only: list[str] = Field(default_factory=list)


class Declaration(Request):
    """What a user declares. Everything but the dataset has a default that easeml proposes."""

    dataset_id: str
    version_id: str | None = None  # None: the newest upload
    name: str | None = None
    target: str | None = None
    objective: str | None = None  # a name, or that of a class: recall(bad), f-beta(bad, 2)
    costs: dict[str, dict[str, float]] | None = None  # true label -> said label -> its cost
    cost_unit: str = Field("", max_length=50)
    set: dict[str, str] = Field(default_factory=dict)
    drop: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    models: list[str] | None = None
    exclude: list[str] = Field(default_factory=list)
    constrain: dict[str, dict[str, Any]] = Field(
        default_factory=dict
    )  # model -> parameter -> value, list, {low, high}
    max_latency: float | None = Field(None, gt=0, allow_inf_nan=False)  # seconds for one row
    max_size: int | None = Field(None, gt=0, le=2**53)  # bytes of a model's files
    monotonic: dict[str, Literal["rising", "falling"]] = Field(
        default_factory=dict
    )  # column -> how the prediction follows it
    optimizer: str = Field("", max_length=100)  # what proposes configurations; empty: the usual one
    max_tasks: int | None = Field(None, gt=0)
    max_seconds: float | None = Field(None, gt=0)
    deadline: AwareDatetime | None = None  # no training that is expected to end later is started
    tolerance: float = Field(0.001, ge=0)
    seed: int = 0
    split: str = "random"  # or time:COLUMN, group:COLUMN, given:COLUMN
    weight: str | None = None  # the column that says how much each row counts; no input
    together: list[str] = Field(default_factory=list)  # columns that are one answer with the target
    forecast: Forecast | None = None  # the target follows its own past


def one_a_target(declaration: Declaration, targets: Sequence[str], name: str) -> list[Declaration]:
    """Return a declaration for each of several columns that are to be predicted of the same data.

    Of each, the other targets are no inputs, for they are not known either when it is predicted;
    those that ``declaration.keep`` names are. ``name``: of the data, where the declaration has
    none; an application is called ``NAME: TARGET``. Raises ``InvalidInput`` where a target is
    there twice.
    """
    if len(set(targets)) < len(targets):
        raise InvalidInput(f"A target is named twice: {', '.join(targets)}.", where="target")
    decided = {*declaration.keep, *declaration.drop}
    left_out = list(filterfalse(decided.__contains__, targets))
    declared = []
    for target in targets:
        others = filter(target.__ne__, left_out)
        changes = {
            "target": target,
            "drop": [*declaration.drop, *others],
            "name": f"{declaration.name or name}: {target}",
        }
        declared.append(declaration.model_copy(update=changes))
    return declared


class ObjectiveOption(Answer):
    """An objective that fits an output schema. ``costs``: of a table of costs, true -> said -> cost."""

    name: str
    title: str
    about: str = ""
    default: bool = False
    costs: dict[str, dict[str, float]] | None = None
    cost_unit: str = ""


class ObjectiveFamily(Answer):
    """Objectives that have to be told something: ``takes`` a class, beta (a number) or costs.

    ``example``: the name of one, for this target.
    """

    name: str
    title: str
    about: str = ""
    takes: list[str]
    example: str


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
    families: list[ObjectiveFamily] = Field(default_factory=list)
    labels: list[str] = Field(default_factory=list)  # of the target; none of a number
    models: list[ModelOption]
    forecast: ForecastRule | None = None  # how the target follows its own past, if it does
    notes: list[str] = Field(default_factory=list)  # of rows that may flatter a random test


class TestQuality(Answer):
    """The honest number: quality on test rows (a score, 1 is best), read through the ledger.

    ``measure``: the same in the objective's own unit; readings of older versions have none.
    ``adapted``: the model is fitted to newer rows than these, and was proven on those.
    ``corrected``: how many answers of these rows people had corrected.
    """

    __test__ = False  # not a pytest class

    measure: Measure | None = None
    value: float
    low: float
    high: float
    rows: int
    model_id: str
    refitted: bool = False  # of the model as fitted on train and validation rows
    readings: int
    adapted: bool = False
    corrected: int = 0


class Live(Answer):
    """What answers requests. ``ensemble``: the models that it is made of; empty for one model."""

    model: str  # its name
    model_id: str
    refitted: bool
    ensemble: list[EnsembleMember] = Field(default_factory=list)


class AfterRelease(Answer):
    """A model that went live, beside the one before: compared with it still, or returned from.

    ``model``, ``before``: names. ``state``: running, or taken-back where the model before serves
    again. ``says``: what the rows say, in a sentence; rows count where their truth came.
    """

    model_id: str
    model: str
    before_id: str
    before: str
    state: RolloutState
    says: str
    created: Moment
    ended: Moment | None


class Application(Answer):
    """What a user declared, and how it does.

    ``may``: what the caller may do with it; in a list, what their role in the tenant allows.
    """

    id: str
    name: str
    state: str
    may: list[Permission] = Field(default_factory=list)
    shared: bool = False  # with the caller, whose own data sets are not beside it
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
    live: Live | None = None
    released: list[AfterRelease] = Field(
        default_factory=list
    )  # what serves, if it is compared with what served before, and the newest return
    weight: str = ""  # the column that says how much each row counts; empty: each once
    forecast: ForecastRule | None = None  # how the target follows its own past, if it does
    pinned: bool = False  # is the live model held against better ones?
    follows: bool = True  # does it take new rows of its data set when that is fetched again?
    gated: bool = False  # has a gate to be passed before a model goes live?
    test_quality: TestQuality | None = None
    job: Job | None = None
    running: list[str] = Field(default_factory=list)  # names of candidates under way
    next: list[str] = Field(default_factory=list)  # names of candidates that wait for a device
    schema_in: dict[str, Any] = Field(default_factory=dict)
    schema_out: dict[str, Any] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)
    leaks: dict[str, str] = Field(
        default_factory=dict
    )  # columns in use that may know the target -> what shows it
    error: str = ""
    created: Moment


class Promotion(Answer):
    """A change of what an endpoint serves."""

    id: str
    model_id: str
    previous_model_id: str
    state: str
    kind: str
    reason: str
    created: Moment


class ColumnAttribution(Answer):
    """What a column added to a prediction: its Shapley value, and the standard error of sampling."""

    column: str
    value: float
    error: float


class Attribution(Answer):
    """What moved a prediction: from ``base``, the mean of ``compared_with`` training rows, the columns
    lead to it. They come largest first.

    ``of``: the class whose probability is explained; empty for a number, which is explained itself.
    """

    of: str
    base: float
    compared_with: int
    columns: list[ColumnAttribution]


class Prediction(Answer):
    """Answer of an endpoint: one entry a row.

    ``request_id``: by which feedback names it. ``lower`` and ``upper`` enclose a share ``coverage``
    of numbers, where the model has intervals. ``attributions``: where they were asked for.
    ``separator``: of rows that may have several labels, whose predictions are lists of these: what
    stands between labels in the table that was learned from; empty where it has lists, too.
    """

    request_id: str = ""
    model_id: str
    model_name: str
    predictions: list[Any]
    probabilities: list[dict[str, float]] | None = None
    lower: list[float] | None = None
    upper: list[float] | None = None
    coverage: float | None = None
    separator: str | None = None
    targets: list[str] = Field(
        default_factory=list
    )  # of several numbers a row, whose predictions are lists of these: the columns
    attributions: list[Attribution] = Field(default_factory=list)
    quality: dict[str, Any] | None = None  # where the rows had their labels
    notes: list[str] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list)  # of the files, where each is a row
    rows: list[dict[str, Any]] = Field(
        default_factory=list
    )  # that were forecast, when none were sent
    known: list[dict[str, Any]] = Field(
        default_factory=list
    )  # the last ones before them, with values

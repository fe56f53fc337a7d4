"""Versions of an application's data: what changed, and the training rows one by one."""

from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer, Page, Request
from easeml.contract.times import Moment


class VersionLine(Answer):
    """A version of an application's data in a few words.

    ``operation``: declare, feed or refine, with its details.
    """

    id: str
    number: int
    state: str
    current: bool = False  # is it the one that the application uses?
    operation: dict[str, Any]
    parents: list[str] = Field(default_factory=list)
    rows: dict[str, int] = Field(default_factory=dict)  # by role
    off: int = 0  # train rows that are switched off
    added: dict[str, int] = Field(default_factory=dict)  # by role, to its parent's
    notes: list[str] = Field(default_factory=list)
    error: str = ""
    created: Moment


class TrainRow(Answer):
    """A training pair, and how far it contradicts what is learnt from the others (null: nobody
    looked).
    """

    row: int
    on: bool
    values: dict[str, Any]
    target: Any
    suspicion: float | None = None  # 0 to 1
    predicted: Any = None  # by models that did not see the row


class TrainRows(Page[TrainRow]):
    """A page of train rows.

    ``scored``: number of the version whose rows were looked at, null where none was.
    """

    version_id: str
    number: int
    total: int  # rows that fit the filter
    off: int
    classes: list[str] = Field(default_factory=list)  # of the target, where it is a category
    scored: int | None = None
    looking: bool = False  # is somebody looking for suspicious rows?
    changing: bool = False  # is another version being made?


class Refinement(Request):
    """Train rows to switch off and on, by id.

    ``version_id``: refuse if the data has another version by now.
    """

    off: list[int] = Field(default_factory=list, max_length=100_000)
    on: list[int] = Field(default_factory=list, max_length=100_000)
    version_id: str | None = None


class FlowStep(Request):
    """A step of a graph, to be shown: its name, what it does, and on which steps."""

    name: str = Field(max_length=200)
    told: str = Field(max_length=1000)
    of: list[str] = Field(default_factory=list, max_length=100)
    about: str = Field("", max_length=1000)


class PushedFlow(Request):
    """Rows that a graph of steps gave.

    ``upload_id``: a Parquet file of them, uploaded whole; ``digest`` of its content. ``title``,
    ``context`` and ``tags``: what people call it, what it was made for, and words to find it by.
    ``version_id``: the version in use. ``since``: the version that the steps began with, where the
    file has only what differs from it; rows of the role ``off`` are to be off. Empty: the file has
    all rows. Rows without id are new, and get ids in their order, the first one the version's
    ``summary.first_new``. With ``since``, a row may bring some columns only: the column
    ``easeml.cells`` names them (JSON), and its other cells are as they were.
    """

    upload_id: str = Field(max_length=100)
    digest: str = Field(max_length=64)
    title: str = Field(min_length=1, max_length=200)
    context: str = Field("", max_length=1000)
    tags: list[str] = Field(default_factory=list, max_length=50)
    steps: list[FlowStep] = Field(default_factory=list, max_length=1000)
    version_id: str
    since: str = Field("", max_length=100)


class RowRange(Answer):
    """Ids of rows that follow one another, both ends included."""

    role: str
    first: int
    last: int


class Comparison(Answer):
    """What a version has that another (``before``; its parent by default) had not."""

    version_id: str
    before: str | None
    added: dict[str, int] = Field(default_factory=dict)  # rows by role
    removed: dict[str, int] = Field(default_factory=dict)
    ranges: list[RowRange] = Field(default_factory=list)  # of the rows added
    switched_off: list[int] = Field(default_factory=list)
    switched_on: list[int] = Field(default_factory=list)
    schema_differences: list[str] = Field(default_factory=list)

"""The REST types of data: uploads, columns, versions and datasets."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment

UNSURE_TARGET = "What to predict is not sure"  # how the note on a target that is a guess begins


class Upload(Answer):
    """A file that comes in pieces: ``offset`` of ``length`` bytes are here; given up after
    ``expires``.
    """

    id: str
    length: int
    offset: int
    expires: Moment


class Column(Answer):
    """What easeml saw in a column, and what it proposes."""

    name: str
    type: str  # number, category, text, timestamp; labels of a target; image, tensor, graph
    role: str  # what is done with it: input, target, drop, weight
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
    )  # of an image, tensor, graph or lists of labels: what the schema says of it
    distribution: dict[str, Any] = Field(
        default_factory=dict
    )  # {low, high, counts} of numbers, else {values, others}
    # For columns as targets, what shows that this one knows them too well.
    leaks: dict[str, str] = Field(default_factory=dict)
    # For columns as targets, how much rows with the same value here are alike in them.
    alike: dict[str, str] = Field(default_factory=dict)


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
    created: Moment


def most_telling(columns: Sequence[Column], most: int) -> list[Column]:
    """Return at most ``most`` columns in their order: first those that are not like most others.

    Alike are columns of one type and use, of which nothing needs to be confirmed.
    """
    if len(columns) <= most:
        return list(columns)
    usual, _ = Counter(map(_kind, columns)).most_common(1)[0]
    by_interest = sorted(columns, key=lambda one: _kind(one) == usual)
    names = {one.name for one in by_interest[:most]}
    return [one for one in columns if one.name in names]


def _kind(column: Column) -> tuple[object, ...]:
    return column.type, column.role, column.nature, bool(column.suspected_codes)


def notes_beside(version: Version, target: str | None) -> list[str]:
    """Return what is to be said of an upload; of a target that is a guess, where none was named."""
    notes = list(version.summary.get("notes", ()))
    if target:
        notes = [note for note in notes if not note.startswith(UNSURE_TARGET)]
    proposed = version.summary.get("target")
    return [*notes, *_without_answer(version, target or proposed)]


def _without_answer(version: Version, target: str | None) -> list[str]:
    """Return what becomes of the rows of an upload that have no target, if any has none."""
    answers = [one for one in version.columns if one.name == target]
    share = sum(
        one.missing for one in answers if not one.content
    )  # of labels an empty cell is none
    rows = version.summary.get("rows", 0)
    without = round(share * rows)
    if not without:
        return []
    return [
        f"Rows without '{target}': {without:,} of {rows:,}. "
        "They are no part of training or tests: easeml keeps them as a pool, and "
        "asks for the answers that would tell most."
    ]


class Dataset(Answer):
    """Named data of a tenant, with its newest version."""

    id: str
    name: str
    created: Moment
    version: Version


class UnusedDatasets(Answer):
    """The newest datasets that no application was made of, the newest first."""

    items: list[Dataset]

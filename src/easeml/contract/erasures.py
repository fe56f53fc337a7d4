"""The REST types of erasing rows everywhere."""

from typing import Annotated

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import ModelFate
from easeml.contract.times import Moment

ColumnName = Annotated[str, Field(min_length=1, max_length=500)]
Written = Annotated[str, Field(max_length=10_000)]


class NewErasure(Request):
    """Which rows of a data set are to be nowhere any more.

    ``where``: a value for each of some columns, as written; all have to hold. Columns that models do
    not use count too, such as a customer's number. ``models``: what becomes of those that learnt
    from such rows: ``retrain`` (the search starts anew, and what serves goes on until another model
    does) or ``retire`` (they serve no more). ``plan_only``: only say what would go.
    """

    where: dict[ColumnName, Written] = Field(min_length=1, max_length=20)
    models: ModelFate = ModelFate.RETRAIN
    plan_only: bool = True


class ErasedVersion(Answer):
    """Rows that a version of the data has, or had. ``roles``: how many of each; empty for a file."""

    version_id: str
    number: int
    rows: int
    roles: dict[str, int] = Field(default_factory=dict)


class ErasedModel(Answer):
    """A model that learnt from, or was measured on, such rows. ``serves``: until another one does."""

    model_id: str
    name: str
    application_id: str
    serves: bool


class Remaining(Answer):
    """Where a value that erased rows were known by, or the name of a class that only they had, still
    stands. ``place``: table and column of the database; ``rows``: how many there; ``why``: a sentence.
    """

    place: str
    rows: int
    why: str


class Erasure(Answer):
    """What was erased, or would be, and where it may still be.

    ``production_rows``: kept requests; ``told``: what was said to be true of them. ``questions`` and
    ``answers``: of people about the rows. ``analyses``: reports on the data, which may show rows;
    ``predicted_files``: files that were predicted, all of the applications; ``logs``: what attempts
    printed and noted. ``bytes_gone_by``: seconds of the epoch at which stored bytes are gone, too.
    ``elsewhere``: sentences on what easeml cannot reach. ``remains``: what a search of the whole
    database found afterwards; nothing in a dry run.
    """

    dataset_id: str
    plan_only: bool
    models_are: ModelFate
    by: str
    when: Moment
    versions: list[ErasedVersion]
    models: list[ErasedModel]
    production_rows: int = 0
    told: int = 0
    questions: int = 0
    answers: int = 0
    analyses: int = 0
    predicted_files: int = 0
    logs: int = 0
    bytes_gone_by: Moment = 0.0
    elsewhere: list[str] = Field(default_factory=list)
    remains: list[Remaining] = Field(default_factory=list)

"""The REST types of data from elsewhere, and of fetching it again."""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import RetrievalState, SourceAction
from easeml.contract.times import Moment


class NewOrigin(Request):
    """Where data lies.

    ``address``: https://HOST/FILE, s3://BUCKET/KEY, postgresql://CONNECTION or sqlite://CONNECTION;
    the last two with a ``query``. ``name`` of the dataset: that of the file by default. ``header``:
    whether the first row of a text table holds the names; ``table``: which one of several in the
    file, from 1, 0 for the text of a document; None: that is found out.
    """

    address: str = Field(max_length=2_000)
    query: str = Field(default="", max_length=20_000)
    name: str | None = Field(default=None, max_length=200)
    header: bool | None = None
    table: int | None = Field(default=None, ge=0)


class Retrieval(Answer):
    """One time that a data set was fetched again.

    ``action``: its rows become a new version (``refresh``), or the model of an application predicts
    them (``predict``); the predictions are those of the task ``task_id``. ``unchanged``: there was
    nothing new. ``note``: why it failed, or what was unusual. ``ended`` is null while it is running.
    """

    id: str
    action: SourceAction
    dataset_id: str
    application_id: str = ""
    schedule_id: str = ""
    state: RetrievalState
    task_id: str = ""
    version_id: str = ""
    note: str = ""
    created: Moment
    ended: Moment | None = None


class Source(Answer):
    """Where a data set came from: an empty ``address`` where it is a file.

    ``retrievals``: the newest times that it was fetched again, newest first. ``running``: it is being
    fetched now.
    """

    address: str = ""
    query: str = ""
    running: bool = False
    retrievals: list[Retrieval] = Field(default_factory=list)


class NewSchedule(Request):
    """When a data set that came from elsewhere is fetched again.

    ``application_id``: predict what came with the model of this application, instead of making a
    version of it. ``every``: "6 hours", "day", or a day of the week; ``at``: a time of the day,
    "HH:MM"; ``zone``: where it is that time, such as "Europe/Zurich".
    """

    dataset_id: str = Field(min_length=1, max_length=100)
    application_id: str = Field(default="", max_length=100)
    every: str = Field(min_length=1, max_length=40)
    at: str = Field(default="03:00", max_length=10)
    zone: str = Field(default="UTC", min_length=1, max_length=80)


class Schedule(Answer):
    """When a data set is fetched again, and what for.

    ``next_time``: a time, null while it is paused. ``failures``: of its retrievals in a row, with the
    ``error`` of the last, or why it was paused. ``last``: its newest retrieval.
    """

    id: str
    action: SourceAction
    dataset_id: str
    dataset: str
    application_id: str = ""
    application: str = ""
    every: str
    at: str
    zone: str
    next_time: Moment | None
    paused: bool
    failures: int = 0
    error: str = ""
    last: Retrieval | None = None
    created: Moment


class Choice(Answer):
    """Something that can be chosen by its name."""

    id: str
    name: str


class SchedulesView(Answer):
    """The tenant's schedules, and what another may be about: data sets that came from elsewhere,
    and applications whose models can predict. The newest are first.
    """

    schedules: list[Schedule]
    datasets: list[Choice]
    applications: list[Choice]

"""The REST types of tasks, and of the scheduler's recorded choices."""

from typing import Any

from pydantic import Field

from easeml.contract.evaluation import AttemptLog, TaskReport
from easeml.contract.models import Measure
from easeml.contract.reports import Report
from easeml.contract.resources import Answer, Page
from easeml.contract.states import Permission
from easeml.contract.times import Moment


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
    created: Moment
    started: Moment | None = None
    finished: Moment | None = None
    traced: bool = False  # it notes what it does
    threads: int = Field(default=1, description="threads that it needs at least")
    memory: int = Field(
        default=0, description="bytes of memory that it is believed to need; 0: not known"
    )
    disk: int = Field(default=0, description="likewise of disk")
    waits: str = Field(
        default="", description="why no machine can take it, where that is so; empty: one can"
    )


class Attempt(Answer):
    """One execution of a task. ``state``: running, done, failed, lost (with its worker) or suspended."""

    number: int
    state: str
    error: str = ""
    started: Moment
    finished: Moment | None = None


class TaskDetail(Answer):
    """What a task was told to do, and its executions, oldest first."""

    spec: dict[str, Any]
    attempts: list[Attempt]


class TraceBar(Answer):
    """A step, or a function that ran: seconds of the epoch; ``depth``: how many others it is in.

    ``module``: of a function; empty for a step.
    """

    name: str
    begin: Moment
    end: Moment
    depth: int
    module: str = ""


class TraceTrack(Answer):
    """What one thread of a process did, or its steps."""

    process: str
    name: str
    bars: list[TraceBar]


class TaskTrace(Answer):
    """What an attempt did, from when to when, as far as a picture shows it.

    ``looks``: at the code that ran. ``clock_error``: seconds by which the clock of a process may be
    off the database's at most; None: nobody knows.
    """

    attempt: int
    tracks: list[TraceTrack]
    looks: int
    clock_error: float | None = None


class Decision(Answer):
    """A recorded choice of the scheduler."""

    id: str
    job_id: str
    task_id: str
    policy: str
    explanation: dict[str, Any]
    created: Moment


class TaskView(Answer):
    """All that the page of a task shows.

    ``may``: what the caller may do with it, and with its application; ``shared_application``: that
    application's id where it was shared with them. ``log``: what its newest
    attempt printed; ``trace``: what the newest that was traced did;
    ``answers``: of lifecycle tools about its model.
    """

    task: Task
    may: list[Permission] = Field(default_factory=list)
    shared_application: str = ""
    detail: TaskDetail
    log: AttemptLog
    report: TaskReport
    answers: list[Report]
    trace: TaskTrace | None = None


class TaskOverview(Answer):
    """A page of tasks, newest first, with what people read them by.

    ``counts``: tasks of the tenant by state. ``applications``: names by id.
    """

    page: Page[Task]
    counts: dict[str, int]
    applications: dict[str, str]

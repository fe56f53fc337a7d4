"""The REST types of model searches."""

from typing import Any

from pydantic import AwareDatetime, Field

from easeml.contract.models import Measure
from easeml.contract.resources import Answer, Request
from easeml.contract.times import Moment


class Improvement(Answer):
    """A task that found a better quality than all before it in its job.

    ``cost``: spent till then.
    """

    task_id: str
    name: str
    quality: float
    measure: Measure | None = None
    cost: float
    finished: Moment


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
    settled: bool = False  # it rests, and what it found is served and measured
    candidates: int = 0
    improvements: list[Improvement] = Field(default_factory=list)  # oldest first
    limits: dict[str, Any] = Field(default_factory=dict)
    tolerance: float = 0.001
    error: str = ""
    created: Moment


class JobLimits(Request):
    """What a job may use in all; null: no limit."""

    max_tasks: int | None = Field(None, gt=0, le=2**32 - 1)
    max_seconds: float | None = Field(None, gt=0, le=2**32 - 1)
    deadline: AwareDatetime | None = None

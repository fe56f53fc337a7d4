"""Searches, what they could train, and what the scheduler chose."""

from dataclasses import dataclass, field

from easeml.contract.states import JobState
from easeml.store.shapes import CandidatePipeline, JobLimits, Json


@dataclass(frozen=True, slots=True)
class Job:
    """One model search for an application on one version.

    ``expected_improvement`` and its error: quality still expected from further search.
    ``gain_rate``: quality that the next task may be expected to gain a device second.
    ``settled``: it rests, and what it found was put together, fitted again, served and measured.
    ``objective``: that its qualities are by, where its application has another one by now; empty:
    that of its application.
    """

    id: str
    tenant_id: str
    application_id: str
    version_id: str
    state: JobState = JobState.PREPARING
    limits: JobLimits = field(default_factory=JobLimits)
    tolerance: float = 0.001
    best_quality: float | None = None
    expected_improvement: float | None = None
    expected_improvement_error: float | None = None
    cost: float = 0.0  # device seconds spent
    error: str = ""
    created: float = 0.0
    gain_rate: float | None = None
    settled: bool = False
    objective: str = ""

    def is_judged_by(self, objective: str) -> bool:
        """Tell whether its qualities are by this objective, which is its application's."""
        return self.objective in ("", objective)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Transforms + model + configuration that could be trained for a job: an arm of the search.

    ``arm``: its index.
    """

    id: str
    tenant_id: str
    job_id: str
    arm: int
    name: str
    model: str
    pipeline: CandidatePipeline
    predicted_cost: float
    created: float = 0.0

    @property
    def variant(self) -> str:
        """The model, or ``MODEL+TRANSFORM`` where an added transform stands before it."""
        is_behind_more = self.name.startswith(f"{self.model}+")
        return self.name.rpartition("-")[0] if is_behind_more else self.model


@dataclass(frozen=True, slots=True)
class Decision:
    """One recorded choice of the scheduler, with what explains and replays it."""

    id: str
    tenant_id: str
    job_id: str
    task_id: str
    candidate_id: str
    policy: str
    epoch: int
    explanation: Json
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchChanges:
    """A part of the log of decisions: what changed of what the scheduler sees, in order.

    ``id``: the lease's epoch and a number within it, so that the order of ids is that of the log.
    ``changes``: pairs of kind and values as JSON text, which nobody but the log reads; see
    ``easeml.search.decision_log``.
    """

    id: str
    epoch: int
    changes: str
    created: float = 0.0

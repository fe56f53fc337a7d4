"""The rows of the store as values: frozen, times in seconds of the epoch.

JSON fields are the values of ``store.shapes``; ``Json`` is what others than the store give a shape:
the schema language, the kind of a task, report or event, a policy.

States and kinds are those of ``easeml.contract.states``, which says how they follow one another.
"""

from easeml.store.records.applications import (
    Application,
    Gate,
    Goal,
    Report,
    RetentionRule,
    Share,
    Suggestion,
)
from easeml.store.records.datasets import Dataset, DatasetVersion, Retrieval, Schedule
from easeml.store.records.events import Event, Subscription
from easeml.store.records.models import Promotion, Retirement, Rollout, RolloutRule, TrainedModel
from easeml.store.records.people import ApiKey, IdempotencyKey, Invitation, Membership, Tenant, User
from easeml.store.records.production import Feedback, ProductionRow, RequestLog
from easeml.store.records.running import (
    Artefact,
    GpuPeak,
    KeptSetting,
    Lease,
    ModuleMark,
    NeedsPeak,
    Process,
)
from easeml.store.records.searching import Candidate, Decision, Job, SearchChanges
from easeml.store.records.tasks import Attempt, Task, Usage
from easeml.store.records.work import WorkAnswer, WorkItem
from easeml.store.shapes import Json

__all__ = [
    "ApiKey",
    "Application",
    "Artefact",
    "Attempt",
    "Candidate",
    "Dataset",
    "DatasetVersion",
    "Decision",
    "Event",
    "Feedback",
    "Gate",
    "Goal",
    "GpuPeak",
    "IdempotencyKey",
    "Invitation",
    "Job",
    "Json",
    "KeptSetting",
    "Lease",
    "Membership",
    "ModuleMark",
    "NeedsPeak",
    "Process",
    "ProductionRow",
    "Promotion",
    "Report",
    "RequestLog",
    "RetentionRule",
    "Retirement",
    "Retrieval",
    "Rollout",
    "RolloutRule",
    "Schedule",
    "SearchChanges",
    "Share",
    "Subscription",
    "Suggestion",
    "Task",
    "Tenant",
    "TrainedModel",
    "Usage",
    "User",
    "WorkAnswer",
    "WorkItem",
]

"""What must not be lost: rows, the queue of tasks, leases, events and artefacts."""

from easeml.store.artefacts import ArtefactStore
from easeml.store.events import Events
from easeml.store.files import LocalFiles
from easeml.store.leases import Leases
from easeml.store.queue import Queue
from easeml.store.records import (
    ApiKey,
    Application,
    Artefact,
    Attempt,
    Candidate,
    Dataset,
    DatasetVersion,
    Decision,
    Event,
    IdempotencyKey,
    Job,
    Json,
    Lease,
    Membership,
    Process,
    Promotion,
    Report,
    Task,
    Tenant,
    TrainedModel,
    User,
)
from easeml.store.rows import Rows, Tables, grouped, id_of
from easeml.store.store import Store
from easeml.store.transaction import Transaction
from easeml.store.uploads import Upload, UploadStore
from easeml.store.usage import day_of
from easeml.store.wakeups import Wakeup, wait_for_group

__all__ = [
    "ApiKey",
    "Application",
    "Artefact",
    "ArtefactStore",
    "Attempt",
    "Candidate",
    "Dataset",
    "DatasetVersion",
    "Decision",
    "Event",
    "Events",
    "IdempotencyKey",
    "Job",
    "Json",
    "Lease",
    "Leases",
    "LocalFiles",
    "Membership",
    "Process",
    "Promotion",
    "Queue",
    "Report",
    "Rows",
    "Store",
    "Tables",
    "Task",
    "Tenant",
    "TrainedModel",
    "Transaction",
    "Upload",
    "UploadStore",
    "User",
    "Wakeup",
    "day_of",
    "grouped",
    "id_of",
    "wait_for_group",
]

"""Work of processes, and what it took."""

from dataclasses import dataclass, field

from easeml.contract.states import AttemptState, Lane, TaskGroup, TaskState
from easeml.store.machine_room import Needs
from easeml.store.shapes import Json


@dataclass(frozen=True, slots=True)
class Task:
    """One self-contained piece of work.

    ``payload`` is the JSON of a spec, whose ``kind`` names the declaration in ``easeml.kinds``.
    """

    id: str
    tenant_id: str
    kind: TaskGroup
    lane: Lane
    payload: Json
    subject: str = ""  # id of what it is for: a dataset version, an application
    job_id: str = ""
    candidate_id: str = ""
    state: TaskState = TaskState.WAITING
    max_attempts: int = 2
    attempts: int = 0  # started so far; the current attempt's number is the fencing token
    result: Json = field(default_factory=dict)
    quality: float | None = None
    measure: Json = field(default_factory=dict)  # the quality in its own unit
    cost: float = 0.0
    error: str = ""
    created: float = 0.0
    started: float | None = None
    finished: float | None = None
    urgent: bool = False  # goes before all that is not, and is never suspended
    suspensions: int = 0  # attempts that were ended to make room for urgent ones
    lost: float = 0.0  # device seconds of these, which are part of the cost
    request: str = ""  # id of the request that asked for it; empty where a process did
    device: str = ""  # kind of the device that took it last
    gpu: bool = False  # only a worker that gives containers a GPU takes it
    traced: bool = False  # its attempts note what they do, while this is so
    gpu_memory: int | None = (
        None  # bytes that it asks for of a GPU; 0: a whole one; None: it uses none
    )
    memory: int = 0  # bytes that it is believed to need of its machine; 0: not known
    disk: int = 0  # likewise of its disk
    threads: int = 1  # that it needs at least

    @property
    def needs(self) -> Needs:
        """What it needs of a machine."""
        return Needs(self.memory, self.disk, self.threads)

    @property
    def spec_kind(self) -> str:
        """The name of its kind, as its spec says."""
        return self.payload["kind"]

    @property
    def objective(self) -> str:
        """What it measures quality by, as its spec says; empty where it measures none."""
        return self.payload.get("objective") or ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a task.

    ``number`` is the fencing token.
    """

    id: str
    tenant_id: str
    task_id: str
    number: int
    process_id: str
    lease_expires: float
    state: AttemptState = AttemptState.RUNNING
    error: str = ""
    started: float = 0.0
    finished: float | None = None
    log: str = ""  # digest of what it printed; empty while it runs, and where it printed nothing
    asked_to_end: float | None = None  # since when it has to end, so that an urgent task can run
    trace: str = ""  # digest of what it noted of itself; empty while it runs, and where it did not
    gpu: str = ""  # id of the GPU of which it has a share; empty: it has none
    gpu_memory: int = 0  # bytes of that share
    checkpoint: str = ""  # digest of what it left for the next attempt; empty: nothing is shared


@dataclass(frozen=True, slots=True)
class Usage:
    """Device seconds that a tenant used on a day. ``id``: tenant and day; ``day``: in UTC, ISO.

    What was used counts on the day on which its attempt ended.
    """

    id: str
    tenant_id: str
    day: str
    seconds: float
    created: float = 0.0

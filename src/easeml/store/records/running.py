"""Processes, their leases, stored bytes, settings and modules of this easeml."""

from dataclasses import dataclass, field

from easeml.contract.states import ModuleState, ProcessKind, ProcessState
from easeml.store.machine_room import Offer
from easeml.store.shapes import SeenGpus


@dataclass(frozen=True, slots=True)
class Process:
    """A running controller, scheduler, worker or predictor."""

    id: str
    kind: ProcessKind
    pid: int
    host: str
    address: str = ""  # where it listens, if it does
    state: ProcessState = ProcessState.RUNNING
    heartbeat: float = 0.0
    created: float = 0.0
    draining: bool = False  # a worker that takes no new tasks
    device: str = ""  # kind of a worker's device; empty: the usual
    gpu: bool = False  # a worker on a machine that gives containers a GPU
    pace: float = 1.0  # how many times as long runs take on that kind as on the usual, as learned
    temperature: float | None = None  # degrees Celsius of a worker's device; None: not known
    memory: int | None = None  # bytes of a worker's machine, and how many are free
    memory_free: int | None = None
    certificate: str = ""  # PEM, of a predictor that answers other machines; empty: it does not
    secret: str = ""  # that it asks of them
    gpus: SeenGpus = field(default_factory=SeenGpus)  # those of which a worker gives shares
    offer: Offer = field(default_factory=Offer)  # what a worker's machine has for tasks
    domain: str = ""  # what fails together with its machine; empty: nothing that is known

    @property
    def fault_domain(self) -> str:
        """What fails together: what its machine says, or else that machine alone."""
        return self.domain or self.host


@dataclass(frozen=True, slots=True)
class GpuPeak:
    """The most bytes of a GPU that a model was seen to use. ``id``: the model's name."""

    id: str
    memory: int
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class NeedsPeak:
    """The most bytes of memory and of disk that tasks of a kind, with the same modules and about as
    many bytes of inputs, were seen to use. ``id`` says all three.
    """

    id: str
    memory: int
    disk: int
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A named lease; ``epoch`` grows with every change of holder."""

    name: str
    holder: str
    epoch: int
    expires: float


@dataclass(frozen=True, slots=True)
class Artefact:
    """A reference that keeps stored bytes alive. ``id``: tenant and digest."""

    id: str
    tenant_id: str
    digest: str
    size: int
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class KeptSetting:
    """A setting that was changed while easeml runs. ``id``: its name."""

    id: str
    value: str
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class ModuleMark:
    """What was decided on a module of the knowledge base. ``id``: its name.

    One that was added has the text of its file as ``source``. ``task_id`` is the task that checks
    it; ``error`` says what failed. ``tenant_id``: whose it is alone; empty: it is everybody's.
    """

    id: str
    archived: bool = False
    created: float = 0.0
    source: str = ""
    state: ModuleState = ModuleState.INSTALLED
    task_id: str = ""
    error: str = ""
    tenant_id: str = ""

"""The REST types of devices: the workers of this machine, and of those that joined."""

from enum import StrEnum

from pydantic import Field

from easeml.contract.resources import Answer
from easeml.contract.times import Moment


class DeviceState(StrEnum):
    """What a device does; a draining one ends what it runs, a drained one takes nothing new."""

    FREE = "free"
    WORKING = "working"
    DRAINING = "draining"
    DRAINED = "drained"
    SILENT = "silent"


class RunningTask(Answer):
    """A task that a device runs. ``since``: seconds of the epoch."""

    task_id: str
    kind: str
    tenant: str
    since: Moment
    gpu: str = Field(default="", description="id of the GPU of which it has a share; empty: none")
    gpu_memory: int = Field(default=0, description="bytes of that share")


class DeviceGpu(Answer):
    """A GPU of a device's machine, or a slice of one; devices of a machine share it. Sizes in bytes.

    ``used``: what all programs have by now. ``promised``: the shares of the tasks that run on it, of
    all devices. ``free``: what other tasks may still have.
    """

    id: str
    name: str
    memory: int
    used: int
    promised: int
    free: int


class Room(Answer):
    """Bytes of memory and of disk; None: not known."""

    memory: int | None = None
    disk: int | None = None


class WorkerDevice(Answer):
    """A device. ``heard``: when it was last heard of; ``joined``: both in seconds of the epoch.

    ``temperature``: degrees Celsius of the hottest processor of its machine, or of its GPU; ``memory``
    and ``memory_free``: bytes of its machine. None: not known.
    """

    id: str
    machine: str
    process: int = Field(description="id of its process on that machine")
    kind: str = Field(description="what its machine calls it; empty: the usual")
    pace: float = Field(description="how many times as long runs take there as on the usual kind")
    domain: str = Field(
        default="", description="what fails together with its machine; empty: that machine alone"
    )
    state: DeviceState
    tasks: list[RunningTask]
    joined: Moment
    heard: Moment
    temperature: float | None = None
    memory: int | None = None
    memory_free: int | None = None
    threads: int | None = Field(default=None, description="that a task may have there")
    offers: Room = Field(default_factory=Room, description="what its machine has for tasks")
    promised: Room = Field(
        default_factory=Room,
        description="what the tasks that run on its machine are believed to need of it",
    )
    gpus: list[DeviceGpu] = Field(default_factory=list)


class Joined(Answer):
    """What a machine needs to work: where database and artefacts are, and the limits of tasks.

    The address of the database holds its password. Sizes in bytes, times in seconds.
    """

    database_url: str
    artefacts_url: str
    task_seconds: float
    task_memory: int
    task_disk: int = 20 * 2**30
    long_task_seconds: float = 6 * 3600.0
    isolation: str
    lease_seconds: float
    module_packages: str
    package_index: str = ""

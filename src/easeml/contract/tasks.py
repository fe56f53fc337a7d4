"""What a task body gets and gives: the one wire between the control plane and the work.

A body is started with a ``TaskSpec`` and a work folder. Inputs were put into ``inputs/`` there, by
name, before it starts; it writes ``result.json`` (a ``TaskResult``) and whatever it makes into
``outputs/``, one folder or file per output name. It never touches the database.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

RESULT = "result.json"
"""Where a body's result lies in its work folder."""


CHECKPOINT = "checkpoint"
"""The folder of a body's work folder that its next attempt finds, where this one is killed."""
MOST_MEMBERS = 6
"""Models that an ensemble may have, each with a checkpoint of its own."""

GRANT = "grant.json"
"""Where a body that reaches out finds what it may do, which nothing else keeps."""


def checkpoint_of(member: int) -> str:
    """Return the folder, within the work folder, of what a member of an ensemble keeps; a model alone
    is the first.
    """
    return f"{CHECKPOINT}-{member}" if member else CHECKPOINT


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Spec(_Wire):
    """Base of what a kind of task is told; each has a field ``kind``, a literal: the kind's name.

    ``objective_source``: text of the objective's module file, where it is not installed;
    ``measure_sources``: those of other objectives that it measures by. ``starts_programs``: its body
    starts programs that are confined further, whatever its inputs.
    """

    objective_source: str = ""
    measure_sources: list[str] = Field(default_factory=list)
    starts_programs: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return all fields, without these three where they say nothing."""
        own = ("objective_source", "measure_sources", "starts_programs")
        return self.model_dump(exclude={name for name in own if not getattr(self, name)})

    @property
    def longest_seconds(self) -> float | None:
        """Wall seconds after which an attempt is stopped; None: as the kind and the worker say."""
        return None


class ModuleChoice(_Wire):
    """A module of the knowledge base with a configuration."""

    module: str
    config: dict[str, Any] = Field(default_factory=dict)
    source: str = ""  # text of its module file, where it is not installed


class ForecastRule(_Wire):
    """A forecast by the column ``time``, at most ``ahead`` steps after what is known.

    ``series``: the columns by which series are told apart; empty where there is one. ``past_only``:
    columns that are not known ahead: of them only the past is looked at.
    """

    time: str
    ahead: int
    series: list[str] = Field(default_factory=list)
    past_only: list[str] = Field(default_factory=list)


class Pipeline(_Wire):
    """A candidate: transforms, in order, then a model.

    ``monotonic``: column -> rising or falling, as what is predicted has to follow it. ``forecast``:
    how the target follows its own past; None where it is no forecast.
    """

    transforms: list[ModuleChoice] = Field(default_factory=list)
    model: ModuleChoice
    monotonic: dict[str, Literal["rising", "falling"]] = Field(default_factory=dict)
    forecast: ForecastRule | None = None


class WeightedPipeline(_Wire):
    """A candidate, and its share of what an ensemble predicts.

    ``leash``: seconds after which its fit ends with what it has; None: it goes on. ``temperature``:
    of its probabilities, as its first fit found it; None: they stay as they are. ``thresholds``: of
    labels of which a row may have several, likewise.
    """

    pipeline: Pipeline
    weight: float
    leash: float | None = None
    temperature: float | None = None
    thresholds: list[float] | None = None


class GpuShare(_Wire):
    """What an attempt has of a GPU: ``memory`` of its ``whole`` bytes.

    ``id``: by which CUDA knows the GPU; ``number``: its place on the machine; ``holder``: id of the
    attempt.
    """

    id: str
    number: str
    memory: int
    whole: int
    holder: str


class Limits(_Wire):
    """What an attempt may use: wall seconds, bytes of private memory, threads, a share of a GPU,
    and bytes of its work folder.
    """

    seconds: float
    memory: int
    threads: int
    gpu: GpuShare | None = None
    disk: int = 20 * 2**30


class Resources(_Wire):
    """What a task is placed by: threads that it needs at least, bytes of memory and of disk, and
    bytes of a GPU. 0: not known, of a GPU a whole one; None: it uses none.
    """

    threads: int = 1
    memory: int = 0
    disk: int = 0
    gpu_memory: int | None = None


class TaskSpec(_Wire):
    """One attempt's whole instruction.

    ``module`` declares the kind of task (``KIND``); ``body`` is the JSON of its spec. ``inputs``:
    name -> artefact digest. ``seconds``: a limit below the usual. ``ids``: of the task, and of the
    request that asked for it, as its logs name them. ``needs``: what it was placed by; its limits
    are others, and those of its worker. ``in_background``: nobody waits for it.
    """

    module: str
    body: dict[str, Any]
    inputs: dict[str, str] = Field(default_factory=dict)
    seconds: float | None = None
    ids: dict[str, str] = Field(default_factory=dict)
    needs: Resources = Field(default_factory=Resources)
    in_background: bool = False


class TaskResult(_Wire):
    """What a body found. ``outputs`` names what it wrote below ``outputs/``."""

    ok: bool
    value: dict[str, Any] = Field(default_factory=dict)
    outputs: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    error: str = ""  # for people: message, or traceback
    retry: bool = False  # worth another attempt?
    cost: float = 0.0  # device seconds
    began: float | None = (
        None  # when the body was called and had returned: seconds of the epoch, machine's clock
    )
    ended: float | None = None
    processor: float | None = None  # processor seconds of the body
    waited: float | None = None  # wall seconds of it in which others had the processor
    memory: int = 0  # the most bytes that its process had beyond what it began with
    disk: int = 0  # bytes of its work folder at its end
    memory_exceeded: bool = False  # it failed since it asked for more memory than its limit
    gpu_memory: int = 0  # the most bytes of a GPU that it was seen to have
    gpu_exceeded: bool = False  # it failed since its share of a GPU was too small

"""What a task body gets and gives: the one wire between the control plane and the work.

A body is started with a ``TaskSpec`` and a work folder. Inputs were put into ``inputs/`` there, by
name, before it starts; it writes ``result.json`` (a ``TaskResult``) and whatever it makes into
``outputs/``, one folder or file per output name. It never touches the database.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModuleChoice(_Wire):
    """A module of the knowledge base with a configuration."""

    module: str
    config: dict[str, Any] = Field(default_factory=dict)
    source: str = ""  # text of its module file, where it is not installed


class Pipeline(_Wire):
    """A candidate: transforms, in order, then a model."""

    transforms: list[ModuleChoice] = Field(default_factory=list)
    model: ModuleChoice


class UploadSpec(_Wire):
    """Ingest: read an uploaded file and propose columns.

    Input ``source``: the file. Output ``table``.
    """

    kind: Literal["ingest-upload"] = "ingest-upload"
    filename: str


class DeclareSpec(_Wire):
    """Ingest: apply the user's declaration to an uploaded table and give every row a role.

    Input ``table``: the folder written by the upload. Output ``version``: a folder with one Arrow
    file a role.
    """

    kind: Literal["ingest-declare"] = "ingest-declare"
    target: str | None = None  # None: the proposed one
    set: dict[str, str] = Field(default_factory=dict)  # column -> type
    drop: list[str] = Field(default_factory=list)  # besides what is proposed for dropping
    keep: list[str] = Field(default_factory=list)  # although proposed for dropping
    seed: int = 0
    split: str = "random"  # or time:COLUMN, group:COLUMN, given:COLUMN


class FeedSpec(_Wire):
    """Ingest: rows that join a version.

    Inputs ``version`` (folder) and ``source`` (file). Output ``version``.
    """

    kind: Literal["ingest-feed"] = "ingest-feed"
    filename: str
    role: str | None = None  # of all new rows; None: divided as the version was


class RefineSpec(_Wire):
    """Ingest: train rows that are switched off or on, by id.

    Input ``version``. Output ``version``.
    """

    kind: Literal["ingest-refine"] = "ingest-refine"
    off: list[int] = Field(default_factory=list)
    on: list[int] = Field(default_factory=list)


class TrainSpec(_Wire):
    """Train: fit a pipeline, predict validation and test rows, evaluate on validation rows only.

    Input ``version``: the declared folder. Outputs ``model`` (folder), ``predictions`` (Arrow file,
    by row id) and ``evaluation`` (JSON: an ``easeml.contract.evaluation.Evaluation`` of the
    validation rows).
    """

    kind: Literal["train"] = "train"
    pipeline: Pipeline
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    seed: int = 0


class TestQualitySpec(_Wire):
    """Advise: score kept predictions on the test rows, once, for the ledger.

    Inputs ``version`` and ``predictions``. The value is the only thing that leaves.
    """

    __test__ = False  # not a pytest class

    kind: Literal["test-quality"] = "test-quality"
    objective: str
    schema_out: dict[str, Any]


class RescoreSpec(_Wire):
    """Advise: the quality of a trained model on the validation rows of a newer version.

    Inputs ``model`` (folder) and ``version``, the folder of version ``version_id``.
    """

    kind: Literal["rescore"] = "rescore"
    objective: str
    version_id: str


class SuspicionSpec(_Wire):
    """Advise: how far train rows contradict what is learnt from the other rows. Input ``version``.

    Output ``suspicion``: an Arrow file with columns ``row``, ``suspicion`` (0 to 1) and
    ``predicted``.
    """

    kind: Literal["suspicion"] = "suspicion"
    application_id: str
    pipeline: Pipeline
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    seed: int = 0


class ImportanceSpec(_Wire):
    """Advise: which columns a model needs, measured for ``seconds`` at most.

    Inputs ``version`` and ``model``.
    """

    kind: Literal["importance"] = "importance"
    objective: str
    seconds: float


class CheckModuleSpec(_Wire):
    """Advise: does a module that is being added do what every module has to? ``trusted``: packages
    of its class.

    Each check prints a line when it begins and when it ends: an
    ``easeml.contract.knowledge.Check``.
    """

    kind: Literal["check-module"] = "check-module"
    source: str
    trusted: list[str]


Body = (
    UploadSpec
    | DeclareSpec
    | FeedSpec
    | RefineSpec
    | TrainSpec
    | TestQualitySpec
    | RescoreSpec
    | SuspicionSpec
    | ImportanceSpec
    | CheckModuleSpec
)


class Limits(_Wire):
    """What an attempt may use: wall seconds, bytes of private memory, threads."""

    seconds: float
    memory: int
    threads: int


class TaskSpec(_Wire):
    """One attempt's whole instruction.

    ``inputs``: name -> artefact digest. ``seconds``: a limit below the usual.
    """

    body: Body = Field(discriminator="kind")
    inputs: dict[str, str] = Field(default_factory=dict)
    seconds: float | None = None


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

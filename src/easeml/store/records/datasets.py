"""Data that was brought, and when it is fetched again."""

from dataclasses import dataclass, field

from easeml.contract.states import RetrievalState, SourceAction, VersionState
from easeml.store.shapes import ColumnSeen, Json, Operation, VersionSummary


@dataclass(frozen=True, slots=True)
class Dataset:
    """Named data of a tenant; once erased, without a name."""

    id: str
    tenant_id: str
    name: str
    created: float = 0.0
    deleted: float | None = None  # since when; a day later its rows are erased


@dataclass(frozen=True, slots=True)
class DatasetVersion:
    """An immutable version.

    ``operation`` says how it was made. ``columns`` is the inference: a list of column reports.
    ``artefact`` is the digest of the stored tables; ``doubts`` that of the candidates of its cells,
    empty as long as nobody looked for any.
    """

    id: str
    tenant_id: str
    dataset_id: str
    number: int
    operation: Operation
    parents: list[str] = field(default_factory=list)
    state: VersionState = VersionState.INGESTING
    source_artefact: str = ""
    artefact: str = ""
    columns: list[ColumnSeen] = field(default_factory=list)
    schema_in: Json = field(default_factory=dict)
    schema_out: Json = field(default_factory=dict)
    summary: VersionSummary = field(default_factory=VersionSummary)
    error: str = ""
    created: float = 0.0
    doubts: str = ""

    @property
    def columns_by_name(self) -> dict[str, ColumnSeen]:
        """The columns by their names, in order."""
        return {column["name"]: column for column in self.columns}

    @property
    def inputs(self) -> list[ColumnSeen]:
        """The columns that models predict by."""
        return [column for column in self.columns if column["role"] == "input"]

    @property
    def target(self) -> ColumnSeen | None:
        """The column that is predicted; None where there is none."""
        return next((column for column in self.columns if column["role"] == "target"), None)

    @property
    def target_type(self) -> str:
        """The type of the target, such as ``category``; empty where there is none."""
        return self.target["type"] if self.target else ""

    @property
    def target_classes(self) -> list[str]:
        """The classes of the target; none where it is no category."""
        target = self.target
        if target is None or target["type"] != "category":
            return []
        return target.get("classes", [])


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is done with a data set that came from elsewhere, again and again.

    ``user_id``: who asked for it, and has to have access still. ``every``, ``at``, ``zone``: as of
    ``service.sources.timing.When``. ``failures``: retrievals in a row that failed; ``error``: of
    the last of them, or why the schedule is paused.
    """

    id: str
    tenant_id: str
    user_id: str
    action: SourceAction
    dataset_id: str
    application_id: str  # whose model predicts; empty for a refresh
    every: str
    at: str
    zone: str
    next_time: float
    paused: bool = False
    failures: int = 0
    error: str = ""
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One time that a data set was fetched again.

    ``schedule_id``: empty where a person asked. ``task_id``: what runs, or ran last; that of a
    prediction has the predictions. ``version_id``: what a refresh made. ``fewer``: a
    table is taken also where it seems cut off. ``note``: what people should know, the reason where
    it failed.
    """

    id: str
    tenant_id: str
    action: SourceAction
    dataset_id: str
    application_id: str = ""
    schedule_id: str = ""
    state: RetrievalState = RetrievalState.RUNNING
    task_id: str = ""
    version_id: str = ""
    fewer: bool = False
    note: str = ""
    ended: float | None = None
    created: float = 0.0

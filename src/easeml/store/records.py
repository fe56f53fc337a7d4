"""The rows of the store as values: frozen, times in seconds of the epoch.

JSON fields are the values of ``store.shapes``; ``Json`` is what others than the store give a shape:
the schema language, the kind of a task, report or event, a policy.

States and kinds are those of ``easeml.contract.states``, which says how they follow one another.
"""

from dataclasses import dataclass, field

from easeml.contract.states import (
    ApplicationState,
    AttemptState,
    InvitationKind,
    InvitationState,
    JobState,
    KeyKind,
    KeyScope,
    Lane,
    MemberRole,
    ModuleState,
    ProcessKind,
    ProcessState,
    PromotionKind,
    PromotionState,
    RetrievalState,
    Role,
    RolloutState,
    RolloutWay,
    ShareRole,
    SourceAction,
    SubscriptionState,
    SubscriptionWay,
    TaskGroup,
    TaskState,
    VersionState,
    WorkKind,
    WorkState,
    WorkWay,
)
from easeml.store.shapes import (
    CandidatePipeline,
    ColumnSeen,
    JobLimits,
    Json,
    ModelFiles,
    Operation,
    OtherAnswer,
    RolloutEvidence,
    RolloutPlan,
    Rules,
    TenantLimits,
    VersionSummary,
    WorkQuestion,
)


@dataclass(frozen=True, slots=True)
class Tenant:
    """The unit of isolation, fairness and quota."""

    id: str
    name: str
    created: float = 0.0
    limits: TenantLimits = field(default_factory=TenantLimits)


@dataclass(frozen=True, slots=True)
class User:
    """A person who signs in."""

    id: str
    name: str
    password_hash: str
    role: Role = Role.USER
    tenant_id: str = ""  # the tenant of their own
    archived: bool = False
    created: float = 0.0
    read_seq: int = 0  # number of the event up to which they have read their notifications
    removed: bool = False  # for good: nobody sees them, and their name is free
    identity: str | None = None  # issuer and id of who signs in by an identity provider
    identity_name: str = ""  # what people know that identity by


@dataclass(frozen=True, slots=True)
class Membership:
    """A user belongs to a tenant."""

    id: str
    user_id: str
    tenant_id: str
    created: float = 0.0
    role: MemberRole = MemberRole.OWNER


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that lets one person in, once. ``hash``: SHA-256 of its secret, hex.

    ``tenant_id``: of who invites. ``made_by``, ``used_by``: users. ``application_id``: empty where
    it is not about one.
    """

    id: str
    tenant_id: str
    hash: str
    kind: InvitationKind
    role: MemberRole
    made_by: str
    expires: float
    application_id: str = ""
    state: InvitationState = InvitationState.OPEN
    used_by: str = ""
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A named, hashed, revocable, expiring key of a user, acting in one tenant.

    ``hash``: SHA-256, hex. ``origin``: of a sign-in, the program and the address that asked for it.
    ``application_id``: the only application that a key for predictions may ask. ``used``: when it
    was last seen.
    """

    id: str
    user_id: str
    tenant_id: str
    name: str
    hash: str
    expires: float | None = None
    revoked: bool = False
    created: float = 0.0
    kind: KeyKind = KeyKind.API
    origin: str = ""
    scope: KeyScope = KeyScope.ALL
    application_id: str = ""
    used: float | None = None


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """A creation that was acknowledged: the same key again gives the same answer.

    ``id``: tenant, route, key.
    """

    id: str
    tenant_id: str
    request_digest: str
    response: Json
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Dataset:
    """Named data of a tenant."""

    id: str
    tenant_id: str
    name: str
    created: float = 0.0


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


@dataclass(frozen=True, slots=True)
class Application:
    """What a user declares; lives for years and owns an endpoint.

    ``live_model_id`` changes only by compare-and-set, together with a live promotion.
    """

    id: str
    tenant_id: str
    name: str
    dataset_id: str
    version_id: str
    target: str
    objective: str
    state: ApplicationState = ApplicationState.DECLARED
    live_model_id: str = ""
    pinned: bool = False
    gates: list[Json] = field(default_factory=list)  # never read: gates are rows of their own
    rules: Rules = field(default_factory=Rules)
    created: float = 0.0
    deleted: float | None = None  # since when; it can be restored until it is erased
    erased: bool = False  # its models and what people and requests told are gone
    follows: bool = True  # takes the new rows of its data set when that is fetched again


@dataclass(frozen=True, slots=True)
class Share:
    """A person of any tenant may do something with an application. ``tenant_id``: of its owner."""

    id: str
    tenant_id: str
    application_id: str
    user_id: str
    role: ShareRole
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Goal:
    """What an application is to reach; append-only, the newest counts.

    ``text``: as it was written, empty where the goal was taken back. ``value``: in the unit of
    ``objective``, which is empty where that of the application is meant.
    """

    id: str
    tenant_id: str
    application_id: str
    user_id: str
    text: str
    objective: str = ""
    value: float = 0.0
    wants_less: bool | None = None
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An action that was suggested, with what it was expected to gain; append-only.

    ``job_id``: the search that it was told beside, with its best ``score`` then.
    """

    id: str
    tenant_id: str
    application_id: str
    version_id: str
    job_id: str
    kind: str
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    score: float | None = None
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Job:
    """One model search for an application on one version.

    ``expected_improvement`` and its error: quality still expected from further search.
    ``gain_rate``: quality that the next task may be expected to gain a device second.
    ``settled``: it rests, and what it found was put together, fitted again, served and measured.
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

    @property
    def spec_kind(self) -> str:
        """The name of its kind, as its spec says."""
        return self.payload["kind"]

    @property
    def objective(self) -> str:
        """What it measures quality by, as its spec says; empty where it measures none."""
        return self.payload.get("objective") or ""


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


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The artefact of a finished training task, or an ensemble of such (``candidate_id`` empty).

    ``quality`` is on validation rows (optimistic for the best).
    """

    id: str
    tenant_id: str
    application_id: str
    job_id: str
    task_id: str
    candidate_id: str
    name: str
    artefact: str
    predictions: str  # digest of its predictions by row id
    quality: float
    metrics: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    created: float = 0.0
    evaluation: str = (
        ""  # digest of how it does on validation rows; empty in models of earlier releases
    )
    error: str = ""  # why it cannot be loaded any more
    refitted: str = ""  # digest of the same fitted on train and validation rows
    refitted_predictions: str = ""  # of the test rows, by that
    compared_by: float | None = None  # in place of the quality, where that is not flattered
    measures: Json = field(default_factory=dict)  # in their own units, asked for after training

    @property
    def standing(self) -> float:
        """What it is compared with other models of its validation rows by."""
        return self.quality if self.compared_by is None else self.compared_by

    @property
    def served(self) -> str:
        """Digest of the files that answer requests."""
        return self.refitted or self.artefact


@dataclass(frozen=True, slots=True)
class Promotion:
    """A proposed change of what an endpoint serves; append-only."""

    id: str
    tenant_id: str
    application_id: str
    model_id: str
    previous_model_id: str
    state: PromotionState
    kind: PromotionKind
    reason: str
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Gate:
    """What has to be proven of a model on test rows before it may serve; the newest that has not
    ended counts.

    ``ledger``: of ``easeml.lifecycle.ci``, about the ``rows`` test rows from the ``first`` on, in
    the order of their ids. It changes only with the answer to a test.
    """

    id: str
    tenant_id: str
    application_id: str
    ledger: Json
    first: int
    rows: int
    ended: bool = False  # another took its place, or the owner wants none
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class RequestLog:
    """What is kept of the requests to an endpoint. ``id``: the application.

    ``share``: of the requests, at random; 0: none. ``days``: how long. ``masked``: columns whose
    values are not kept. ``missed``: requests that were to be kept and could not be. ``failed``:
    those that a model that is rolled out failed on, since its roll-out began.
    """

    id: str
    tenant_id: str
    share: float
    days: float
    masked: list[str] = field(default_factory=list)
    created: float = 0.0
    missed: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class ProductionRow:
    """A row that an endpoint was asked about, and what it answered.

    ``id``: the request's, and the number of the row in it. ``key``: the value of its column
    ``key``, by which its owner knows it; empty where it has none.
    """

    id: str
    tenant_id: str
    application_id: str
    request_id: str
    row: int
    key: str
    model_id: str
    inputs: Json
    answer: Json  # prediction, and probabilities where there are
    created: float = 0.0
    share: float = 0.0  # the chance that a model that is rolled out would answer it
    rollout_id: str = ""  # of the roll-out in which both models have predicted it
    other: OtherAnswer | None = None  # of the other model in a roll-out; None: it was not asked
    counted: bool = False  # its truth is part of the evidence


@dataclass(frozen=True, slots=True)
class RolloutRule:
    """How better models come to serve. ``id``: the application.

    ``tolerance``, ``reliability``, ``shares``: of ``easeml.lifecycle.rollout.Plan``. ``scale``: of a
    target that is a number, the largest error that counts; 0: chosen at the start.
    """

    id: str
    tenant_id: str
    way: RolloutWay
    tolerance: float
    reliability: float
    shares: list[float]
    scale: float = 0.0
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Rollout:
    """A model that is compared with the one that serves, on live requests.

    ``plan``, ``evidence``: of ``easeml.lifecycle.rollout``. ``share``: of the requests that the new
    model answers. ``compared``, ``changed``: rows that both have predicted, and those where they
    differ; ``unknown``: truths that name no class, or are no number. ``first``: the last row before it;
    ``seen``, ``told``: the last
    row and the last word on a row that were looked at.
    """

    id: str
    tenant_id: str
    application_id: str
    model_id: str
    against_id: str
    way: RolloutWay
    plan: RolloutPlan
    evidence: RolloutEvidence
    scale: float = 0.0
    expected: float = 0.0  # quality of the model that serves on validation rows; 0: not known
    share: float = 0.0
    compared: int = 0
    changed: int = 0
    unknown: int = 0
    seen: str = ""
    told: str = ""
    first: str = ""
    state: RolloutState = RolloutState.RUNNING
    reason: str = ""
    ended: float | None = None
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """What of an application is kept, where its owner wants it otherwise. ``id``: the application.

    ``models``: the best of its newest search; ``model_days``, ``result_days``: for how long others,
    and predictions of files, are kept, 0: for ever. None: as the settings say.
    """

    id: str
    tenant_id: str
    models: int | None = None
    model_days: float | None = None
    result_days: float | None = None
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Retirement:
    """The files of a model that nobody needs, until they are removed. ``id``: the model.

    ``files``: what the model's row said of them. ``size``: bytes. ``kept``: somebody wants the
    model, which has its files, and it is not retired any more.
    """

    id: str
    tenant_id: str
    application_id: str
    files: ModelFiles = field(default_factory=ModelFiles)
    size: int = 0
    kept: bool = False
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is done with a data set that came from elsewhere, again and again.

    ``user_id``: who asked for it, and has to have access still. ``every``, ``at``, ``zone``: as of
    ``service.sources.timing.When``. ``failures``: retrievals in a row that failed; ``error``: of the last
    of them, or why the schedule is paused.
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


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was true of a row that an endpoint was asked about; the newest of a row counts.

    It names the row by request and number, or by key. ``value``: as JSON, under ``value``.
    """

    id: str
    tenant_id: str
    application_id: str
    request_id: str
    row: int
    key: str
    value: Json
    created: float = 0.0


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


@dataclass(frozen=True, slots=True)
class KeptSetting:
    """A setting that was changed while easeml runs. ``id``: its name."""

    id: str
    value: str
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """A stored lifecycle result. ``kind``: of the task that found it, or the tool that answered."""

    id: str
    tenant_id: str
    kind: str
    subject: str
    version_id: str
    value: Json
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkItem:
    """Something that a person is asked about a cell of a row.

    ``information``: squared error of predictions that the answer should take off. ``holder``: the user who has
    it till ``held_until``; nobody else is asked meanwhile.
    """

    id: str
    tenant_id: str
    application_id: str
    version_id: str  # in which the question arose
    kind: WorkKind
    row: int
    column: str
    information: float
    question: WorkQuestion = field(default_factory=WorkQuestion)
    state: WorkState = WorkState.OPEN
    holder: str = ""
    held_since: float = 0.0
    held_until: float = 0.0
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkAnswer:
    """What somebody did with an item; append-only. ``seconds``: how long they had it."""

    id: str
    tenant_id: str
    application_id: str
    item_id: str
    kind: WorkKind
    user_id: str
    way: WorkWay
    value: str = ""
    seconds: float = 0.0
    created: float = 0.0


@dataclass(frozen=True, slots=True)
class Event:
    """Something a user may want to know. ``seq`` grows without a reader ever missing one."""

    seq: int
    tenant_id: str
    kind: str
    subject: str
    data: Json
    created: float = 0.0

    @property
    def job_id(self) -> str:
        """The job that it is about; empty where it is about none."""
        return self.subject if self.kind.startswith("job.") else self.data.get("job_id") or ""

    @property
    def application_id(self) -> str:
        """The application that it concerns; empty where it names none."""
        return self.data.get("application_id") or ""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Notifications of a tenant that are sent elsewhere, for the person who asked for it.

    ``kinds``: of events, or what stands before the dot of several. ``application_id``: only what
    concerns it; empty: all. ``secret``: signs what is posted, or the code that confirms an address of
    mail, until it does. ``quiet``: the hours (UTC) from which and until which no mail is sent.
    ``seq``: the last event that was sent. ``failing_since``, ``next_try``: 0 where nothing failed.
    """

    id: str
    tenant_id: str
    user_id: str
    way: SubscriptionWay
    address: str
    kinds: list[str]
    application_id: str
    secret: str
    seq: int
    state: SubscriptionState
    quiet: list[int] = field(default_factory=list)
    failures: int = 0
    failing_since: float = 0.0
    next_try: float = 0.0
    error: str = ""
    last_sent: float = 0.0
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

"""What a thing can be: the states and kinds that records, REST and the client have in common.

Each is the string that the database and the wire hold, so ``JobState.RUNNING == "running"``.
"""

from enum import StrEnum


class Role(StrEnum):
    """What a user may do; a provider runs this easeml and sees all tenants."""

    USER = "user"
    PROVIDER = "provider"


class ShareRole(StrEnum):
    """What a person may do with an application that was shared with them.

    A viewer looks and predicts, a labeller answers the items of work that they are given, an owner
    does all.
    """

    VIEWER = "viewer"
    LABELLER = "labeller"
    OWNER = "owner"


class MemberRole(StrEnum):
    """What a person may do in a tenant that they belong to.

    An owner does all, a viewer looks and predicts, a labeller answers the items of work of all
    applications, a guest has only the applications that were shared with them.
    """

    OWNER = "owner"
    VIEWER = "viewer"
    LABELLER = "labeller"
    GUEST = "guest"


class Permission(StrEnum):
    """What people may do with an application.

    ``look``: see all of it, and predict. ``label``: answer the items of work that they are given.
    ``change``: everything else.
    """

    LOOK = "look"
    LABEL = "label"
    CHANGE = "change"


class DataChoice(StrEnum):
    """What becomes of a tenant whose person is removed.

    It is kept as it is, handed over to somebody else, or emptied: its applications and data sets
    are deleted.
    """

    KEEP = "keep"
    HAND_OVER = "hand-over"
    DELETE = "delete"


class ModelFate(StrEnum):
    """What becomes of models that learnt from rows that are erased.

    The search trains others, and what serves goes on until then; or they serve no more at once.
    """

    RETRAIN = "retrain"
    RETIRE = "retire"


class InvitationKind(StrEnum):
    """What an invitation leads to: an application, a tenant with others in it, or one of one's own."""

    APPLICATION = "application"
    TENANT = "tenant"
    OWN_TENANT = "own-tenant"


class InvitationState(StrEnum):
    """An invitation: open -> used | revoked; an open one is over when its time is."""

    OPEN = "open"
    USED = "used"
    REVOKED = "revoked"


class KeyKind(StrEnum):
    """Where an API key comes from: a person made it, or it came with signing in."""

    API = "api"
    SIGN_IN = "sign-in"


class KeyScope(StrEnum):
    """What a key may be used for, of what its owner may do."""

    ALL = "all"
    READ = "read"
    PREDICT = "predict"
    METRICS = "metrics"


class VersionState(StrEnum):
    """A version of a dataset: ingesting -> ready | failed."""

    INGESTING = "ingesting"
    READY = "ready"
    FAILED = "failed"


class ApplicationState(StrEnum):
    """An application: declared -> searching -> serving; failed where its data is of no use."""

    DECLARED = "declared"
    SEARCHING = "searching"
    SERVING = "serving"
    FAILED = "failed"


class JobState(StrEnum):
    """A model search.

    preparing -> running <-> paused; running <-> resting (converged); any -> stopped | failed.
    """

    PREPARING = "preparing"
    RUNNING = "running"
    PAUSED = "paused"
    RESTING = "resting"
    STOPPED = "stopped"
    FAILED = "failed"


SEARCHED_JOBS = (JobState.RUNNING, JobState.RESTING, JobState.PAUSED)
"""Jobs that have begun and not ended: they may have tasks under way."""

SEARCHING_JOBS = (JobState.PREPARING, JobState.RUNNING, JobState.PAUSED)
"""Jobs that may still find a better model by themselves."""

ENDED_JOBS = (JobState.STOPPED, JobState.FAILED)
"""Jobs that will never go on."""


class TaskState(StrEnum):
    """A piece of work.

    waiting -> running -> done | failed; running -> waiting (attempt lost, or worth another);
    waiting | running -> cancelled.
    """

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


TASKS_UNDER_WAY = (TaskState.WAITING, TaskState.RUNNING)
"""Tasks that have not ended."""

FINISHED_TASKS = (TaskState.DONE, TaskState.FAILED)
"""Tasks that ended by themselves."""

ENDED_TASKS = (*FINISHED_TASKS, TaskState.CANCELLED)
"""Tasks that have ended, whoever ended them."""


class TaskGroup(StrEnum):
    """What a task is about, in general: reading data, training, or advice."""

    INGEST = "ingest"
    TRAIN = "train"
    ADVISE = "advise"


class Lane(StrEnum):
    """Who works on a task: a device of the search, the slot for short work, or that for long files,
    which people wait for anyway and nobody else is to wait behind.
    """

    SEARCH = "search"
    SHORT = "short"
    LONG = "long"


class AttemptState(StrEnum):
    """One execution of a task.

    running -> done | failed | lost (with its worker) | suspended (for an urgent task).
    """

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"
    SUSPENDED = "suspended"


class PromotionState(StrEnum):
    """A change of what an endpoint serves: a model went live, or the application's gate refused it.

    While it is rolled out it is a shadow, or answers a share of the requests; it may be taken back.
    It waits while its test needs labels of people.
    """

    LIVE = "live"
    REFUSED = "refused"
    SHADOW = "shadow"
    SHARE = "share"
    TAKEN_BACK = "taken-back"
    WAITS = "waits"


class PickingWay(StrEnum):
    """When the models of an application are compared on its production: never, every day, or when
    watching says that the one that serves may not be right any more.
    """

    OFF = "off"
    DAILY = "daily"
    ALERT = "alert"


class AdaptWay(StrEnum):
    """How a model is fitted to recent rows without labels: labelled rows count by how often rows
    like them, or of their class, come by now; number columns are read as they are today; or it
    learns from its own sure answers, too.
    """

    WEIGHTS = "weights"
    PRIOR = "prior"
    SCALE = "scale"
    PSEUDO_LABELS = "pseudo-labels"


class RolloutWay(StrEnum):
    """How a better model comes to serve: at once, or after it was compared on live requests.

    As a shadow it predicts beside the model that answers; by shares it answers more and more itself.
    After it went live, the model that it replaced predicts the rows whose truth comes.
    """

    AT_ONCE = "at-once"
    SHADOW = "shadow"
    SHARE = "share"
    AFTER = "after"


class TruthWay(StrEnum):
    """Which rows of production have a truth: whichever, or such that were chosen by chance."""

    ANY = "any"
    BY_CHANCE = "by-chance"


class RolloutState(StrEnum):
    """A roll-out: running -> live | taken-back | stopped (by a person) | replaced (by another)."""

    RUNNING = "running"
    LIVE = "live"
    TAKEN_BACK = "taken-back"
    STOPPED = "stopped"
    REPLACED = "replaced"


class RolloutEnd(StrEnum):
    """What a person makes of a roll-out: the new model serves now, or it does not."""

    PROMOTE = "promote"
    STOP = "stop"


class PromotionKind(StrEnum):
    """Why an endpoint changed: a better model, what a user asked for, a model that was lost, one
    that was fitted on all rows, one that is best on rows of production, or the one before, since
    the truth that came showed that it would have been better.
    """

    BETTER = "better"
    ROLLBACK = "rollback"
    PIN = "pin"
    FALLBACK = "fallback"
    REFIT = "refit"
    PICKED = "picked"
    RETURNED = "returned"


class SubscriptionWay(StrEnum):
    """How notifications reach somebody who does not look at a page."""

    WEBHOOK = "webhook"
    MAIL = "mail"


class SubscriptionState(StrEnum):
    """``paused``: what was sent did not arrive for days; what came meanwhile is not sent."""

    UNCONFIRMED = "unconfirmed"
    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class WorkKind(StrEnum):
    """What a person is asked: the label of a row of the pool, whether a label is right, or what a
    doubtful cell holds; or the label of a test row, for which a model waits, or of a row of
    production, on which models are compared, or the one that serves is watched.
    """

    LABEL = "label"
    CHECK_LABEL = "check-label"
    REPAIR_CELL = "repair-cell"
    TEST_LABEL = "test-label"
    PICK_LABEL = "pick-label"
    WATCH_LABEL = "watch-label"


TAUGHT = (WorkKind.LABEL, WorkKind.CHECK_LABEL, WorkKind.REPAIR_CELL)
"""Kinds of work whose answers become a version of the data; models learn from them."""


class WorkState(StrEnum):
    """An item of work.

    open <-> answered -> used (a version has it); open -> closed (another has taken its place).
    """

    OPEN = "open"
    ANSWERED = "answered"
    USED = "used"
    CLOSED = "closed"


class WorkWay(StrEnum):
    """What somebody did with an item of work."""

    ANSWER = "answer"
    SKIP = "skip"
    UNKNOWN = "unknown"
    UNDO = "undo"


class ModuleState(StrEnum):
    """A module of the knowledge base: installed; or added: checking -> ready | failed."""

    INSTALLED = ""
    CHECKING = "checking"
    READY = "ready"
    FAILED = "failed"


class CheckState(StrEnum):
    """One check of a module that is being added."""

    WAITING = "waiting"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


class ProcessState(StrEnum):
    """A part of the service."""

    RUNNING = "running"
    ENDED = "ended"


class ProcessKind(StrEnum):
    """What a part of the service does."""

    CONTROLLER = "controller"
    SCHEDULER = "scheduler"
    WORKER = "worker"
    PREDICTOR = "predictor"


class BelievedState(StrEnum):
    """A candidate at the moment of a decision."""

    CHOSEN = "chosen"
    RUNNING = "running"
    OPEN = "open"


class SourceAction(StrEnum):
    """What is done with data that is fetched: a data set is refreshed, or its rows are predicted."""

    REFRESH = "refresh"
    PREDICT = "predict"


class RetrievalState(StrEnum):
    """One time that a data set was fetched again: running -> done | unchanged | failed."""

    RUNNING = "running"
    DONE = "done"
    UNCHANGED = "unchanged"
    FAILED = "failed"

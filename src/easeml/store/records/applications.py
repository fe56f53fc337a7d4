"""What users declare, whom they share it with, and what they want of it."""

from dataclasses import dataclass, field

from easeml.contract.states import ApplicationState, ShareRole
from easeml.store.shapes import Json, LabelLimit, Reserve, Rules


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
    label_budget: LabelLimit | None = None  # of its gate and its comparisons together


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
class Gate:
    """What has to be proven of a model on test rows before it may serve; the newest that has not
    ended counts.

    ``ledger``: of ``easeml.lifecycle.ci``, about the ``rows`` test rows from the ``first`` on, in
    the order of their ids. It changes only with the answer to a test. ``first_id`` and ``last_id``
    of these rows, by which they are found when others are erased; -1: gates that are older than
    this. ``reserve``: where labels may be bought if these rows cannot tell. ``most``: rows that its
    owner wants it to wear out, 0: all.
    """

    id: str
    tenant_id: str
    application_id: str
    ledger: Json
    first: int
    rows: int
    ended: bool = False  # another took its place, or the owner wants none
    reserve: Reserve | None = None
    first_id: int = -1
    last_id: int = -1
    most: int = 0
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
class Report:
    """A stored lifecycle result. ``kind``: of the task that found it, or the tool that answered."""

    id: str
    tenant_id: str
    kind: str
    subject: str
    version_id: str
    value: Json
    created: float = 0.0

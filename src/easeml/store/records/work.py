"""What people are asked, and what they answered."""

from dataclasses import dataclass, field

from easeml.contract.states import WorkKind, WorkState, WorkWay
from easeml.store.shapes import WorkQuestion


@dataclass(frozen=True, slots=True)
class WorkItem:
    """Something that a person is asked about a cell of a row.

    ``information``: squared error of predictions that the answer should take off. ``holder``: the
    user who has it till ``held_until``; nobody else is asked meanwhile.
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

"""The REST types of human work: what a person is asked, and what they answered."""

from pydantic import Field

from easeml.contract.resources import Answer


class WorkOption(Answer):
    """A value that may be right, and how likely that is held to be."""

    value: str
    weight: float


class WorkItem(Answer):
    """Something that a person is asked about a cell of a row.

    ``kind``: label, check-label or repair-cell. ``given``: the value as it is, empty for none.
    ``options``: the likeliest first. ``choices``: all that may be answered; empty: any value.
    ``information``: what the answer should tell of the target, in nats. ``seconds``: what such an
    answer takes. ``held_until``: nobody else is asked before; null where nobody has it.
    """

    id: str
    application_id: str
    kind: str
    row: int
    column: str
    question: str
    given: str = ""
    options: list[WorkOption] = Field(default_factory=list)
    choices: list[str] = Field(default_factory=list)
    values: dict[str, str] = Field(default_factory=dict)  # of the row's other columns
    information: float
    seconds: float
    state: str
    held_until: float | None = None


class WorkQueue(Answer):
    """The open items of an application, those that tell most for a second of a person's time first.

    ``open``: how many of each kind. ``answers``: given, and in no version yet. ``looking``: a task
    is looking for items.
    """

    application_id: str
    items: list[WorkItem]
    open: dict[str, int]
    answers: int
    looking: bool


class WorkTurn(Answer):
    """The item that a person has now; null where there is none for them.

    ``open``: items that wait, in all. ``answers``: given, and in no version yet. ``task_id``: of the
    task that looks for items; empty where none does. ``last_id``: the item that they answered last,
    which can be undone; empty for none.
    """

    application_id: str
    item: WorkItem | None = None
    open: int = 0
    answers: int = 0
    task_id: str = ""
    last_id: str = ""


class WorkDone(Answer):
    """What became of an answer. ``version_id``: the version that is made of the batch; else empty."""

    item_id: str
    application_id: str
    way: str
    value: str = ""
    seconds: float = 0.0
    answers: int = 0
    version_id: str = ""

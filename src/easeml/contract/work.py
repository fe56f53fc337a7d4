"""The REST types of human work: what a person is asked, and what they answered."""

from pydantic import Field

from easeml.contract.resources import Answer, Page
from easeml.contract.states import WorkKind
from easeml.contract.times import Moment


class WorkOption(Answer):
    """A value that may be right, and how likely that is held to be."""

    value: str
    weight: float


class WorkItem(Answer):
    """Something that a person is asked about a cell of a row.

    ``kind``: label, check-label or repair-cell. ``given``: the value as it is, empty for none.
    ``options``: the likeliest first. ``choices``: all that may be answered; empty: any value.
    ``matters``: columns among ``values`` that bear on the answer. ``source``: what found it.
    ``information``: the squared error of predictions that the answer should take off. ``seconds``:
    what such an answer takes. ``held_until``: nobody else is asked before; null where nobody has it.
    ``disputed``: what others said who differ, where the one asked is to decide.
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
    matters: list[str] = Field(default_factory=list)
    source: str = ""
    information: float
    seconds: float
    state: str
    held_until: Moment | None = None
    disputed: list[str] = Field(default_factory=list)


class WorkAgreement(Answer):
    """Of ``pairs`` of answers that two people gave to one item, ``same`` said the same.

    ``low`` to ``high``: the 95 % interval of their share.
    """

    pairs: int
    same: int
    low: float
    high: float


class WorkBrought(Answer):
    """What the newest version of people's answers brought: the best score since then, beside that of
    the search before. ``searching``: it may still rise.

    Scores are on the ``rows`` validation rows, which are the same before and after; people have
    ``corrected`` the answers of so many of these by now. Where the last batch corrected some,
    ``score_before`` is what served then, by the corrected answers; other scores of before are not
    told.
    ``within_chance``: so few rows cannot tell so small a difference. ``labels_in_all`` and
    ``cells_in_all``: that all ``versions`` of people's answers changed; ``score_at_first``: before
    the first of them. ``serves``: the number of the version that what serves has learned from.
    """

    version: int
    labels: int
    cells: int
    score_before: float | None = None
    score: float | None = None
    searching: bool = False
    rows: int = 0
    corrected: int = 0
    within_chance: bool = False
    versions: int = 1
    labels_in_all: int = 0
    cells_in_all: int = 0
    score_at_first: float | None = None
    serves: int | None = None


class WorkMaking(Answer):
    """The version that is being made of people's answers, or could not be made.

    ``state``: ingesting or failed; ``error``: why it failed. ``labels`` and ``cells``: that it
    changes. ``task_id``: of the task that makes it.
    """

    version: int
    version_id: str
    state: str
    labels: int
    cells: int
    task_id: str = ""
    error: str = ""
    created: Moment


class WorkQueue(Answer):
    """The open items of an application, those that bring most for a second of a person's time first.

    ``open``: how many of each kind. ``answers``: given, and in no version yet. ``looking``: a task
    is looking for items. ``promise``: the squared error that all open items should take off, of
    numbers as a share of their variance; ``says``: the same in words, empty where nothing is known.
    """

    application_id: str
    items: list[WorkItem]
    open: dict[str, int]
    answers: int
    looking: bool
    promise: float = 0.0
    says: str = ""
    agreement: WorkAgreement


class WorkTurn(Answer):
    """The item that a person has now; null where there is none for them.

    ``open``: items that wait, in all. ``answers``: given, and in no version yet. ``task_id``: of the
    task that looks for items, or prepares the data in which it will: ask again after it; empty
    where none does. ``last_id``: the item that they answered last, which can be undone; empty for
    none. ``promise`` and ``says``: as in the queue. ``seconds_left``: that the open items should
    take. ``seconds_given``: that all answers so far took. ``brought``: by the newest batch; null
    before the first. ``making``: the version that is being made of answers. ``disputed``: items on
    which people differ, and that wait for an owner's word. ``never``: why nobody is ever asked
    here; empty where people are.
    """

    application_id: str
    item: WorkItem | None = None
    open: int = 0
    answers: int = 0
    task_id: str = ""
    last_id: str = ""
    promise: float = 0.0
    says: str = ""
    seconds_left: float = 0.0
    seconds_given: float = 0.0
    agreement: WorkAgreement
    brought: WorkBrought | None = None
    making: WorkMaking | None = None
    disputed: int = 0
    never: str = ""


class WorkDone(Answer):
    """What became of an answer to an item of a ``kind``.

    ``answers``: how many wait for a version; those for a test of models make none. ``version_id``:
    the version that is made of the batch; else empty.
    """

    item_id: str
    application_id: str
    kind: WorkKind
    way: str
    value: str = ""
    seconds: float = 0.0
    answers: int = 0
    version_id: str = ""


class WorkFile(Answer):
    """Items as the text of a file. ``format``: label-studio or csv; ``items``: how many."""

    format: str
    text: str
    items: int


class WorkRefused(Answer):
    """What of a file was not taken: its place, the key or column, why, and what to do."""

    place: str
    key: str
    message: str
    remedy: str


class WorkImported(Answer):
    """What became of a file of answers. ``same``: answers that were there already.

    ``version_id``: the newest version that was made of them; empty for none.
    """

    application_id: str
    taken: int
    same: int
    refused: list[WorkRefused]
    version_id: str = ""


class CellOption(Answer):
    """What a cell could be, and how likely that is held to be."""

    value: str
    weight: float


class DoubtfulCell(Answer):
    """A cell that is missing or looks wrong. ``given``: as it is, empty where it is missing.

    ``source``: what found it, and by which model its candidates are weighted.
    """

    row: int
    column: str
    given: str
    source: str
    candidates: list[CellOption]


class Doubts(Page[DoubtfulCell]):
    """Doubtful cells of a version that nobody has answered yet, the most doubtful first.

    ``looked``: did a task look for them? ``looking``: does one look now? ``total``: in all.
    """

    version_id: str
    number: int
    looked: bool
    looking: bool
    total: int
    by_column: dict[str, int] = Field(default_factory=dict)
    by_source: dict[str, int] = Field(default_factory=dict)


_DOUBTS = {
    "clean: missing": "no value",
    "clean: format": "written unlike the others",
    "clean: outlier": "far from the other numbers",
    "clean: misspelling": "nearly a common value",
    "clean: dependency": "other columns say otherwise",
    "clean: rule": "breaks a rule",
    "clean: duplicate": "repeats another row",
    "clean: label": "other rows say otherwise",
}


_OF_JUDGES = {
    "doubted-judge": "This row judges models that have not learned from it. No other answer is "
    "proposed: that would be what a model says.",
    "far-answer": "This row judges models that have not learned from it. Its answer lies far from "
    "all others.",
    "far-test-answer": "This row tests models, and none learns from it. Its answer lies far from "
    "all others; no model had a part in asking about it.",
}


def why_judges(source: str) -> str:
    """Return what people should know who are asked about a row that judges models; else nothing."""
    return _OF_JUDGES.get(source, "")


def why_in_doubt(source: str) -> str:
    """Return why a cell is in doubt, in words; a tool that is not known by its name."""
    tool, _, _ = source.partition(", ")
    return _DOUBTS.get(tool, source)

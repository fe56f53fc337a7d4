"""The REST types of gates: what has to be proven of a model before it may serve."""

from typing import Literal

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.times import Moment

_CONDITION = "On n, quality of the new model, o, of the one that serves, and d, the share of \
predictions that differ: n - o > 0.02 +/- 0.01 and d < 0.2 +/- 0.05; of groups of rows, too: \
n[sex = female] - n[sex = male] > -0.1 +/- 0.05"


class NewGate(Request):
    """What has to be proven of every model that goes live, and how surely.

    ``adaptivity``: what may follow the answers: full (new models do), none (they do not) or
    firstChange (the first that passes is the last). ``steps``: models that can be tested on the
    test rows that there are. ``metric``: what n and o measure; by default accuracy; of rows with
    several labels row-f1, F1 by row. A target that is a number needs absolute-error, of which n and
    o are mean errors. ``positive``: the class of f1, or of brier, of which n and o are mean squared
    errors of the chance of that class. ``scale``: the largest error that counts, in the unit of the
    target; 0: twice the root mean squared error of the model that serves, on validation rows.
    ``labels``: so many may be bought of people, of rows without labels that are kept for tests,
    where the test rows cannot tell. ``rows``: test rows that it takes at most, so that the others
    are unspent when these are worn out; 0: all.
    """

    condition: str = Field(min_length=1, max_length=1000, description=_CONDITION)
    reliability: float = Field(0.95, gt=0, lt=1)
    adaptivity: Literal["full", "none", "firstChange"] = "full"
    steps: int = Field(8, ge=1, le=1000)
    metric: Literal["", "accuracy", "f1", "row-f1", "brier", "absolute-error"] = ""
    positive: str = Field("1", max_length=1000)
    scale: float = Field(0.0, ge=0, allow_inf_nan=False)
    labels: int = Field(0, ge=0, le=1_000_000)
    rows: int = Field(0, ge=0, le=1_000_000_000)


class Retirement(Request):
    """Worn-out test rows may be train rows. ``labels``: so many the gate may buy then of rows that
    are kept for tests; null: as before.
    """

    labels: int | None = Field(None, ge=0, le=1_000_000)


class WaitingModel(Answer):
    """A model whose test waits for labels. ``about``: so many more, null where that cannot be told
    yet, and as a rule from ``low`` to ``high``; ``most``: at most. ``says``: that, in a sentence.
    """

    model_id: str
    name: str
    about: int | None
    low: int = 0
    high: int = 0
    most: int
    says: str


class BoughtLabels(Answer):
    """The labels that a gate may buy: ``bought`` of a ``budget``.

    ``rows``: without labels, that are kept for tests; ``rows_left``: that no model was tested on.
    ``waiting``: the model that waits for labels now.
    """

    budget: int
    bought: int
    rows: int
    rows_left: int
    steps_spent: int
    steps_left: int
    waiting: WaitingModel | None = None


class GateGroup(Answer):
    """A group of rows that a condition names. ``rows``: about so many test rows are in it."""

    group: str
    rows: int


class Gate(Answer):
    """A gate. ``promise``: what it promises, in a sentence. ``positive``: the class of its metric.

    ``rows``: labelled test rows that it tests on. ``rows_for_gains``: with so many, 98 % of the
    models that are better by three tolerances pass, if they change a tenth of the predictions.
    ``rows_needed``: so many always settle its steps; ``rows_needed_32``: those of 32 models. Null
    where these depend on the data. ``most``: rows that its owner wants it to wear out, 0: all.
    ``rows_left``: rows that the next test may use. ``labels``: those that it may buy.
    ``worn_out``: no model can be tested any more on these rows. ``lasts``: how long they last, in a
    sentence. ``groups``: those that the condition names. ``too_few``: in words, that the rows are
    fewer than ``rows_for_gains``, and what to do; empty where they are enough, or people are asked
    for what they cannot tell.
    """

    id: str
    condition: str
    reliability: float
    adaptivity: str
    steps: int
    metric: str
    positive: str = ""
    promise: str
    rows: int
    rows_for_gains: int | None = None
    rows_needed: int | None
    rows_needed_32: int | None
    rows_left: int
    steps_spent: int
    steps_left: int
    worn_out: bool
    lasts: str
    too_few: str = ""
    most: int = 0
    groups: list[GateGroup] = Field(default_factory=list)
    testing: bool = False  # is a model being tested now?
    labels: BoughtLabels | None = None
    created: Moment

    @property
    def waiting(self) -> WaitingModel | None:
        """The model whose test waits for labels; None where none does."""
        return None if self.labels is None else self.labels.waiting


class Gates(Answer):
    """What has to hold before a model serves an application: the gate, if there is one.

    ``promise``, ``rows_needed``, ``rows_left``: of the gate. Without one nothing is promised, and
    ``rows_left`` are the test rows that a gate could use. ``retirable``: test rows that gates wore
    out, which can be train rows if their owner wants.
    """

    application_id: str
    promise: str
    rows_needed: int | None = None
    rows_left: int
    retirable: int = 0
    gates: list[Gate] = Field(default_factory=list)

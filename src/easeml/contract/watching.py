"""The REST types of watching: is what serves still right about what production sees?"""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.times import Moment


class Drift(Answer):
    """A test of drift. ``kind``: covariate (inputs), prior (predictions) or concept."""

    kind: str
    p_value: float | None
    level: float | None
    alarm: bool


class Labelled(Answer):
    """The share of right predictions among the newest rows whose truth came, at most 500.

    With its 95 % interval. ``of_labels``: rows may have several, and it is F1 of those of a row,
    averaged over the rows.
    """

    rows: int
    quality: float
    low: float
    high: float
    of_labels: bool = False


class Claim(Answer):
    """Somebody's word that rows whose truth came were drawn at random, and what became of it.

    ``by``: who said it, and when; easeml where it drew the rows itself. ``rows``: how many.
    ``p_value``: of their difference from the other rows of their looks, in what ``where`` names;
    null where there was nothing to compare. It ``counts`` where that is greater than ``level``;
    otherwise these truths are such as come as they come.
    """

    by: str
    rows: int
    p_value: float | None
    level: float
    where: str
    counts: bool


class WatchReport(Answer):
    """Is what serves still right?

    ``status``: ok, watch, alert, or cannot tell; ``reason`` says why. ``estimate``: of the quality
    on the rows that were looked at last, without their labels but for those that came, with its
    ``interval`` [low, high]; null where it cannot be told. ``reference``: on validation rows.
    ``tolerance``: the error up to which a predicted number counts as right; null of classes.
    ``drift``: how each input column has moved, by the column; p-values are corrected for their
    number. ``tests``: of all columns, of the predictions, and of the concept, by their kind.
    ``labelled``: of the newest kept rows whose truth came; whose truth comes may not be chosen at
    random. ``waiting``: kept rows that were not looked at. ``late``: rows that were looked at
    before their truth came, which the next look learns from. ``claims``: of the newest look that
    had some, who said of rows that they were drawn at random: what rests on that is said in
    ``assumes``. ``asked``: rows of production that people are asked about. ``notes``: what was
    unusual, such as truths that were changed after a look had counted them. ``remedy``: why the
    model should be adapted to these rows; empty where nothing has moved.
    """

    application_id: str
    status: str
    reason: str
    estimate: float | None = None
    interval: tuple[float, float] | None = None
    reference: float | None = None
    tolerance: float | None = None
    rows: int = 0
    waiting: int = 0
    late: int = 0
    asked: int = 0
    drift: dict[str, Drift] = Field(default_factory=dict)
    tests: dict[str, Drift] = Field(default_factory=dict)
    labelled: Labelled | None = None
    claims: list[Claim] = Field(default_factory=list)
    assumes: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    created: Moment | None = None
    remedy: str = ""


class NewWatchLabels(Request):
    """How many rows of the newest look at production people are to be asked about."""

    rows: int = Field(100, ge=1, le=10_000)


class WatchLabels(Answer):
    """What was drawn at random of the newest look at production.

    ``asked``: rows that people are asked about. ``known``: rows whose truth was known already.
    ``left``: rows of the look that were not drawn.
    """

    application_id: str
    asked: int
    known: int
    left: int

    @property
    def says(self) -> str:
        """What was asked, in sentences."""
        known = f" The truth of {self.known:,} more is known." if self.known else ""
        return (
            f"People are asked about {self.asked:,} rows of the newest look, drawn at random."
            f"{known} The next look learns from the answers."
        )


class Look(Answer):
    """One look at rows of production: what it said of the model that served then.

    ``estimate`` of the quality with its interval; null where it could not be told.
    """

    created: Moment
    model_id: str
    status: str
    reason: str
    rows: int
    estimate: float | None = None
    interval: tuple[float, float] | None = None

"""The answer: the bounds of the Bayes error, what they mean for a goal, and what would change it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

Verdict = Literal["realistic", "unrealistic", "cannot tell"]

NOTHING_FOUND = (
    "Nothing that was tried predicts better than always guessing the same, and not every set of "
    "columns was searched: what decides may hide in many columns together."
)

MORE_TOGETHER = (
    "Two categories of many values say together what neither says alone, and no way of looking at "
    "the inputs that was tried makes use of it: more may be reached than is estimated."
)


@dataclass(frozen=True)
class Tried:
    """How one representation fared.

    ``curve``: (training rows, error, error of the nearest neighbour).

    ``error`` is the least after ``rows`` training rows, reached by ``way``; ``lower`` what its
    nearest neighbours bound from below. ``dropped`` says why it did not go on, empty if it did.
    """

    name: str
    rows: int
    way: str
    error: float
    lower: float
    dropped: str
    curve: tuple[tuple[int, float, float | None], ...]


@dataclass(frozen=True)
class Forecast:
    """The error that quick learners should reach with ``rows`` labelled rows.

    ``low`` and ``high`` are its 90 % interval.
    """

    rows: int
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelNoise:
    """How many labels are wrong, at most, and the error after cleaning.

    ``share`` of the labels has a 95 % interval from ``low`` to ``high``. Labels are known to be
    wrong only where ``low`` is above 0.

    ``cleaned``: (share of the wrong labels put right, error then). ``labels_to_fix``: wrong labels
    to put right to reach the goal; None without evidence or a goal, or where all are not enough.
    """

    share: float
    low: float
    high: float
    cleaned: tuple[tuple[float, float], ...]
    labels_to_fix: int | None


@dataclass(frozen=True)
class BayesError(Result):
    """Estimates of the least error that any model can reach on rows like these.

    Errors are shares of wrong predictions, or for a regression shares of the target's variance (1 -
    R2); ``noise_variance`` is that in the target's units. ``lower`` and ``upper`` hold at
    ``confidence`` together: no less (if all that ``assumes`` says is true), and no more (reached by
    a quick learner on rows it never saw). ``estimate`` is the most likely value, between them.
    ``goal`` is an accuracy or R2. ``risk``: chance that the verdict is wrong. ``more_examples``
    would turn the verdict into ``next_verdict``; None where no number up to a thousandfold would.
    ``balanced``: errors and goal are of balanced accuracy, on rows whose classes are equally likely.
    ``there``: rows that were given; where ``rows`` are fewer, these were drawn of them at random.
    ``work``: share of the work of reading all rows in all representations. ``final``: all rows are
    read.
    """

    task: Literal["classification", "regression"]
    classes: tuple[str, ...]
    rows: int
    evaluated: int
    lower: float
    estimate: float
    upper: float
    reached: float
    baseline: float
    noise_variance: float | None
    confidence: float
    representation: str
    goal: float | None
    verdict: Verdict | None
    risk: float | None
    more_examples: int | None
    next_verdict: Verdict | None
    forecasts: tuple[Forecast, ...]
    noise: LabelNoise | None
    tried: tuple[Tried, ...]
    work: float
    final: bool
    assumes: tuple[str, ...]
    notes: tuple[str, ...]
    balanced: bool = False
    there: int = 0

    @property
    def advice(self) -> str:
        """What was found, and what to do next."""
        best = 1 - self.estimate
        span = f"between {1 - self.upper:.3f} and {1 - self.lower:.3f}"
        sure = f"{self.confidence:.0%} confidence"
        found = f"The best reachable {self.measure} is about {best:.3f} ({span} at {sure})."
        return f"{found} {self._next_step()}"

    @property
    def measure(self) -> str:
        """What the goal is of, in words."""
        if not self.classes:
            return "R2"
        return "balanced accuracy" if self.balanced else "accuracy"

    def _next_step(self) -> str:
        if self.verdict is None:
            judged = f"Only a goal of {self.measure} is judged"
            return f"{judged}: name one to learn whether it can be reached."
        if self.verdict == "realistic":
            return f"A goal of {self.goal:g} is realistic: train models now."
        if self.verdict == "unrealistic":
            return (
                f"A goal of {self.goal:g} is unrealistic with these inputs and labels, as far as "
                f"models can be foreseen. Add inputs that say more, or lower the goal.{self._to_clean()}"
            )
        begin = f"Whether a goal of {self.goal:g} can be reached cannot be told yet."
        if self.rows < self.there:
            looked = f"{self.rows:,} of {self.there:,} rows were looked at"
            return f"{begin} {looked}: look at more, or add inputs that say more.{self._to_clean()}"
        if self.more_examples is None:
            return f"{begin} Add rows, or inputs that say more.{self._to_clean()}"
        return (
            f"{begin} About {self.more_examples:,} more labelled rows should make it "
            f"{self.next_verdict}.{self._to_clean()}"
        )

    def _to_clean(self) -> str:
        """Return a sentence on wrong labels, empty unless there is evidence of some."""
        noise = self.noise
        if noise is None or noise.low <= 0 or not noise.labels_to_fix:
            return ""
        return (
            f" Or check labels: {noise.low:.1%} or more are wrong if each class has rows whose answer "
            f"is beyond doubt; about {noise.labels_to_fix:,} would have to be put right."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a representation, best first."""
        import pandas as pd

        by_error = sorted(self.tried, key=lambda tried: (bool(tried.dropped), tried.error))
        return pd.DataFrame(list(map(replace_curve, by_error)))

    def figure(self) -> Figure:
        """Return the errors over training rows, with bounds, goal and forecast."""
        from easeml.figures.feasibility import bayes_error_figure

        return bayes_error_figure(self.to_json())


def replace_curve(tried: Tried) -> dict[str, object]:
    """Return a representation's fields without its curve."""
    fields = vars(replace(tried)).copy()
    fields.pop("curve")
    return fields

"""What is known of an application: all that is needed to say what to do next.

Every fact was kept when it was found: by the search, by a report, at ingestion. Nothing is computed
from rows here, so that the question "what next?" is answered at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from easeml.goals import Condition, Goal
from easeml.lifecycle.journey.estimate import Estimate
from easeml.lifecycle.journey.experience import Experience
from easeml.lifecycle.questions.bounds import bounds_after


@dataclass(frozen=True, slots=True)
class Feasible:
    """What the tool ``feasibility`` said of train and validation rows.

    ``unit``: accuracy, balanced accuracy or R2. ``goal``: in this unit, None where there is none.
    ``asked``: what the tool was asked about. ``best``: what
    any model can reach; ``reached``: what a quick learner does. ``noise``: the share of wrong
    labels, at most. ``more_rows``: labelled rows to add until the verdict is clear. ``doubled``:
    what a quick learner should reach with twice the rows. ``least``: ``best`` as an rmse, of a goal
    that is one. None: not told. ``answers``: of people
    since then, for which ``best`` allows.
    """

    verdict: str
    unit: str
    goal: float | None
    best: Estimate
    reached: float
    rows: int
    noise: Estimate | None = None
    more_rows: int | None = None
    doubled: Estimate | None = None
    least: Estimate | None = None
    answers: int = 0
    asked: Mapping[str, Any] = field(default_factory=dict)

    def after(self, answers: int) -> Feasible | None:
        """Return this with bounds that allow for answers of people since; None where it is stale.

        Of numbers nothing can be told: one row can move their error by any amount.
        """
        if not answers:
            return self
        if self.unit == "r2":
            return None
        best = self.best
        share = answers / self.rows
        bounds = bounds_after(best.low, best.high, share, self.goal, self.verdict)
        if bounds is None:
            return None
        return replace(self, best=Estimate(best.value, *bounds), answers=answers)

    def beside(self, served: Estimate) -> Feasible:
        """Return this beside what serves, in the same unit: what it reaches can be reached."""
        best = self.best
        value = max(best.value, served.value)
        return replace(self, best=Estimate(value, max(best.low, served.low), max(best.high, value)))


@dataclass(frozen=True, slots=True)
class Suspects:
    """What the tool ``label-errors`` said.

    Of ``rows`` labels, ``listed`` look wrong. ``expected`` are, if what the tool assumes is so.
    ``checked``: that people were asked about as they looked wrong, of which ``wrong`` were.
    """

    listed: int
    expected: float
    rows: int
    checked: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Searched:
    """How the model search does.

    ``expected``: gain of score still expected, with its standard error. ``mean_cost``: device
    seconds of a task so far, 0 before the first.
    """

    state: str
    tried: int
    candidates: int
    mean_cost: float = 0.0
    expected: float | None = None
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """Items of one kind that wait for a person, and what one takes (seconds of a person's time)."""

    items: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Part:
    """A further condition of the goal, and what serves: ``value`` is None where it is not known."""

    condition: Condition
    value: float | None = None

    @property
    def holds(self) -> bool:
        """Does what serves meet it?"""
        return self.value is not None and self.condition.holds(self.value)


@dataclass(frozen=True, slots=True)
class Proposed:
    """The first remedy that the tool ``debug`` proposed: how many ``corrected`` mistakes it expects.

    ``low`` and ``high``: the ends of its interval. ``why``: what it rests on.
    """

    title: str
    why: str
    corrected: float
    low: float
    high: float
    human_minutes: float
    device_seconds: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an application.

    ``quality``: of what serves, on validation rows, in the unit of the goal. ``tested``: the same
    on test rows. ``lower_is_better``: of that unit. ``holes``: share of missing cells by input
    column. ``leaks``: input columns that may know the target. ``rarest``: the class with fewest
    rows, with their number. ``meter``: what it said of the validation rows. ``watched``: what
    monitoring said last, and ``moved``: what it found to have moved since the model learned, as a
    sentence; empty where nothing has. ``debugged``: was ``debug`` ever asked? ``remedy``: what it
    proposed since monitoring looked; None: it was not asked, or has none. ``asked``: tools that are
    being asked now. ``failed``: tools that ended without an answer when they were asked last, and
    why. ``stale``: tools whose answer is of an older version of the data, or another goal.
    ``parts``: the further conditions of the goal. ``worn``: test rows on which no model can be
    tested any more. ``untold``: tools that tell nothing of such a target. ``forecasts``: the target
    follows its own past. ``told``: how many rows' truth came since the data was made.
    """

    target: str
    is_ready: bool = True
    goal: Goal | None = None
    unit: str = "accuracy"
    lower_is_better: bool = False
    rows: Mapping[str, int] = field(default_factory=dict)  # by role
    off: int = 0
    rarest: tuple[str, int] | None = None
    holes: Mapping[str, float] = field(default_factory=dict)
    leaks: tuple[str, ...] = ()
    quality: Estimate | None = None
    baseline: float | None = None
    tested: Estimate | None = None
    tested_by: str = ""  # the objective by which test rows were read, whatever the goal's is
    feasible: Feasible | None = None
    suspects: Suspects | None = None
    search: Searched | None = None
    models: int = 0
    serves: bool = False
    readings: int = 0
    meter: str = ""
    picked: bool = False
    watched: str = ""
    debugged: bool = False
    moved: str = ""
    remedy: Proposed | None = None
    tests: Mapping[str, str] = field(default_factory=dict)  # verdicts of ci, newest
    work: Mapping[str, WorkLeft] = field(default_factory=dict)
    answers: int = 0  # of people, which no version has yet
    asked: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    stale: frozenset[str] = frozenset()
    parts: tuple[Part, ...] = ()
    worn: int = 0
    untold: frozenset[str] = frozenset()
    forecasts: bool = False
    told: int = 0
    experience: Mapping[str, Experience] = field(default_factory=dict)  # by kind of action

    def count(self, role: str) -> int:
        """Return how many rows have a role."""
        return self.rows.get(role, 0)

    def meets_goal(self, value: float) -> bool:
        """Does this value, in the unit of the goal, meet it? There has to be a goal."""
        assert self.goal is not None
        if self.lower_is_better:
            return value <= self.goal.value
        return value >= self.goal.value

    @property
    def is_reached(self) -> bool:
        """Is the goal met on validation rows and not disproven on test rows, or proven on these?"""
        if self.is_proven:
            return True
        if self.quality is None or self.is_disproven:
            return False
        return self._is_met(self.quality.value)

    @property
    def is_proven(self) -> bool:
        """Is the goal met on test rows, with the worse end of their interval?

        Its further parts are measured on validation rows alone, and have to hold there.
        """
        if self.tested is None:
            return False
        return self._is_met(self.tested.high if self.lower_is_better else self.tested.low)

    @property
    def may_be_met(self) -> bool:
        """Is the goal met on test rows by the middle of their interval?"""
        return self.tested is not None and self._is_met(self.tested.value)

    @property
    def is_disproven(self) -> bool:
        """Is the goal missed on test rows, even with the better end of their interval?"""
        if self.tested is None or self.goal is None:
            return False
        best = self.tested.low if self.lower_is_better else self.tested.high
        return not self.meets_goal(best)

    def _is_met(self, value: float) -> bool:
        """Is the goal met, by a value of its first part and by what its further parts have?"""
        return self.goal is not None and not self.failing and self.meets_goal(value)

    @property
    def failing(self) -> list[Part]:
        """The further conditions of the goal that do not hold."""
        return [part for part in self.parts if not part.holds]

    @property
    def is_searching(self) -> bool:
        """Is the search under way?"""
        return self.search is not None and self.search.state in ("preparing", "running")

    @property
    def labelled(self) -> int:
        """Rows with an answer that models learn from or are chosen by."""
        return self.count("train") + self.count("validation")

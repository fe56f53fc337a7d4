"""The meter: how far validation quality has drifted from the truth, shown as a range."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting.histories import (
    MODES,
    History,
    Mode,
    check_counts,
    code_length,
    log_models,
)
from easeml.lifecycle.overfitting.sizes import (
    check_promise,
    deviation,
    first_where,
    size,
    widest_deviation,
)
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from easeml.figures import Figure

UNSURE = 0.25  # tolerance above which a low gap shows nothing
EDGES = (0.02, 0.04, 0.06, 0.1)
_VERSION = 2
_MOST_REMAINING = 2**20


@dataclass(frozen=True)
class Reading(Result):
    """What the meter shows: with probability 1 - delta, all readings together are right.

    ``signal`` (1..m) is the range of the gap between validation and true quality (in mode monotone:
    of the worst gap so far), ``low`` and ``high`` its edges, ``tolerance`` how far the truth may
    lie beyond them. ``signal`` is None once the test set is worn out. ``history`` holds the signals
    of all reports, ``remaining`` how many more the test set allows if the signal stays the same
    (None: more than a million).
    """

    signal: int | None
    low: float
    high: float
    tolerance: float
    repeated: bool
    history: tuple[int, ...]
    remaining: int | None
    edges: tuple[float, ...]

    @property
    def is_above(self) -> bool | None:
        """Whether validation quality lies above the truth; None where the rows cannot tell."""
        if self.signal is None:
            return None
        if self.signal == 1:
            return None if self.tolerance > UNSURE else False
        if self.low < self.tolerance:
            return None  # the truth may lie on either side
        return True

    @property
    def advice(self) -> str:
        if self.signal is None:
            return (
                f"The test set is worn out after {len(self.history)} reports: "
                "label a new one before reading on."
            )
        left = "more than a million" if self.remaining is None else f"{self.remaining:,}"
        return f"{self._finding()} Reports left while the signal stays the same: {left}."

    def _finding(self) -> str:
        """Say how far validation quality lies above the truth, and what to do about it."""
        least, most = f"{self.low - self.tolerance:.3f}", f"{self.high + self.tolerance:.3f}"
        if self.is_above is None:
            looks = "no better than test quality" if self.signal == 1 else "too good"
            return (
                f"Validation quality looks {looks}, but so few test rows cannot tell: they are "
                f"sure within {self.tolerance:.3f} only. Label more of them."
            )
        if self.signal == 1:
            return f"Validation quality is at most {most} above the truth: go on."
        if self.high == inf:
            return (
                f"Validation quality is at least {least} above the truth: "
                "get new validation data, and choose among fewer models."
            )
        return (
            f"Validation quality is {least} to {most} above the truth: "
            "do not trust smaller differences between models."
        )

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        bounds = (-inf, *self.edges, inf)
        rows = [(t, s, bounds[s - 1], bounds[s]) for t, s in enumerate(self.history, start=1)]
        return pd.DataFrame(rows, columns=["report", "signal", "low", "high"])

    def figure(self) -> Figure:
        from easeml.figures.overfitting import reading

        return reading(self.to_json())


@dataclass(frozen=True)
class Meter:
    """A gauge of overfitting that shows ranges, and knows what each has given away.

    A value: ``read`` returns a reading and the meter after it.

    The promise: but for probability ``delta`` over the draw of the test set, every reading's range,
    widened by the tolerance that it states, holds the true gap, whatever the developer does with
    readings and validation scores. The test set must be drawn independently of everything that the
    developer sees.

    Args:
        examples: size of the test set. edges: ascending edges of the ranges of the gap; m - 1 of
            them. tolerance, delta: the promise, each in (0, 1). reports: how many readings at most;
            needed for plain and monotone, for coded it makes early readings cheaper. mode:
            ``coded`` pays for a reading by the description length of what was shown, so that a
            quiet signal costs next to nothing; ``plain`` and ``monotone`` pay for all histories in
            advance. graded: whether scores may lie between 0 and 1. widest: the meter stops where a
            reading's tolerance would exceed this; 1.5 times ``tolerance`` if None.
            learned_elsewhere: ln of the number of histories that other uses of the test set can
            have shown. history: the signals so far. shown: by the digest of what was submitted, its
            signal: the same question again costs nothing.
    """

    examples: int
    edges: tuple[float, ...] = EDGES
    tolerance: float = 0.02
    delta: float = 0.01
    reports: int | None = None
    mode: Mode = "coded"
    graded: bool = False
    widest: float | None = None
    learned_elsewhere: float = 0.0
    history: tuple[int, ...] = ()
    shown: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_promise(self.tolerance, self.delta)
        check_counts(self.signals, self.reports)
        if self.mode not in MODES:
            raise InvalidInput(
                f"There is no mode {self.mode!r}.", where="mode", remedy=f"Use {', '.join(MODES)}."
            )
        ascending = list(self.edges) == sorted(set(self.edges))
        if not ascending or not np.all(np.isfinite(self.edges)):
            raise InvalidInput("Edges must be finite and ascending.", where="edges")
        if self.mode != "coded" and self.reports is None:
            raise InvalidInput(
                f"Mode {self.mode} must know the number of reports.", where="reports"
            )
        learned = self._learned(History())
        # Accuracies near 1 are the easiest to measure: without them nothing can be promised.
        easiest = deviation(learned, self.examples, self.delta, 1.0, graded=self.graded)
        if easiest > self._widest:
            least = size(learned, self.tolerance, self.delta, accuracy=None)
            raise InvalidInput(
                f"{self.examples:,} test examples are too few for ±{self.tolerance:g} "
                f"with delta {self.delta:g}.",
                where="examples",
                remedy=f"Label {least:,}, which is enough at any accuracy, "
                "or allow a larger tolerance.",
            )

    @property
    def signals(self) -> int:
        """Number of ranges."""
        return len(self.edges) + 1

    def allows(self, validation_quality: float) -> bool:
        """Tell whether the promise allows another report on a model of this validation quality."""
        return self._tolerance(validation_quality, History.of(self.history)) <= self._widest

    def read(self, validation_quality: float, test_scores: ArrayLike) -> tuple[Reading, Meter]:
        """Return the range of the gap of one model, and the meter after this reading.

        Args:
            validation_quality: the model's mean score on the validation set, in [0, 1].
            test_scores: its score a test example, such as 1 where the prediction is right; shape
                (examples,); 0 or 1 unless the meter is ``graded``.

        Raises:
            InvalidInput: if a score is missing or out of range, or their number is not that of the
                test set.
        """
        scores = self._checked(validation_quality, test_scores)
        key = _digest(validation_quality, scores)
        if key in self.shown:
            return self._reading(validation_quality, self.shown[key], repeated=True), self
        if not self.allows(validation_quality):
            return self._reading(validation_quality, None), self
        tolerance = self._tolerance(validation_quality, History.of(self.history))
        signal = bisect_left(self.edges, validation_quality - float(scores.mean())) + 1
        if self.mode == "monotone" and self.history:
            signal = max(signal, self.history[-1])
        after = replace(self, history=(*self.history, signal), shown={**self.shown, key: signal})
        return after._reading(validation_quality, signal, tolerance=tolerance), after

    def to_json(self) -> dict[str, Any]:
        """Return the state in plain JSON values; ``Meter.from_json`` goes on from it.

        It holds no test label.
        """
        document = {**vars(self), "edges": list(self.edges)}
        return {
            "version": _VERSION,
            **document,
            "history": list(self.history),
            "shown": dict(self.shown),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Meter:
        """Return the meter whose state this is.

        Raises:
            InvalidInput: if it is no state of a meter, or of a version that counted otherwise.
        """
        if state.get("version") != _VERSION and "least_accuracy" in state:
            raise InvalidInput(
                "This meter was begun by an earlier version, which counted otherwise.",
                remedy="Begin a new one, on a test set that was not read before.",
            )
        try:
            meter = cls(**_values(state))
        except InvalidInput:
            raise
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise InvalidInput(
                "This is not the state of a meter.", remedy="Use what Meter.to_json gave."
            ) from error
        shown = {*meter.history, *meter.shown.values()}
        known = set(range(1, meter.signals + 1))
        if not shown <= known:
            raise InvalidInput(
                "The state of the meter has signals that it does not know.", where="history"
            )
        return meter

    @property
    def _widest(self) -> float:
        return 1.5 * self.tolerance if self.widest is None else self.widest

    def _learned(self, history: History) -> float:
        """Return ln of the number of models to be covered.

        In mode coded, that is the code length of the model after ``history``.
        """
        if self.mode == "coded":
            own = code_length(history, self.signals, self.reports)
        else:
            own = log_models(self.mode, self.signals, self.reports or 1)
        return own + self.learned_elsewhere

    def _tolerance(self, quality: float, history: History) -> float:
        """Return the tolerance of a report after ``history``; infinite beyond the last report.

        It follows from what everybody knows already (validation quality and edges), not from the
        test score, and so tells nothing about that.
        """
        if self.reports is not None and history.reports >= self.reports:
            return inf
        learned = self._learned(history)
        if self.mode == "monotone":
            # The worst range so far may stem from a model of any accuracy.
            return widest_deviation(learned, self.examples, self.delta, graded=self.graded)
        widest = 0.0
        for place in [quality - edge for edge in self.edges]:
            found = deviation(learned, self.examples, self.delta, place, graded=self.graded)
            widest = max(widest, found)
        return widest

    def _remaining(self, quality: float) -> int | None:
        """Return how many more reports fit if the signal does not change; None beyond a million."""
        now = History.of(self.history)

        def fits(more: int) -> bool:
            later = replace(now, reports=now.reports + more - 1)
            return self._tolerance(quality, later) <= self._widest

        low = 0
        high = 1
        while high <= _MOST_REMAINING and fits(high):
            low, high = high, high * 2
        if high > _MOST_REMAINING:
            return None
        return first_where(lambda more: not fits(more), low, high) - 1

    def _reading(
        self,
        quality: float,
        signal: int | None,
        *,
        repeated: bool = False,
        tolerance: float | None = None,
    ) -> Reading:
        low, high = -inf, inf
        if signal is not None:
            bounds = (-inf, *self.edges, inf)
            low, high = bounds[signal - 1], bounds[signal]
        return Reading(
            signal=signal,
            low=low,
            high=high,
            tolerance=self._widest if tolerance is None else tolerance,
            repeated=repeated,
            history=self.history,
            remaining=self._remaining(quality),
            edges=self.edges,
        )

    def _checked(self, quality: float, test_scores: ArrayLike) -> np.ndarray:
        """Return the scores (examples,), each of which the meter can count."""
        try:
            scores = np.asarray(test_scores, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput("Scores must be numbers.", where="test_scores") from error
        if scores.shape != (self.examples,):
            raise InvalidInput(
                f"There must be one score for each of the {self.examples:,} test examples, "
                f"not {scores.shape}.",
                where="test_scores",
            )
        if self.graded:
            allowed = (scores >= 0) & (scores <= 1)
            values = "a number in [0, 1]"
        else:
            allowed = np.isin(scores, (0.0, 1.0))
            values = "0 or 1, unless the meter is graded"
        if not allowed.all():
            row = int(np.flatnonzero(~allowed)[0])
            raise InvalidInput(f"A score must be {values}.", where=f"test_scores, row {row}")
        if not 0 <= quality <= 1:
            raise InvalidInput(
                f"Quality must be in [0, 1], not {quality}.", where="validation_quality"
            )
        return scores


def _values(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the meter in a state."""
    values = dict(state)
    values.pop("version", None)
    return {
        **values,
        "edges": tuple(map(float, state["edges"])),
        "history": tuple(map(int, state["history"])),
        "shown": {key: int(signal) for key, signal in state["shown"].items()},
    }


def _digest(quality: float, scores: np.ndarray) -> str:
    return blake2b(np.float64(quality).tobytes() + scores.tobytes(), digest_size=12).hexdigest()

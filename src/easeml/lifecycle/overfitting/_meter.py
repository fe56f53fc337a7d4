"""The meter: how far validation quality has drifted from the truth, shown as a range."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting._histories import (
    MODES,
    History,
    Mode,
    check_counts,
    code_length,
    log_models,
)
from easeml.lifecycle.overfitting._sizes import check_promise, deviation, size
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from easeml.figures import Figure

EDGES = (0.02, 0.04, 0.06, 0.1)


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
    def advice(self) -> str:
        if self.signal is None:
            return f"The test set is worn out after {len(self.history)} reports: label a new one before reading on."
        if self.signal == 1:
            text = f"Validation quality is at most {self.high + self.tolerance:.3f} above the truth: go on."
        elif self.high == inf:
            text = (
                f"Validation quality is at least {self.low - self.tolerance:.3f} above the truth: "
                "get new validation data, and choose among fewer models."
            )
        else:
            text = (
                f"Validation quality is {self.low - self.tolerance:.3f} to {self.high + self.tolerance:.3f} above the "
                "truth: do not trust smaller differences between models."
            )
        left = "more than a million" if self.remaining is None else f"{self.remaining:,}"
        return f"{text} Reports left while the signal stays the same: {left}."

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        bounds = (-inf, *self.edges, inf)
        rows = [(t, s, bounds[s - 1], bounds[s]) for t, s in enumerate(self.history, start=1)]
        return pd.DataFrame(rows, columns=["report", "signal", "low", "high"])

    def figure(self) -> Figure:
        from easeml.figures.overfitting import reading

        return reading(self.to_json())


@dataclass
class Meter:
    """A gauge of overfitting that shows ranges, and knows what each has given away.

    The promise: but for probability ``delta`` over the draw of the test set, every reading's range,
    widened by its tolerance (at most ``tolerance``), holds the true gap, whatever the developer
    does with readings and validation scores. The test set must be drawn independently of everything
    that the developer sees.

    Args:
        examples: size of the test set.
        edges: ascending edges of the ranges of the gap; m - 1 of them.
        tolerance, delta: the promise, each in (0, 1).
        reports: how many readings at most; needed for plain and monotone, for coded it makes early readings cheaper.
        mode: ``coded`` pays for a reading by the description length of what was shown, so that a quiet signal costs
            next to nothing; ``plain`` and ``monotone`` pay for all histories in advance.
        least_accuracy: what every model reaches in truth, if that is known: above 1/2 + tolerance it makes tolerances
            smaller, and the promise then holds for models that reach it.
    """

    examples: int
    edges: tuple[float, ...] = EDGES
    tolerance: float = 0.02
    delta: float = 0.01
    reports: int | None = None
    mode: Mode = "coded"
    least_accuracy: float = 0.0
    history: list[int] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    """Digest of what was submitted -> its signal: the same question again costs nothing."""

    def __post_init__(self) -> None:
        check_promise(self.tolerance, self.delta)
        check_counts(self.signals, self.reports)
        if self.mode not in MODES:
            raise InvalidInput(
                f"There is no mode {self.mode!r}.", where="mode", remedy=f"Use {', '.join(MODES)}."
            )
        if list(self.edges) != sorted(set(self.edges)) or not np.all(np.isfinite(self.edges)):
            raise InvalidInput("Edges must be finite and ascending.", where="edges")
        if self.mode != "coded" and self.reports is None:
            raise InvalidInput(
                f"Mode {self.mode} must know the number of reports.", where="reports"
            )
        if self._tolerance(History()) > self.tolerance:
            raise InvalidInput(
                f"{self.examples:,} test examples are too few for ±{self.tolerance:g} with delta {self.delta:g}.",
                where="examples",
                remedy=f"Label at least {self._least_examples():,}, or allow a larger tolerance.",
            )

    @property
    def signals(self) -> int:
        """Number of ranges."""
        return len(self.edges) + 1

    @property
    def exhausted(self) -> bool:
        """Whether the promise does not allow another report."""
        return self._tolerance() > self.tolerance

    def read(self, validation_quality: float, test_scores: ArrayLike) -> Reading:
        """Judge a model by its quality on validation data and its scores on the test examples.

        Args: validation_quality: mean score on the validation set, in [0, 1]. test_scores: one
            score in [0, 1] a test example, such as 1 where the prediction is right; shape
            (examples,).

        Raises: InvalidInput: if a score is missing or out of range, or their number is not that of
            the test set.
        """
        scores = self._checked(validation_quality, test_scores)
        key = _digest(validation_quality, scores)
        if key in self.shown:
            return self._reading(self.shown[key], repeated=True)
        if self.exhausted:
            return self._reading(None, repeated=False)
        tolerance = self._tolerance()
        signal = bisect_left(self.edges, validation_quality - float(scores.mean())) + 1
        if self.mode == "monotone" and self.history:
            signal = max(signal, self.history[-1])
        self.history.append(signal)
        self.shown[key] = signal
        return self._reading(signal, repeated=False, tolerance=tolerance)

    def to_json(self) -> dict[str, Any]:
        """Return the state in plain JSON values; ``Meter.from_json`` goes on from it.

        It holds no test label.
        """
        return {
            "examples": self.examples,
            "edges": list(self.edges),
            "tolerance": self.tolerance,
            "delta": self.delta,
            "reports": self.reports,
            "mode": self.mode,
            "least_accuracy": self.least_accuracy,
            "history": list(self.history),
            "shown": dict(self.shown),
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Meter:
        """Return the meter whose state this is.

        Raises:
            InvalidInput: if it is no state of a meter.
        """
        try:
            meter = cls(
                **{
                    **state,
                    "edges": tuple(map(float, state["edges"])),
                    "shown": dict(state["shown"]),
                }
            )
            signals = {int(signal) for signal in [*meter.history, *meter.shown.values()]}
        except (TypeError, KeyError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(
                "This is not the state of a meter.", remedy="Use what Meter.to_json gave."
            ) from error
        if signals - set(range(1, meter.signals + 1)):
            raise InvalidInput(
                "The state of the meter has signals that it does not know.", where="history"
            )
        return meter

    def _learned(self, history: History) -> float:
        """Return ln of the number of models to be covered, or the code length of the one after
        ``history``.
        """
        if self.mode == "coded":
            return code_length(history, self.signals, self.reports)
        return log_models(self.mode, self.signals, self.reports or 1)

    def _tolerance(self, history: History | None = None) -> float:
        """Return the tolerance of the report after ``history``; infinite if it is beyond the number
        of reports.
        """
        history = History.of(self.history) if history is None else history
        if self.reports is not None and history.reports >= self.reports:
            return inf
        return deviation(self._learned(history), self.examples, self.delta, self.least_accuracy)

    def _remaining(self) -> int | None:
        """Return how many more reports fit if the signal does not change; None beyond a million."""
        now = History.of(self.history)

        def fits(more: int) -> bool:
            return self._tolerance(replace(now, reports=now.reports + more - 1)) <= self.tolerance

        low, high = 0, 1
        while high <= 2**20 and fits(high):
            low, high = high, high * 2
        if high > 2**20:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def _least_examples(self) -> int:
        return size(self._learned(History()), self.tolerance, self.delta, self.least_accuracy)

    def _reading(
        self, signal: int | None, *, repeated: bool, tolerance: float | None = None
    ) -> Reading:
        bounds = (-inf, *self.edges, inf)
        return Reading(
            signal=signal,
            low=-inf if signal is None else bounds[signal - 1],
            high=inf if signal is None else bounds[signal],
            tolerance=self.tolerance if tolerance is None else tolerance,
            repeated=repeated,
            history=tuple(self.history),
            remaining=self._remaining(),
            edges=self.edges,
        )

    def _checked(self, quality: float, test_scores: ArrayLike) -> np.ndarray:
        try:
            scores = np.asarray(test_scores, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput("Scores must be numbers.", where="test_scores") from error
        if scores.shape != (self.examples,):
            raise InvalidInput(
                f"There must be one score for each of the {self.examples:,} test examples, not {scores.shape}.",
                where="test_scores",
            )
        if not np.all((scores >= 0) & (scores <= 1)):
            row = int(np.flatnonzero(~((scores >= 0) & (scores <= 1)))[0])
            raise InvalidInput(
                "A score must be a number in [0, 1].", where=f"test_scores, row {row}"
            )
        if not 0 <= quality <= 1:
            raise InvalidInput(
                f"Quality must be in [0, 1], not {quality}.", where="validation_quality"
            )
        return scores


def _digest(quality: float, scores: np.ndarray) -> str:
    return blake2b(np.float64(quality).tobytes() + scores.tobytes(), digest_size=12).hexdigest()


def union_tolerance(examples: int, reports: int, delta: float) -> float:
    """Return the tolerance of ``reports`` means fixed in advance: what plain reuse of a test set
    wrongly claims.
    """
    return deviation(log(reports), examples, delta)

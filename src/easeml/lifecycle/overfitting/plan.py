"""How large must the test set and the validation set be, for so many reports of the meter?"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting.histories import MODES, Mode, check_counts, log_histories
from easeml.lifecycle.overfitting.rounds import ladder_size, scores_size
from easeml.lifecycle.overfitting.sizes import (
    check_promise,
    deviation,
    hoeffding_size,
    log_count,
    published_reports,
    size,
    supported_reports,
)
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure


@dataclass(frozen=True)
class MeterOption:
    """One mode of the meter.

    ``size``: labelled test examples it needs; ``supported``: reports (in all) that the test set at
    hand allows, None where none was given.
    """

    mode: Mode
    learned: float
    """ln of the number of models that the signals can lead to."""
    size: int
    supported: int | None


@dataclass(frozen=True)
class Budget:
    """What a test set of ``examples`` allows by the published count of plain histories.

    Reports in all, and left.
    """

    examples: int
    used: int
    total: int
    remaining: int


@dataclass(frozen=True)
class MeterPlan(Result):
    """Sizes for a meter of ``signals`` ranges and ``reports`` reports.

    It is right up to ``tolerance`` but with probability ``delta``.

    ``non_adaptive``, ``plain``, ``monotone`` and ``one_bit`` are the published sizes of the test
    set; ``options`` are easeml's, by mode, each from a union bound over the models that can come
    up. ``default`` names the mode of the least size; in mode coded, the tolerance of readings grows
    to ``tolerance_after_change`` if the signal changes once more than planned. ``validation`` has
    the sizes of a validation set on which drift itself stays within the tolerance.
    """

    signals: int
    reports: int
    tolerance: float
    delta: float
    changes: int
    accuracy: float
    non_adaptive: int
    plain: int
    monotone: int
    one_bit: int
    options: tuple[MeterOption, ...]
    default: Mode
    tolerance_after_change: float
    validation: dict[str, int]
    budget: Budget | None

    @property
    def advice(self) -> str:
        best = next(option for option in self.options if option.mode == self.default)
        text = (
            f"Label {best.size:,} test examples and read the meter in mode {self.default}: "
            f"that is enough for {self.reports} reports right to ±{self.tolerance:g}"
        )
        if self.default == "coded":
            often = "without a change" if self.changes == 0 else f"with {self.changes} changes"
            text += (
                f" {often} of the signal, and to ±{self.tolerance_after_change:.3f} after one more"
            )
        text += f"; the published plain meter needs {self.plain:,}."
        if self.budget is not None:
            supported = max(option.supported or 0 for option in self.options)
            text += (
                f" The {self.budget.examples:,} examples at hand allow {supported:,} reports "
                "at best."
            )
        return text

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        published = [
            ("published, non-adaptive", self.non_adaptive),
            ("published, plain", self.plain),
            ("published, monotone", self.monotone),
            ("published, one bit", self.one_bit),
        ]
        rows = [
            {"meter": name, "test examples": count, "reports supported": None}
            for name, count in published
        ]
        rows += [
            {
                "meter": option.mode,
                "test examples": option.size,
                "reports supported": option.supported,
            }
            for option in self.options
        ]
        return pd.DataFrame(rows)

    def figure(self) -> Figure:
        from easeml.figures.overfitting import meter_plan

        return meter_plan(self.to_json())


def plan(
    signals: int = 5,
    reports: int = 10,
    tolerance: float = 0.02,
    delta: float = 0.01,
    *,
    changes: int = 0,
    accuracy: float = 0.5,
    examples: int | None = None,
    used: int = 0,
) -> MeterPlan:
    """Plan a meter.

    Args:
        signals: number of ranges (m >= 1). reports: how often the meter will be read (T >= 1).
            tolerance: how far a reported range may be off at its edges, in (0, 1), as a share of
            accuracy. delta: probability that any report is off by more, in (0, 1). changes: for
            mode coded, how often the signal may change before the tolerance grows. accuracy: about
            what models reach on the test set; sizes are largest at 0.5, and the promise does not
            depend on it. examples: size of the test set at hand, to see what it supports; ``used``:
            reports it has given already.

    Published sizes: ``(ln(histories) + ln(2 / delta)) / (2 tolerance**2)``, with T histories where
    the developer does not look (a union over reports), ``m**T``, ``C(T + m - 1, T)`` and ``2**T``
    (ease.ml/meter; Hubis, Wu, Zhang 2019).
    """
    check_counts(signals, reports)
    check_promise(tolerance, delta)
    if not 0 <= accuracy <= 1:
        raise InvalidInput(f"accuracy must be in [0, 1], not {accuracy}.", where="accuracy")
    promise = {"tolerance": tolerance, "delta": delta, "accuracy": accuracy}
    options = []
    for mode in MODES:
        learned = log_count(mode, signals, reports, changes)
        supported = None
        if examples is not None:
            supported = supported_reports(
                examples, mode=mode, signals=signals, changes=changes, **promise
            )
        options.append(MeterOption(mode, learned, size(learned, **promise), supported))
    best = min(options, key=lambda option: option.size)
    changed = log_count("coded", signals, reports, changes + 1)

    def published(log_histories: float) -> int:
        return hoeffding_size(log_histories, tolerance, delta)

    return MeterPlan(
        signals=signals,
        reports=reports,
        tolerance=tolerance,
        delta=delta,
        changes=changes,
        accuracy=accuracy,
        non_adaptive=published(log(reports)),
        plain=published(log_histories("plain", signals, reports)),
        monotone=published(log_histories("monotone", signals, reports)),
        one_bit=published(log_histories("plain", 2, reports)),
        options=tuple(options),
        default=best.mode,
        tolerance_after_change=deviation(changed, best.size, delta, accuracy),
        validation={
            "non_adaptive": published(log(reports)),
            "ladder": ladder_size(reports, tolerance, delta),
            "full_scores": scores_size(reports, tolerance, delta),
        },
        budget=None if examples is None else budget(examples, signals, tolerance, delta, used),
    )


def budget(examples: int, signals: int, tolerance: float, delta: float, used: int = 0) -> Budget:
    """Return how many plain reports a test set supports by the published count, and what is left."""
    total = published_reports(examples, signals, tolerance, delta)
    return Budget(examples=examples, used=used, total=total, remaining=max(0, total - used))

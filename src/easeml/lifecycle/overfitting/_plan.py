"""How large must the test set and the validation set be, for so many reports of the meter?"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from easeml.lifecycle.overfitting._histories import MODES, Mode, check_counts, log_histories
from easeml.lifecycle.overfitting._rounds import ladder_size, scores_size
from easeml.lifecycle.overfitting._sizes import check_promise, log_count, size, supported_reports
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure


@dataclass(frozen=True)
class MeterOption:
    """One mode of the meter. ``size``: labelled test examples it needs; ``supported``: reports (in
    all) that the test set at hand allows, None where none was given."""

    mode: Mode
    learned: float
    """ln of the number of models that the signals can lead to."""
    size: int
    supported: int | None


@dataclass(frozen=True)
class Budget:
    """What a test set of ``examples`` allows by the published count of plain histories: reports in
    all, and left.
    """

    examples: int
    used: int
    total: int
    remaining: int


@dataclass(frozen=True)
class MeterPlan(Result):
    """Sizes for a meter of ``signals`` ranges and ``reports`` reports, right up to ``tolerance``
    but with probability ``delta``.

    ``non_adaptive``, ``plain``, ``monotone`` and ``one_bit`` are the published sizes of the test
    set; ``options`` are easeml's, by mode, each from a union bound over the models that can come
    up. ``default`` names the mode of the least size. ``validation`` has the sizes of a validation
    set on which drift itself stays within the tolerance.
    """

    signals: int
    reports: int
    tolerance: float
    delta: float
    changes: int
    least_accuracy: float
    non_adaptive: int
    plain: int
    monotone: int
    one_bit: int
    options: tuple[MeterOption, ...]
    default: Mode
    validation: dict[str, int]
    budget: Budget | None

    @property
    def advice(self) -> str:
        best = next(option for option in self.options if option.mode == self.default)
        text = (
            f"Label {best.size:,} test examples and read the meter in mode {self.default}: that is enough for "
            f"{self.reports} reports right to ±{self.tolerance:g}"
        )
        if self.default == "coded":
            text += f" with no more than {self.changes} changes of the signal"
        text += f"; the published plain meter needs {self.plain:,}."
        if self.budget is not None:
            supported = max(option.supported or 0 for option in self.options)
            text += f" The {self.budget.examples:,} examples at hand allow {supported:,} reports at best."
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
    changes: int = 1,
    least_accuracy: float = 0.0,
    examples: int | None = None,
    used: int = 0,
) -> MeterPlan:
    """Plan a meter.

    Args:
        signals: number of ranges (m >= 1).
        reports: how often the meter will be read (T >= 1).
        tolerance: how far a reported range may be off at its edges, in (0, 1), as a share of accuracy.
        delta: probability that any report is off by more, in (0, 1).
        changes: for mode coded, how often the signal is expected to change.
        least_accuracy: what every model that matters reaches in truth; above 1/2 + tolerance it makes the sizes
            smaller, and the promise holds for models that reach it.
        examples: size of the test set at hand, to see what it supports; ``used``: reports it has given already.

    Published sizes: ``(ln(histories) + ln(2 / delta)) / (2 tolerance**2)``, with T histories where
    the developer does not look (a union over reports), ``m**T``, ``C(T + m - 1, T)`` and ``2**T``
    (ease.ml/meter; Hubis, Wu, Zhang 2019).
    """
    check_counts(signals, reports)
    check_promise(tolerance, delta)
    counts = {mode: log_count(mode, signals, reports, changes) for mode in MODES}
    sizes = {mode: size(count, tolerance, delta, least_accuracy) for mode, count in counts.items()}
    supported: dict[Mode, int | None] = {
        mode: None
        if examples is None
        else supported_reports(
            examples, mode=mode, signals=signals, tolerance=tolerance, delta=delta, changes=changes
        )
        for mode in MODES
    }
    return MeterPlan(
        signals=signals,
        reports=reports,
        tolerance=tolerance,
        delta=delta,
        changes=changes,
        least_accuracy=least_accuracy,
        non_adaptive=size(log(reports), tolerance, delta),
        plain=size(log_histories("plain", signals, reports), tolerance, delta),
        monotone=size(log_histories("monotone", signals, reports), tolerance, delta),
        one_bit=size(log_histories("plain", 2, reports), tolerance, delta),
        options=tuple(
            MeterOption(mode, counts[mode], sizes[mode], supported[mode]) for mode in MODES
        ),
        default=min(MODES, key=lambda mode: sizes[mode]),
        validation={
            "non_adaptive": size(log(reports), tolerance, delta),
            "ladder": ladder_size(reports, tolerance, delta),
            "full_scores": scores_size(reports, tolerance, delta),
        },
        budget=None if examples is None else budget(examples, signals, tolerance, delta, used),
    )


def budget(examples: int, signals: int, tolerance: float, delta: float, used: int = 0) -> Budget:
    """Return how many plain reports a test set supports by the published count, and how many are
    left.
    """
    total = supported_reports(
        examples, signals=signals, tolerance=tolerance, delta=delta, published=True
    )
    return Budget(examples=examples, used=used, total=total, remaining=max(0, total - used))

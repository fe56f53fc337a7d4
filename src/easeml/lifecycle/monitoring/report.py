"""What the monitor says about a batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from easeml.lifecycle.monitoring.alerts import AlertRules, Status
from easeml.lifecycle.monitoring.backtest import Trust
from easeml.lifecycle.monitoring.drift import DriftTest
from easeml.lifecycle.monitoring.estimators import Estimates
from easeml.lifecycle.monitoring.shift import Shift
from easeml.lifecycle.monitoring.tracking import Offset
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

CAUSES = {"covariate": "inputs", "prior": "predictions", "concept": "what is right"}
ASSUMPTION = "the same inputs still mean the same, which only labels can show"


@dataclass(frozen=True)
class MonitorReport(Result):
    """One batch. ``score``: the estimated quality, with its interval ``low`` to ``high`` at
    ``level``; where ``status`` is "cannot tell" it is a guess, and ``reasons`` say why.
    ``reference``: the quality when the monitor was fitted; ``labelled``: the quality by queried
    labels alone; ``separation`` and ``overlap``: how far the inputs have moved; ``assumes``: what
    score and interval rest on and the data cannot show (concept drift), None once labels were told.
    """

    batch: int
    rows: int
    status: Status
    reasons: tuple[str, ...]
    score: float
    low: float
    high: float
    level: float
    reference: float
    labelled: float | None
    estimates: Estimates
    separation: float
    overlap: float
    trust: float
    drift: tuple[DriftTest, ...]
    assumes: str | None

    @property
    def advice(self) -> str:
        interval = f"{self.score:.3f} ({self.low:.3f} to {self.high:.3f}), on reference rows {self.reference:.3f}"
        moved = [CAUSES[test.kind] for test in self.drift if test.alarm]
        tail = f" Drift in {', '.join(moved)}." if moved else ""
        if self.status == "cannot tell":
            return f"Cannot tell how good the model is: {'; '.join(self.reasons)}. Label some rows (choose).{tail}"
        condition = f" This holds if {self.assumes}." if self.assumes else ""
        if self.status == "alert":
            return f"The model got worse: quality is {interval}. Check the data, and train again.{tail}{condition}"
        if self.status == "watch":
            return f"Quality is {interval}: no reason to act yet.{tail} Labels of some rows would make sure.{condition}"
        return f"Quality is {interval}: nothing to do.{condition}"

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "batch": self.batch,
                    "rows": self.rows,
                    "status": self.status,
                    "score": self.score,
                    "low": self.low,
                    "high": self.high,
                    "reference": self.reference,
                    "labelled": self.labelled,
                    **{
                        f"{test.kind} drift": None if test.p_value is None else test.alarm
                        for test in self.drift
                    },
                    "separation": self.separation,
                    "overlap": self.overlap,
                }
            ]
        )

    def figure(self) -> Figure:
        from easeml.figures.monitoring import monitored

        return monitored([self.to_json()])


def decide(
    *,
    batch: int,
    rows: int,
    base: float,
    found: Estimates,
    shift: Shift,
    tests: tuple[DriftTest, ...],
    offset: Offset,
    label: float | None,
    trust: Trust,
    beyond: float,
    rules: AlertRules,
) -> MonitorReport:
    """Join estimates, labels and tests to one score, its interval, and a status.

    The interval adds chance (of batch, reference and weights), what back-testing could not explain
    (or what labels left open), the disagreement of the estimators, and ``beyond`` for a shift
    greater than all that was tried.
    """
    from scipy.stats import norm, t

    score = min(1.0, max(0.0, base + offset.mean))
    disagreement = 0.0 if offset.labelled else abs(found.importance - found.error_model) / 2
    variance = found.spread**2 + offset.variance + disagreement**2 + beyond**2
    quantile = (
        t(trust.blocks - 1) if trust.blocks > 2 and max(trust.drift, trust.step) > 0 else norm
    )
    half = float(quantile.ppf(0.5 + rules.level / 2)) * sqrt(variance)
    reasons = _doubts(half, shift, trust, rules, offset)
    alarmed = any(test.alarm for test in tests)
    status: Status = "watch" if alarmed else "ok"
    if reasons:
        status = "cannot tell"
    elif rules.judge(score, score + half, found.constant):
        status = "alert"
    return MonitorReport(
        batch=batch,
        rows=rows,
        status=status,
        reasons=reasons,
        score=score,
        low=max(0.0, score - half),
        high=min(1.0, score + half),
        level=rules.level,
        reference=found.constant,
        labelled=label,
        estimates=found,
        separation=shift.separation,
        overlap=shift.overlap,
        trust=trust.share,
        drift=tests,
        assumes=None if offset.labelled else ASSUMPTION,
    )


def _doubts(
    half: float, shift: Shift, trust: Trust, rules: AlertRules, offset: Offset
) -> tuple[str, ...]:
    """Return why the score cannot be relied on; labels lift every doubt but that of a wide
    interval.
    """
    doubts: list[str] = []
    if half > rules.widest:
        doubts.append(f"the interval is wider than ±{rules.widest:g}")
    if not offset.labelled and shift.overlap < rules.least_overlap:
        doubts.append(f"only {shift.overlap:.0f} reference rows resemble these")
    if not offset.labelled and shift.separation > max(rules.most_separation, trust.separation):
        doubts.append("these rows are unlike the reference")
    return tuple(doubts)

"""What the monitor says about a batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from easeml.lifecycle.monitoring.alerts import AlertRules, Status
from easeml.lifecycle.monitoring.backtest import Trust
from easeml.lifecycle.monitoring.drawn import Claim
from easeml.lifecycle.monitoring.drift import DriftTest
from easeml.lifecycle.monitoring.estimators import Estimates
from easeml.lifecycle.monitoring.selection import Selection
from easeml.lifecycle.monitoring.shift import Shift
from easeml.lifecycle.monitoring.tracking import Offset
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

PLAINLY = 2.0  # times; by less the estimate that also knows the rows is nearer than it promises
CAUSES = {"covariate": "inputs", "prior": "predictions", "concept": "what is right (concept drift)"}
ASSUMPTION = (
    "the same inputs still mean the same, or answers only come in other shares, which only labels "
    "can show"
)
UNKNOWN_SHARES = "the rows do not tell how common each answer is by now, which matters here"
TWO_SIDED = 1.96


@dataclass(frozen=True)
class Blind:
    """What rows tell without labels.

    ``base``: the estimated quality; ``found``: the estimates it is made of; ``chances``: of each
    row to be right (n,); ``doubt``: standard deviation of ``base`` if inputs mean what they meant;
    ``beyond``: the part of it for a shift greater than all that was tried; ``unexplained``: what
    back-testing left open; ``by_shares``: the interval of the quality if rows of a class look as
    they did, and only the shares of the classes have changed (None: something else has, or it is not
    known).
    """

    base: float
    found: Estimates
    chances: np.ndarray
    shift: Shift
    beyond: float
    unexplained: Offset
    doubt: float
    by_shares: tuple[float, float] | None = None

    @property
    def least(self) -> float:
        """The least quality that the rows let expect."""
        return min(1.0, max(0.0, self.base - TWO_SIDED * self.doubt))

    @property
    def least_chance(self) -> float:
        """The least mean chance to be right that the rows let expect.

        It is more than ``least``: that allows for luck as well.
        """
        luck = float(np.mean(self.chances * (1 - self.chances))) / len(self.chances)
        doubt = sqrt(max(0.0, self.doubt**2 - luck))
        return min(1.0, max(0.0, self.base - TWO_SIDED * doubt))


@dataclass(frozen=True)
class Told:
    """What ``labels`` alone say of a batch's quality, and its standard error.

    ``hidden``: how far off it may be because of rows whose truth has not come.
    """

    quality: float
    error: float
    labels: int
    hidden: float = 0.0

    def half_width(self, level: float) -> float:
        """Return half the width of the interval of the quality."""
        from scipy.stats import norm

        return float(norm.ppf(0.5 + level / 2)) * self.error + self.hidden


@dataclass(frozen=True)
class MonitorReport(Result):
    """What is said of one batch.

    ``score``: the estimated quality, with its interval ``low`` to ``high`` at ``level``; where
    ``status`` is "cannot tell" it is a guess, and ``reasons`` say why.

    ``reference``: the quality when the monitor was fitted; ``labelled``: the quality by queried
    labels alone; ``separation`` and ``overlap``: how far the inputs have moved; ``unlabelled`` and
    ``days``: rows, and days where they are known, since the last labels; ``needed``: labels of rows
    drawn at random that show a fall of quality by ``shown``, on average; ``assumes``: what score
    and interval rest on and the data cannot show (concept drift), None once labels were told;
    ``claims``: what became of claims that rows were drawn at random.
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
    unlabelled: int
    days: int | None
    needed: int
    shown: float
    assumes: str | None
    told: int = 0
    claims: tuple[Claim, ...] = ()

    @property
    def advice(self) -> str:
        """What was found, what it rests on, and what to do next."""
        condition = f"If {self.assumes}, the" if self.assumes else "The"
        sentences = {
            "ok": f"The share that is right is {self._interval}: nothing to do.",
            "inputs as before": f"Inputs as before; {self._unknown}. {condition} share that is "
            f"right is {self._interval}. {self._ask}",
            "watch": f"The share that is right is {self._interval}: no reason to act yet.",
            "alert": f"The model got worse: the share that is right is {self._interval}. "
            "Check the data, and train again.",
            "cannot tell": f"Cannot tell how good the model is: {'; '.join(self.reasons)}. "
            f"{self._ask}",
        }
        parts = [sentences[self.status]]
        moved = [CAUSES[test.kind] for test in self.drift if test.alarm]
        if moved:
            parts.append(f"Drift in {', '.join(moved)}.")
        if self.status == "watch":
            parts.append(self._ask)
        if self.assumes and self.status in ("watch", "alert"):
            parts.append(f"This holds if {self.assumes}.")
        return " ".join(parts)

    @property
    def _interval(self) -> str:
        return (
            f"{self.score:.3f} ({self.low:.3f} to {self.high:.3f}), "
            f"on reference rows {self.reference:.3f}"
        )

    @property
    def _unknown(self) -> str:
        if self.labelled is not None:
            return f"but the {self.told} labels do not rule out a fall of {self.shown:g}"
        if self.days is not None:
            return f"concept unknown since {self.days} days without labels"
        return f"concept unknown since {self.unlabelled} rows without labels"

    @property
    def _ask(self) -> str:
        return (
            f"The right answers of about {self.needed} rows, drawn at random, would show a fall of "
            f"{self.shown:g}."
        )

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        row = {
            "batch": self.batch,
            "rows": self.rows,
            "status": self.status,
            "score": self.score,
            "low": self.low,
            "high": self.high,
            "reference": self.reference,
            "labelled": self.labelled,
        }
        for test in self.drift:
            row[f"{test.kind} drift"] = None if test.p_value is None else test.alarm
        row["separation"] = self.separation
        row["overlap"] = self.overlap
        return pd.DataFrame([row])

    def figure(self) -> Figure:
        from easeml.figures.monitoring import monitored

        return monitored([self.to_json()])


def decide(
    *,
    batch: int,
    rows: int,
    blind: Blind,
    told: Told | None,
    tests: tuple[DriftTest, ...],
    offset: Offset,
    trust: Trust,
    rules: AlertRules,
    unlabelled: int,
    days: int | None,
    needed: int,
    selection: Selection,
    claims: tuple[Claim, ...],
) -> MonitorReport:
    """Join estimates, labels and tests to one score, its interval, and a status.

    The interval adds chance (of batch, reference and weights), what back-testing could not explain
    (or what labels left open), and doubt for a shift greater than all that was tried. Where labels
    of these very rows alone tell twice as closely, they alone tell. Before any labels it also has
    what the quality is if only the shares of the classes have changed. An alert does not rest on
    whose truth came: it holds if all other rows are right, and "ok" if all are wrong. Where concept
    drift is proven, nothing that the estimate cannot tell is in its way.
    """
    score, half = _estimated(blind, offset, trust, told, rules.level)
    low, high = max(0.0, score - half), min(1.0, score + half)
    if blind.by_shares is not None and not offset.labelled:
        low, high = min(low, blind.by_shares[0]), max(high, blind.by_shares[1])
    reasons = _doubts(half, blind.shift, trust, rules, offset)
    reference = blind.found.constant
    rules_falls_out = told is not None and selection.at_worst(low) > reference - rules.shown
    is_proven = any(map(_shows_concept, tests))
    is_alert = rules.judge(score, high, reference)
    is_alert = is_alert and (is_proven or selection.is_alert(rules, score, high, reference))
    if not (is_alert or is_proven):
        reasons = (*reasons, *selection.reasons)
    if half <= rules.widest < (high - low) / 2:
        reasons = (*reasons, UNKNOWN_SHARES)
    if is_proven:  # how much worse it got may be hard to tell, but that it did is not
        is_alert, reasons = is_alert or reasons != (), ()
        if rules.judge(*selection.best, reference):
            best, highest = selection.best
            score, high = min(score, best), min(high, highest)
            is_alert, low = True, max(0.0, min(low, 2 * score - highest))
    return MonitorReport(
        batch=batch,
        rows=rows,
        status=_status(reasons, is_alert, rules_falls_out, tests),
        reasons=reasons,
        score=score,
        low=low,
        high=high,
        level=rules.level,
        reference=reference,
        labelled=None if told is None else told.quality,
        estimates=blind.found,
        separation=blind.shift.separation,
        overlap=blind.shift.overlap,
        trust=trust.share,
        drift=tests,
        unlabelled=unlabelled,
        days=days,
        needed=needed,
        shown=rules.shown,
        assumes=None if offset.labelled and told is not None else ASSUMPTION,
        told=0 if told is None else told.labels,
        claims=claims,
    )


def _estimated(
    blind: Blind, offset: Offset, trust: Trust, told: Told | None, level: float
) -> tuple[float, float]:
    """Return the estimated quality, and half the width of its interval."""
    score = min(1.0, max(0.0, blind.base + offset.mean))
    half = _half_width(blind, offset, trust, level)
    if told is None:
        return score, half
    by_labels = told.half_width(level)
    if by_labels >= half / PLAINLY:
        return score, half
    return told.quality, by_labels


def _shows_concept(test: DriftTest) -> bool:
    return test.alarm and test.kind == "concept"


def _half_width(blind: Blind, offset: Offset, trust: Trust, level: float) -> float:
    """Return half the width of the interval."""
    from scipy.stats import norm, t

    variance = blind.found.spread**2 + offset.variance
    if not offset.labelled:
        disagreement = abs(blind.found.importance - blind.found.error_model) / 2
        variance += disagreement**2 + blind.beyond**2
    estimated = trust.blocks > 2 and max(trust.drift, trust.step) > 0
    quantile = t(trust.blocks - 1) if estimated else norm
    return float(quantile.ppf(0.5 + level / 2)) * sqrt(variance)


def _status(
    reasons: tuple[str, ...], is_alert: bool, rules_falls_out: bool, tests: tuple[DriftTest, ...]
) -> Status:
    if reasons:
        return "cannot tell"
    if is_alert:
        return "alert"
    if any(test.alarm for test in tests):
        return "watch"
    # Without labels of this batch, or with too few, nothing shows what the same inputs mean today.
    return "ok" if rules_falls_out else "inputs as before"


def _doubts(
    half: float, shift: Shift, trust: Trust, rules: AlertRules, offset: Offset
) -> tuple[str, ...]:
    """Return why the score cannot be relied on.

    Labels lift every doubt but that of a wide interval.
    """
    doubts: list[str] = []
    if half > rules.widest:
        doubts.append(f"the interval is wider than ±{rules.widest:g}")
    if offset.labelled:
        return tuple(doubts)
    if shift.overlap < rules.least_overlap:
        alike = round(shift.overlap)
        rows = "row resembles" if alike == 1 else "rows resemble"
        doubts.append(f"only {alike} reference {rows} these")
    if shift.separation > max(rules.most_separation, trust.separation):
        doubts.append("these rows are unlike the reference")
    return tuple(doubts)

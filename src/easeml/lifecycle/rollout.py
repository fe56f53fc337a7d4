"""Rolling a model out: is the new one, on live requests, at least not worse than the one that serves?

Both models predict each request; one of them answers. Where the truth comes, the difference is put
to two bets that may be looked at after every request (Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting", JRSS B 2024, section 4). One is on the new model being worse
by less than a tolerance: the more it wins, the more requests the new model answers. The other is on
the new model being worse: if it wins, the new model is taken back.

Truth that comes more often of wrong answers (people complain) would favour the model that answers
fewer requests. So where both answer some, a request counts by the inverse of the chance that the
model that answered it did: what people complain about then weighs alike on both sides. Rows of one
request are answered by one model, so a request is one bet. In a shadow one model answers all, and
nothing can be weighed: if that model does much worse on the rows whose truth came than it is known
to do, the shadow does not go live.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.betting import ladder_of_bets
from easeml.lifecycle.labels import class_name

GOES_ON, LIVE, TAKEN_BACK = "goes on", "live", "taken back"
MOST_FAILURES = 3
"""Requests that the new model may fail on which the old one answered; then it is taken back."""

_BETS = ladder_of_bets(1 / 64, 1.0)
_SELECTIVE_CHANCE = 0.001
_MARGIN = 0.05  # of quality that may differ between the rows of a search and those that come
_LEAST_NATS = 0.2  # of evidence from which on its growth tells how much is to come


@dataclass(frozen=True, slots=True)
class Plan:
    """How a model is rolled out.

    ``shares``: of the requests that it answers at first and then, rising, in (0, 1); empty: the old
    model answers all until the end (a shadow). ``tolerance``: by how much it may be worse, as a
    mean difference of quality in [0, 1]. ``reliability``: one minus the chance of each error.
    """

    shares: tuple[float, ...] = ()
    tolerance: float = 0.02
    reliability: float = 0.95

    def __post_init__(self) -> None:
        """Raise ``InvalidInput`` for what is no plan."""
        if list(self.shares) != sorted(set(self.shares)):
            raise InvalidInput("The shares have to rise.", where="shares", remedy="0.1, 0.25, 0.5")
        if not all(0 < share < 1 for share in self.shares):
            raise InvalidInput("A share lies between 0 and 1.", where="shares")
        if not 0 < self.tolerance < 1:
            raise InvalidInput("A tolerance lies between 0 and 1.", where="tolerance")
        if not 0.5 <= self.reliability < 1:
            raise InvalidInput("A reliability lies between 0.5 and 1.", where="reliability")

    @property
    def nats(self) -> float:
        """The evidence that decides."""
        return -math.log(1 - self.reliability)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one request whose truth is known.

    ``gain``: quality of the new model less that of the old, the mean over its rows, in [-1, 1].
    ``before``: quality of the old model, likewise, in [0, 1]. ``share``: the chance that the new
    model would answer it; ``by_new``: whether it did. ``shown``: the gain in the unit of the
    objective, where ``gain`` is weighted for the bets. ``part``: what it counts beside others of its
    class, in (0, 1]; see ``rounds``.
    """

    gain: float
    before: float = 1.0
    share: float = 0.0
    by_new: bool = False
    shown: float | None = None
    part: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the requests told so far.

    ``fine``, ``worse``: log wealth of each bet on the new model being not worse than tolerated, and
    on its being worse; empty before the first. ``peak``: the most that all bets on the first have
    ever been worth, in nats. ``better``, ``worse_off``, ``alike``: numbers of requests. ``before``:
    sum of the quality of the old model; ``gained``: of the gains. Where each class counts alike
    (``rounds``), ``classes``: of each how many rows came, and on how many the old model was right;
    ``waiting``: the counts of rows whose round has not ended, by share and class.
    """

    fine: tuple[float, ...] = ()
    worse: tuple[float, ...] = ()
    peak: float = 0.0
    better: int = 0
    worse_off: int = 0
    alike: int = 0
    failures: int = 0
    before: float = 0.0
    gained: float = 0.0
    classes: dict[str, list[int]] = field(default_factory=dict)
    waiting: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """How many requests have told something."""
        return self.better + self.worse_off + self.alike


def weight(outcome: Outcome) -> float:
    """Return how much a request counts, in (0, 1]: more, the rarer its model answers.

    Where one model answers all, that is its part in the rows of its class.
    """
    if not 0 < outcome.share < 1:
        return outcome.part
    own = outcome.share if outcome.by_new else 1 - outcome.share
    return outcome.part * min(1.0, (1 - own) / own)


def told(plan: Plan, evidence: Evidence, outcomes: Iterable[Outcome]) -> Evidence:
    """Return the evidence after more requests, in the order in which their truth came.

    Raises ``InvalidInput`` for a gain that is not between -1 and 1.
    """
    for outcome in outcomes:
        evidence = _after(plan, evidence, outcome)
    return evidence


def _after(plan: Plan, evidence: Evidence, outcome: Outcome) -> Evidence:
    gain = outcome.gain
    if not -1 <= gain <= 1:
        raise InvalidInput(f"A gain lies between -1 and 1, not at {gain}.", where="gain")
    counts = weight(outcome)
    shown = gain if outcome.shown is None else outcome.shown
    fine = _bet(evidence.fine, counts * (gain + plan.tolerance))
    return replace(
        evidence,
        fine=fine,
        worse=_bet(evidence.worse, -counts * gain),
        peak=max(evidence.peak, _nats(fine)),
        better=evidence.better + (gain > 0),
        worse_off=evidence.worse_off + (gain < 0),
        alike=evidence.alike + (gain == 0),
        before=evidence.before + outcome.before,
        gained=evidence.gained + shown,
    )


def failed(evidence: Evidence, number: int) -> Evidence:
    """Return the evidence after requests that the new model failed on and the old one answered."""
    return replace(evidence, failures=evidence.failures + number)


def verdict(plan: Plan, evidence: Evidence, expected: float = 0.0) -> str:
    """Return whether the roll-out goes on, or how it ends.

    ``expected``: what quality the old model is known to have; 0 where it is not known.

    A model that is worse by more than the tolerance ever goes live with probability 1 - reliability
    at most, and one that is not worse is ever taken back by the bets with that probability at most
    (Ville's inequality), however often one looks.
    """
    if evidence.failures >= MOST_FAILURES or is_worse(plan, evidence):
        return TAKEN_BACK
    if evidence.peak >= plan.nats and not is_selective(plan, evidence, expected):
        return LIVE
    return GOES_ON


def is_worse(plan: Plan, evidence: Evidence) -> bool:
    """Tell whether the bet that the new model is worse has won."""
    return _nats(evidence.worse) >= plan.nats


def is_selective(plan: Plan, evidence: Evidence, expected: float) -> bool:
    """Tell whether the truth seems to come mostly of wrong answers, where that would mislead.

    The old model does worse on these rows than ``expected``, by more than a margin and chance
    (Hoeffding's bound). The world may also have changed: the rows do not tell which. Shares of
    requests are misled only where each class counts alike: the class of which more wrong answers
    are told has more rows, and each weighs less.
    """
    is_fair = bool(plan.shares) and not evidence.classes
    if is_fair or not evidence.requests:
        return False
    known, rows = _quality_before(evidence)
    chance = math.sqrt(-math.log(_SELECTIVE_CHANCE) / (2 * rows))
    return known + chance < expected - _MARGIN


def _quality_before(evidence: Evidence) -> tuple[float, float]:
    """Return the mean quality of the old model, and of how many rows it is as sure as a mean.

    Where each class counts alike, that is the mean over classes, which few rows of one make unsure.
    """
    if not evidence.classes:
        return evidence.before / evidence.requests, evidence.requests
    rows, right = np.array(list(evidence.classes.values())).T
    variance = np.sum(1 / rows) / len(rows) ** 2
    return float(np.mean(right / rows)), float(1 / variance)


def share_now(plan: Plan, evidence: Evidence) -> float:
    """Return the share of requests that the new model answers.

    The shares and the end cut the evidence into equal parts. So a model that is worse than
    tolerated ever gets the k-th of K shares with probability ``(1 - reliability)**((k - 1) / K)``
    at most.
    """
    if not plan.shares:
        return 0.0
    place = int(len(plan.shares) * evidence.peak / plan.nats + 1e-9)
    return plan.shares[min(place, len(plan.shares) - 1)]


def chance_if_worse(evidence: Evidence) -> float:
    """Return the greatest chance of so good a record for a model that is worse than tolerated."""
    return math.exp(-evidence.peak)


def chance_if_not_worse(evidence: Evidence) -> float:
    """Return the greatest chance of so bad a record as now for a model that is not worse."""
    return min(1.0, math.exp(-_nats(evidence.worse)))


def requests_to_come(plan: Plan, evidence: Evidence) -> int | None:
    """Estimate how many more requests with truth decide, at the rate so far.

    None where the evidence is too little to say.
    """
    most = max(_nats(evidence.fine), _nats(evidence.worse))
    if most < _LEAST_NATS or not evidence.requests:
        return None
    rate = most / evidence.requests
    return max(1, math.ceil((plan.nats - most) / rate))


def why(plan: Plan, evidence: Evidence, expected: float = 0.0) -> str:
    """Return what the requests say so far, in a sentence. ``expected``: as of ``verdict``."""
    if evidence.failures >= MOST_FAILURES:
        return f"It failed on {evidence.failures} requests that the previous model could answer."
    judged = {True: "requests", False: "rows"}[bool(plan.shares)]
    counted = (
        f"better on {evidence.better:,}, worse on {evidence.worse_off:,} and equal on "
        f"{evidence.alike:,} of {evidence.requests:,} {judged}"
    )
    if evidence.classes:
        counted = f"{counted}, where each class counts equally"
    answer = verdict(plan, evidence, expected)
    if answer != TAKEN_BACK and is_selective(plan, evidence, expected):
        known, _ = _quality_before(evidence)
        remedy = "They cannot judge a shadow. Compare by shares."
        if evidence.classes:
            remedy = "They cannot judge the models. Report the truth of right answers as well."
        return (
            f"The truth seems to come mostly for wrong answers, or the world has changed: the "
            f"live model has a quality of {known:.2g} on these rows instead of {expected:.2g}. "
            f"{remedy}"
        )
    if answer == TAKEN_BACK:
        chance = chance_if_not_worse(evidence)
        return f"It is worse: {counted} (p = {chance:.2g})."
    chance = chance_if_worse(evidence)
    if answer == LIVE:
        return f"It is not worse by more than {plan.tolerance:g}: {counted} (p = {chance:.2g})."
    if not evidence.requests:
        return "No reported truth tells them apart yet."
    return f"So far it is {counted} (p = {chance:.2g} for being worse by {plan.tolerance:g})."


def promise(plan: Plan) -> str:
    """Return what a plan promises, in a sentence."""
    chance = 1 - plan.reliability
    how = "Both models predict; the old one answers."
    if plan.shares:
        shares = ", ".join(f"{share:.0%}" for share in plan.shares)
        how = f"The new model answers {shares} of the requests, then all."
    return (
        f"{how} However often you look: a model whose quality is lower by more than "
        f"{plan.tolerance:g} goes live with a probability of at most {chance:.2g}, and a model "
        f"that is not worse is withdrawn with a probability of at most {chance:.2g}."
    )


def quality_of_class(said: object, true: object) -> float:
    """Return 1 where a prediction is right, else 0; None is a model that failed.

    Classes compare by ``class_name``.
    """
    return float(class_name(said) == class_name(true))


def quality_of_number(said: float | None, true: float, scale: float, power: int = 1) -> float:
    """Return 1 less the error of a prediction as a share of ``scale``, the largest that counts.

    Greater errors count as that, and so does a model that failed (None). ``power``: of the share.
    """
    if said is None:
        return 0.0
    return 1 - (min(abs(said - true), scale) / scale) ** power


def _bet(wealth: tuple[float, ...], value: float) -> tuple[float, ...]:
    before = np.array(wealth) if wealth else np.zeros(len(_BETS.sizes))
    return tuple((before + np.log1p(_BETS.sizes * value)).tolist())


def _nats(wealth: tuple[float, ...]) -> float:
    """Return the logarithm of what all bets are worth together."""
    if not wealth:
        return 0.0
    return float(np.logaddexp.reduce(np.array(wealth) + np.log(_BETS.weights)))

"""After a release: does the truth show that the model that was replaced would have been better?

The released model answers all requests; where the truth comes, the replaced one predicts the row as
well. The gain is put to the bet of a roll-out on "the new model is worse" (``rollout``), which may
be looked at after every row.

Which rows have a truth may depend on the answers: people complain of wrong ones, a file comes one
class after the other. So rows count by runs, in the order in which they were asked: a run counts as
soon as nearly all of its truth is there, and a row of it whose truth is not there counts as if the
released model alone were right. No choice of rows within a run can then make it look worse.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from easeml.lifecycle.ci.betting import confidence_sequence
from easeml.lifecycle.rollout import Evidence, Outcome

RUN = 50
"""Rows of a run; it is longer where a class is rare and balanced accuracy counts."""

LEAST_KNOWN = 48
"""Of so many rows the truth has to be there before a run counts."""

MOST_ALIKE = 5
"""Rows of the same inputs that may speak against a released model, of those that came of late.

A program that sends one row again and again cannot decide alone: five losses are worth less than
any release has to lose.
"""

INTERVAL_LEVEL = 0.05


def reliability_of(reliability: float, number: int) -> float:
    """Return the reliability of the test of release ``number``, from 1.

    Of the chance of error ``1 - reliability`` it gets ``1 / (number (number + 1))``. The parts of
    all releases that there will ever be sum to 1, so the chance that any of them is returned from
    wrongly is as was said.
    """
    return 1 - (1 - reliability) / (number * (number + 1))


def whole_runs(known: Sequence[bool], run: int = RUN, *, waits: bool = False) -> list[int]:
    """Return the places of the first row of each run that counts.

    ``known``: of each row since the release, in the order of the requests, whether its truth came.
    ``run``: rows of a run, a multiple of 50. Rows at the end that make no run yet do not count.
    ``waits``: a run whose truth is not all there counts when the next one could as well.
    """
    starts = range(0, len(known) - run + 1, run)
    least = run // RUN * LEAST_KNOWN
    counts = [sum(known[start : start + run]) for start in starts]
    following = [*counts[1:], 0]
    found = []
    for start, count, after in zip(starts, counts, following, strict=False):
        needed = least
        if waits and after < least:
            needed = run
        if count >= needed:
            found.append(start)
    return found


def without_truth(distance: float) -> Outcome:
    """Return what a row counts as whose truth is not known: the best for the released model.

    ``distance``: between what the models say, as a difference of quality, in [0, 1].
    """
    return Outcome(distance, 0.0)


def interval(evidence: Evidence) -> tuple[float, float] | None:
    """Return an interval of the mean gain, of reliability .95 whenever one looks.

    It is known of classes, of which each gain is -1, 0, or 1; None for numbers, and without rows.
    """
    is_of_classes = evidence.gained == evidence.better - evidence.worse_off
    if not evidence.requests or not is_of_classes:
        return None
    counts = (evidence.worse_off, evidence.alike, evidence.better)
    gains = np.repeat((-1.0, 0.0, 1.0), counts)
    return confidence_sequence(gains, -1.0, 1.0, INTERVAL_LEVEL)


def qualities(evidence: Evidence) -> tuple[float, float] | tuple[None, None]:
    """Return the mean quality of the released and of the replaced model; None without rows."""
    if not evidence.requests:
        return None, None
    before = evidence.before / evidence.requests
    return before + evidence.gained / evidence.requests, before


def said(evidence: Evidence, measure: str, released: str, replaced: str) -> str:
    """Return what the rows say of two models, called so, in a sentence.

    ``measure``: what the quality is, as "Share of right answers".
    """
    new, old = qualities(evidence)
    if new is None or old is None:
        return "No row counts yet."
    ends = interval(evidence)
    told = (
        f"{measure} on {evidence.requests:,} rows: {new:.3f} of {released}, {old:.3f} of {replaced}"
    )
    difference = f"difference {new - old:+.3f}"
    if ends is None:
        return f"{told} ({difference})."
    low, high = ends
    return f"{told} ({difference}, .95 interval {low:+.3f} to {high:+.3f})."


def rows_needed(drop: float, differ: float, reliability: float) -> int:
    """Return about how many rows a released model that is worse by ``drop`` needs to be shown so.

    ``differ``: the share of rows on which one of the models alone is right, at least ``drop``. By
    the growth of the best bet (Kelly 1956), so the mixture needs a little more.
    """
    worse, better = (differ + drop) / 2, (differ - drop) / 2
    bet = min(0.99, drop / differ)
    growth = worse * math.log1p(bet) + better * math.log1p(-bet)
    return math.ceil(-math.log(1 - reliability) / growth)

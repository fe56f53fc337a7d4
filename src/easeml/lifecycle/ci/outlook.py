"""How many labels a commit that waits for some will still need: about so many, and at most so many.

What is still to be labelled is drawn again and again from what labelled rows said so far, and the
test is played to its end on each draw. Each draw weighs the labelled rows anew (the Bayesian
bootstrap: Rubin, Annals of Statistics 9, 1981), so that few of them say little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from easeml.lifecycle.ci.condition import clauses
from easeml.lifecycle.ci.config import Metric
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.ledger import Ledger
from easeml.lifecycle.ci.verdict import UNKNOWN

_DRAWS = 40
_USUAL = (0.1, 0.9)  # quantiles of what was played
_ENOUGH = 30  # labelled rows of the test itself, from which on no others are drawn from


@dataclass(frozen=True)
class Outlook:
    """Labels that a test still needs.

    ``about``: the median of what was played, None where no labelled row says anything yet;
    ``low``, ``high``: between which eight of ten plays end; ``most``: where every row that could
    help is labelled.
    """

    about: int | None
    most: int
    low: int = 0
    high: int = 0


def rows_wanted(ledger: Ledger, commit: str, examples: Examples) -> Sequence[int]:
    """Return the places of all rows whose labels the test of ``commit`` could still ask for."""
    patient = replace(ledger, config=replace(ledger.config, batch=len(examples)))
    verdict, _ = patient.test(commit, examples)
    return verdict.labels_wanted


def labels_to_come(
    ledger: Ledger, commit: str, examples: Examples, elsewhere: Examples, seed: int = 0
) -> Outlook:
    """Return how many labels the test of ``commit`` on ``examples`` still needs.

    ``ledger``: before that test, or while it waits. ``elsewhere``: labelled rows that are no part of
    the test, such as validation rows; what they say counts while the test has few labels.
    """
    wanted = np.array(rows_wanted(ledger, commit, examples), dtype=np.intp)
    if not wanted.size:
        return Outlook(0, 0)
    only_where_they_differ = bool(examples.differ[wanted].all())
    known = _labelled(examples, only_where_they_differ)
    seen = known if len(known) >= _ENOUGH else _joined(known, elsewhere, only_where_they_differ)
    if not len(seen):
        return Outlook(None, len(wanted))
    rng = np.random.default_rng(seed)
    needed = []
    for _ in range(_DRAWS):
        chances = rng.dirichlet(np.ones(len(seen)))
        drawn = rng.choice(len(seen), size=len(wanted), p=chances)
        played = _filled(examples, wanted, seen.take(drawn))
        _, after = ledger.test(commit, played)
        step = after.history[-1]
        looked_at = ledger.order()[step.start : step.end]
        needed.append(int(np.isin(wanted, looked_at).sum()))
    low, about, high = np.quantile(needed, [_USUAL[0], 0.5, _USUAL[1]]).round().astype(int).tolist()
    return Outlook(max(1, about), len(wanted), max(1, low), max(1, high))


def can_pass(ledger: Ledger, commit: str, examples: Examples, labels: int) -> bool:
    """Tell whether ``commit`` could still pass with so many more ``labels``, whatever they say.

    A bound, not a guess: the rows whose labels would be bought next are filled in the best way that
    there is. A test only bets more on a row, or counts it, the better it is, so no other labels can
    pass where these do not. True as well where no single way is the best: a condition that has one
    clause for higher and one for lower scores, one that compares groups, or the metric F1.

    ``ledger``: before that test, or while it waits.
    """
    best = _best_scores(ledger)
    if best is None:
        return True
    patient = replace(ledger, config=replace(ledger.config, batch=len(examples)))
    verdict, _ = patient.test(commit, examples)
    if verdict.answer != UNKNOWN:
        return verdict.passed
    bought = np.array(verdict.labels_wanted[:labels], dtype=np.intp)
    new, old, known = examples.new.copy(), examples.old.copy(), examples.known.copy()
    new[bought], old[bought] = best
    known[bought] = True
    alike = ~examples.differ & ~examples.known
    old[alike] = new[alike]
    filled = replace(examples, new=new, old=old, known=known)
    return patient.test(commit, filled)[0].passed


def _best_scores(ledger: Ledger) -> tuple[float, float] | None:
    """Return the scores of the new and the old model on a row with which a condition holds soonest.

    None where no single ones are the best.
    """
    config = ledger.config
    if config.metric is Metric.F1:
        return None
    signs: set[tuple[bool, bool]] = set()
    for clause in clauses(config.condition):
        upward = clause.upward()
        if upward.others:
            return None  # what is best in one group is worst in another
        if not upward.only_d:
            signs.add((upward.n >= 0, upward.o > 0))
    if len(signs) != 1:
        return None
    new_is_high, old_is_high = signs.pop()
    return config.scale * new_is_high, config.scale * old_is_high


def _labelled(examples: Examples, only_where_they_differ: bool) -> Examples:
    used = examples.known & examples.differ if only_where_they_differ else examples.known
    if examples.groups:
        used = used & np.logical_or.reduce(list(examples.groups.values()))
    return examples.take(np.flatnonzero(used))


def _joined(known: Examples, elsewhere: Examples, only_where_they_differ: bool) -> Examples:
    other = _labelled(elsewhere, only_where_they_differ)
    return Examples(
        new=np.concatenate([known.new, other.new]),
        old=np.concatenate([known.old, other.old]),
        differ=np.concatenate([known.differ, other.differ]),
        known=np.concatenate([known.known, other.known]),
    )


def _filled(examples: Examples, rows: np.ndarray, drawn: Examples) -> Examples:
    """Return the examples with the scores that were drawn for some rows."""
    new, old, known = examples.new.copy(), examples.old.copy(), examples.known.copy()
    new[rows], old[rows], known[rows] = drawn.new, drawn.old, True
    return replace(examples, new=new, old=old, known=known)

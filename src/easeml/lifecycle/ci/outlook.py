"""How many labels a commit that waits for some will still need: about so many, and at most so many.

Nothing is decided here. What is still to be labelled is drawn again and again from what labelled
rows said so far (a bootstrap: Efron, Annals of Statistics 7, 1979), and the test is played to its
end on each draw.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.ledger import Ledger

_DRAWS = 20
_ENOUGH = 30  # labelled rows of the test itself, from which on no others are drawn from


@dataclass(frozen=True)
class Outlook:
    """Labels that a test still needs.

    ``about``: the median of what was played, None where no labelled row says anything yet;
    ``most``: where every row that could help is labelled.
    """

    about: int | None
    most: int


def labels_to_come(
    ledger: Ledger, commit: str, examples: Examples, elsewhere: Examples, seed: int = 0
) -> Outlook:
    """Return how many labels the test of ``commit`` on ``examples`` still needs.

    ``ledger``: before that test, or while it waits. ``elsewhere``: labelled rows that are no part of
    the test, such as validation rows; what they say counts while the test has few labels.
    """
    patient = replace(ledger, config=replace(ledger.config, batch=len(examples)))
    verdict, _ = patient.test(commit, examples)
    wanted = np.array(verdict.labels_wanted, dtype=np.intp)
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
        drawn = rng.integers(len(seen), size=len(wanted))
        played = _filled(examples, wanted, seen.take(drawn))
        _, after = ledger.test(commit, played)
        step = after.history[-1]
        looked_at = ledger.order()[step.start : step.end]
        needed.append(int(np.isin(wanted, looked_at).sum()))
    about = max(1, round(float(np.median(needed))))
    return Outlook(about, len(wanted))


def _labelled(examples: Examples, only_where_they_differ: bool) -> Examples:
    used = examples.known & examples.differ if only_where_they_differ else examples.known
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
    return Examples(new=new, old=old, differ=examples.differ, known=known)

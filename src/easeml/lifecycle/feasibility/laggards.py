"""What a competitor that lags may know that the leader does not."""

from __future__ import annotations

import numpy as np

from easeml.lifecycle.feasibility.race import Track

SURE = 2.0  # standard errors by which what shows so far may err


def end_of_laggard(leader: Track, other: Track, end: float, baseline: float, classes: int) -> float:
    """Return the least error that ``other`` may reach at endless rows, given what it shows so far.

    It can pass the leader only by being right in rows where the leader is wrong. Where the leader's
    errors are wrong labels, it is right in as many of them as chance gives: as often as it differs
    from the leader elsewhere, and then takes the right one of the other classes. What it shows
    beyond that, with ``SURE`` standard errors, grows at most as its own error still falls.

    Args:
        leader: the competitor with the least error.
        other: one that still runs.
        end: the error where the curve of ``other`` ends; in [0, 1].
        baseline: error of always guessing the same class.
        classes: their number, 2 or more.
    """
    leading = _best_way(leader)
    lagging = _best_way(other)
    leader_losses = leader.last.losses[leading]
    is_wrong = leader_losses > 0
    if not is_wrong.any() or is_wrong.all():
        return end
    differs = other.last.guesses[lagging] != leader.last.guesses[leading]
    saves = float((other.last.losses[lagging][is_wrong] == 0).mean())
    by_chance = float(differs[~is_wrong].mean()) / (classes - 1)
    error = np.sqrt((saves * (1 - saves) + 1 / is_wrong.sum()) / is_wrong.sum())
    known = max(0.0, saves - by_chance + SURE * float(error)) * float(is_wrong.mean())
    # the share of its way that it has gone
    gone = (baseline - other.best) / max(baseline - end, 1e-9)
    if gone <= 0:
        return end
    return max(end, float(leader_losses.mean()) - known / min(1.0, gone))


def _best_way(track: Track) -> int:
    return int(track.last.losses.mean(axis=1).argmin())

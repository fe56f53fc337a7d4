"""Devices of several kinds: their pace is learned from runs, and slow ones take short runs."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.search.costs import CostBelief, Work, is_slow, pace_of

AHEAD = 2  # tasks under way a device, as the scheduler keeps them


def work(number: int, device: str = "") -> Work:
    model = f"m{number % 5}"
    return Work(model, rows=1000 * (1 + number % 7), columns=10, device=device, hinted=2.0)


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_the_pace_of_a_kind_is_learned(factor: float) -> None:
    random = np.random.default_rng(0)
    runs = []
    for number in range(60):
        device = "other" if number % 2 else ""
        seconds = (2.0 + number % 5) * random.lognormal(0, 0.1) * (factor if device else 1.0)
        runs.append((work(number, device), seconds))
    belief = CostBelief.of(runs)
    works = [one for one, _ in runs]
    assert pace_of(belief, "other", works) == pytest.approx(factor, rel=0.25)
    assert pace_of(belief, "", works) == 1.0
    assert pace_of(belief, "never seen", works) == 1.0
    assert pace_of(belief, "other", []) == 1.0


@given(st.lists(st.floats(0.1, 10.0), min_size=1, max_size=5))
def test_the_fastest_is_never_slow(paces: list[float]) -> None:
    assert not is_slow(min(paces), paces)
    assert is_slow(100.0, paces)


def mean_end(paces: list[float], costs: list[float], *, by_pace: bool) -> float:
    """Return when runs end in the mean; the queue holds a few ahead, in the order of ``costs``."""
    coming, waiting, ended = list(range(len(costs))), [], []
    free, running = sorted(range(len(paces)), key=paces.__getitem__), []
    now = 0.0
    while coming or waiting or running:
        while coming and len(waiting) + len(running) < AHEAD * len(paces):
            waiting.append(coming.pop(0))
        if free and waiting:
            device = free.pop(0)
            run = waiting[0]
            if by_pace and is_slow(paces[device], paces):
                run = min(waiting, key=costs.__getitem__)
            waiting.remove(run)
            end = now + costs[run] * paces[device]
            heapq.heappush(running, (end, device))
            continue
        now, device = heapq.heappop(running)
        ended.append(now)
        free = sorted([*free, device], key=paces.__getitem__)
    return float(np.mean(ended))


@pytest.mark.parametrize("paces", [[1, 4], [1, 1, 4, 4], [1, 2, 2, 2]])
def test_runs_end_earlier_than_with_the_oldest_first(paces: list[float]) -> None:
    ratios = []
    for seed in range(40):
        costs = np.random.default_rng(seed).lognormal(0, 1.2, 40).tolist()
        ratios.append(mean_end(paces, costs, by_pace=True) / mean_end(paces, costs, by_pace=False))
    assert np.mean(ratios) < 0.99

"""When a search ends: by its limits at the pace of late, or not known."""

import numpy as np
import pytest

from easeml.search.ending import Outlook, Run, remaining_time

STEADY = [Run(wall=2.0, cost=1.0, believed=1.0)] * 10


def test_without_limit_and_experience_nothing_is_known() -> None:
    assert remaining_time(Outlook(STEADY, [1.0] * 9, [])) is None
    assert remaining_time(Outlook(STEADY, [1.0] * 9, [], before=[3, 4, 5, 6])) is None


def test_a_steady_search_ends_when_its_runs_are_over() -> None:
    found = remaining_time(Outlook(STEADY, [1.0] * 30, [0.5], tasks_left=9))
    assert found == pytest.approx((19.0, 19.0, 19.0))  # two wall seconds for each of 9.5


def test_the_limit_that_comes_first_counts() -> None:
    seconds = remaining_time(Outlook(STEADY, [1.0] * 30, [], tasks_left=9, seconds_left=3.0))
    assert seconds == pytest.approx((6.0, 6.0, 6.0))
    deadline = remaining_time(Outlook(STEADY, [1.0] * 30, [], tasks_left=9, deadline_in=5.0))
    assert deadline == pytest.approx((5.0, 5.0, 5.0))
    over = remaining_time(Outlook(STEADY, [1.0] * 30, [], seconds_left=-1.0))
    assert over == pytest.approx((0.0, 0.0, 0.0))


def test_searches_before_tell_of_one_without_limit() -> None:
    found = remaining_time(Outlook(STEADY, [1.0] * 30, [], before=[1, 2, 3, 4, 5, 6, 7, 8, 9]))
    assert found is not None
    assert found.low == 2.0
    assert found.middle == pytest.approx(10.0, abs=2.0)
    assert found.high == 18.0


def test_before_the_first_run_the_interval_is_wide() -> None:
    first = remaining_time(Outlook([], [1.0] * 30, [], tasks_left=9, share=0.5))
    later = remaining_time(Outlook(STEADY, [1.0] * 30, [], tasks_left=9))
    assert first is not None
    assert later is not None
    assert first.high - first.low > 5 * (later.high - later.low + 1.0)


@pytest.mark.parametrize("left", [5, 20])
def test_nine_of_ten_ends_lie_within(left: int) -> None:
    """Of searches whose runs cost and wait as runs do, independent of each other."""
    random = np.random.default_rng(left)
    within = 0
    for _ in range(100):
        believed = random.lognormal(0.0, 1.0, 20 + left)
        cost = believed * random.lognormal(0.0, 0.4, 20 + left)
        wall = cost * random.lognormal(0.5, 0.3, 20 + left)
        runs = list(map(Run, wall[:20], cost[:20], believed[:20]))
        found = remaining_time(Outlook(runs, believed[20:].tolist(), [], tasks_left=left))
        assert found is not None
        within += found.low <= wall[20:].sum() <= found.high
    assert 0.82 <= within / 100 <= 0.98

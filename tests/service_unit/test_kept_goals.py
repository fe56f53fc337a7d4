"""Goals that were set before: how they are read may have changed since."""

from types import SimpleNamespace
from typing import Any

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.journey import read_goal
from easeml.service.journey.application_facts import parts_of
from easeml.store import records

WRITTEN_BEFORE = "rmse above 5 and latency < 20 ms"


def test_a_goal_that_nobody_could_set_any_more_keeps_its_further_parts():
    with pytest.raises(InvalidInput, match="wrong side"):
        read_goal(WRITTEN_BEFORE)
    goal = records.Goal("goal_1", "t1", "app_1", "user_1", WRITTEN_BEFORE, "rmse", 5.0)
    shown: Any = SimpleNamespace(live_model=None)
    (part,) = parts_of(goal, shown)
    assert (part.condition.measure, part.condition.value) == ("latency", 0.02)

"""Goals as people write them: ``0.9``, ``error below 5 %``, ``gap(sex) <= 0.05`` (pure)."""

from easeml.goals.conditions import LATENCY, SIZE, Condition, read_condition, read_further
from easeml.goals.goals import Goal, read_goal

__all__ = ["LATENCY", "SIZE", "Condition", "Goal", "read_condition", "read_further", "read_goal"]

"""Interactive work that may suspend best-effort tasks: rules, traces, and their simulation."""

from easeml.search.preemption.live import GRACE, OnDevice, to_suspend
from easeml.search.preemption.rules import (
    RULES,
    Fifo,
    FitGpp,
    LeastDelay,
    LongestRemaining,
    RandomVictim,
    Rule,
    Running,
    rule_named,
)
from easeml.search.preemption.simulation import Outcome, replay
from easeml.search.preemption.traces import Cluster, Tasks, paper_tasks

__all__ = [
    "GRACE", "RULES", "Cluster", "Fifo", "FitGpp", "LeastDelay", "LongestRemaining", "OnDevice", "Outcome",
    "RandomVictim", "Rule", "Running", "Tasks", "paper_tasks", "replay", "rule_named", "to_suspend",
]  # fmt: skip

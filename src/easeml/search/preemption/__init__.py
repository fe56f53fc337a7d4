"""Interactive work that may suspend best-effort tasks: rules, traces, and their simulation."""

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
    "RULES", "Cluster", "Fifo", "FitGpp", "LeastDelay", "LongestRemaining", "Outcome", "RandomVictim", "Rule",
    "Running", "Tasks", "paper_tasks", "replay", "rule_named",
]  # fmt: skip

"""Simulated searches: workloads, events on a simulated clock, losses, and policies compared."""

from easeml.search.simulator.compare import (
    Comparison,
    Setting,
    belief,
    compare,
    curve_json,
    draw,
    half_width,
    one_run,
    past_costs,
)
from easeml.search.simulator.curves import LEVELS, Curve, clairvoyant, curve
from easeml.search.simulator.events import (
    Entry,
    Run,
    Scenario,
    Trace,
    entries_of,
    simulate,
    simulate_jobs,
)
from easeml.search.simulator.recorded import Recorded, compare_recorded, recorded
from easeml.search.simulator.workload import Workload, split, synthetic, uniform_costs

__all__ = [
    "LEVELS",
    "Comparison",
    "Curve",
    "Entry",
    "Recorded",
    "Run",
    "Scenario",
    "Setting",
    "Trace",
    "Workload",
    "belief",
    "clairvoyant",
    "compare",
    "compare_recorded",
    "curve",
    "curve_json",
    "draw",
    "entries_of",
    "half_width",
    "one_run",
    "past_costs",
    "recorded",
    "simulate",
    "simulate_jobs",
    "split",
    "synthetic",
    "uniform_costs",
]

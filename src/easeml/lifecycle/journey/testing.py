"""How many test rows a goal needs, by the plan of ``lifecycle.ci``."""

from __future__ import annotations

from easeml.lifecycle.ci import Adaptivity, Config, parse, plan

ROW_SHARES = {"accuracy": "", "balanced-accuracy": ", as many of each class,"}
"""Objectives that are a share of rows, of which a plan is made, and which rows it asks for.

With as many rows of each class, balanced accuracy is a mean of as many independent rows. It is
spread no wider than that of rows which are all right equally often (Hoeffding, 1956).
"""
TOLERANCE = 0.02
"""How far below the goal a quality is told from it."""
_RELIABILITY = 0.95


def rows_to_test(goal: float) -> int:
    """Return how many test rows tell a share of ``goal`` from one that is ``TOLERANCE`` less.

    One test, in which a model that falls short passes with a chance of 5 %. ``goal`` lies in (0,
    1).
    """
    middle = min(max(goal - TOLERANCE / 2, TOLERANCE), 1 - TOLERANCE)
    condition = parse(f"n > {middle:.6f} +/- {TOLERANCE / 2:.6f}")
    return plan(Config(condition, _RELIABILITY, adaptivity=Adaptivity.NONE)).chosen

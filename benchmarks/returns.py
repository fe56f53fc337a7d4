"""Returning from a released model on simulated requests: how often wrongly, and after how many rows.

    python benchmarks/returns.py [--lives 1000] [--releases 8] [--rows 1000] [--short]

A life has several releases, one after the other, of which each is exactly as good as the model that
it replaces: every return is wrong, and at most 5 % of the lives may have one. The truth of the rows
comes in many ways, also such that are meant to deceive; the last breaks what is asked of the owner,
that runs are not told by how the model did there. Beside easeml's rule: the same bet on each
truth as it comes, and what one finds in practice, McNemar's test at the level of .05, looked at
after every 100 truths. Then models that are worse, by how many rows they are returned from.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.released import LEAST_KNOWN, RUN, reliability_of, without_truth
from easeml.lifecycle.rollout import Evidence, Outcome, Plan, is_worse, told

RELIABILITY = 0.95
BOTH_RIGHT, ONE_RIGHT = 0.75, 0.06
NEVER = math.inf
CRITICAL = 1.645
LOOK_EVERY = 100
LAG = 500.0  # rows
REPEATED = 20
DROPS = (0.05, 0.1, 0.2)
MOST_ROWS = 10_000
HARD = (0.30, 0.10)  # chances that the released model alone, or the other, is right, of class A


@dataclass(frozen=True)
class Rows:
    """Requests in their order. ``new``, ``old``: whether each model is right. ``came``: when its
    truth comes, in requests; ``keys``: of rows of one key, the same number.
    """

    new: np.ndarray
    old: np.ndarray
    came: np.ndarray
    keys: np.ndarray


Truth = Callable[[np.random.Generator, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def at_once(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """The truth of each row comes with it."""
    return np.arange(len(new), dtype=float)


def late(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Each truth is late by an exponential time."""
    return np.arange(len(new)) + rng.exponential(LAG, len(new))


def bursts(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Files of truth come for 300 rows at once, each in an order of its own."""
    return np.ceil((np.arange(len(new)) + 1) / 300) * 300 + rng.random(len(new))


def by_class(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """The truth of the class on which the released model is worse comes at once, the rest late."""
    return np.arange(len(new)) + np.where(hard, 0.0, 2 * LAG)


def complaints(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Only wrong answers are told."""
    return np.where(new, NEVER, np.arange(len(new), dtype=float))


def mostly_complaints(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Of right answers three in ten are told."""
    is_told = ~new | (rng.random(len(new)) < 0.3)
    return np.where(is_told, np.arange(len(new), dtype=float), NEVER)


def few_missing(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Of right answers one in thirty is not told."""
    is_told = ~new | (rng.random(len(new)) < 29 / 30)
    return np.where(is_told, np.arange(len(new), dtype=float), NEVER)


def bad_runs(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Only runs are told, whole, on which the released model did worse: that is not allowed."""
    came = np.full(len(new), NEVER)
    for start in range(0, len(new) - RUN + 1, RUN):
        run = slice(start, start + RUN)
        if new[run].sum() < old[run].sum():
            came[run] = np.arange(start, start + RUN)
    return came


def complaints_first(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Wrong answers are told at once, right ones later."""
    return np.arange(len(new)) + np.where(new, LAG, 0.0)


def differing(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Rows on which the replaced model alone is right are told, and one in ten of the others."""
    is_told = (old & ~new) | (rng.random(len(new)) < 0.1)
    return np.where(is_told, np.arange(len(new), dtype=float), NEVER)


def two_hidden(rng: np.random.Generator, new: np.ndarray, old: np.ndarray, hard: np.ndarray):
    """Of each run, two truths are kept back that would speak for the released model."""
    came = np.arange(len(new), dtype=float)
    for start in range(0, len(new) - RUN + 1, RUN):
        for_it = np.flatnonzero((new & ~old)[start : start + RUN])
        came[start + for_it[: RUN - LEAST_KNOWN]] = NEVER
    return came


TRUTHS: dict[str, Truth] = {
    "at once": at_once,
    "late": late,
    "bursts": bursts,
    "by class": by_class,
    "complaints": complaints,
    "mostly complaints": mostly_complaints,
    "all but few right answers": few_missing,
    "complaints first": complaints_first,
    "where it is wrong alone": differing,
    "two of a run hidden": two_hidden,
    "repeated keys": at_once,
    "only bad runs (not allowed)": bad_runs,
}


def world(rng: np.random.Generator, count: int, truth: str) -> Rows:
    """Return rows on which both models are right equally often, and when their truth comes."""
    keys = np.arange(count)
    if truth == "repeated keys":
        keys = rng.integers(0, max(1, count // REPEATED), count)
    draws, hard = rng.random(count)[keys], (rng.random(count) < 0.5)[keys]
    only_new = np.full(count, ONE_RIGHT)
    only_old = np.full(count, ONE_RIGHT)
    if truth == "by class":  # worse on one class by as much as it is better on the other
        only_old, only_new = np.where(hard, HARD[0], HARD[1]), np.where(hard, HARD[1], HARD[0])
    both = np.where(only_new + only_old > 0.25, 1 - only_new - only_old, BOTH_RIGHT)
    new = draws < both + only_new
    old = (draws < both) | ((draws >= both + only_new) & (draws < both + only_new + only_old))
    return Rows(new, old, TRUTHS[truth](rng, new, old, hard), keys)


def by_runs(rows: Rows, plan: Plan) -> int | None:
    """Return after how many rows easeml returns; None: never. Rows of one key count once."""
    starts = np.arange(0, len(rows.new) - RUN + 1, RUN)
    whole = [np.sort(rows.came[start : start + RUN])[LEAST_KNOWN - 1] for start in starts]
    evidence, seen, counted = Evidence(), set[int](), 0
    for place in np.argsort(whole, kind="stable"):
        if math.isinf(whole[place]):
            break
        run = range(starts[place], starts[place] + RUN)
        outcomes = []
        for row in run:
            counted += 1
            if rows.keys[row] in seen:
                continue
            seen.add(int(rows.keys[row]))
            gain = int(rows.new[row]) - int(rows.old[row])
            is_known = rows.came[row] <= whole[place]
            if gain:  # rows on which the models do not differ change no bet
                outcomes.append(Outcome(gain) if is_known else without_truth(1.0))
        evidence = told(plan, evidence, outcomes)
        if is_worse(plan, evidence):
            return counted
    return None


def in_order_of_truth(rows: Rows) -> np.ndarray:
    """Return the rows whose truth comes, as it comes."""
    order = np.argsort(rows.came, kind="stable")
    return order[np.isfinite(rows.came[order])]


def as_it_comes(rows: Rows, plan: Plan) -> int | None:
    """Return after how many truths the same bet returns, on each truth as it comes."""
    evidence = Evidence()
    gains = rows.new.astype(int) - rows.old.astype(int)
    for number, row in enumerate(in_order_of_truth(rows), 1):
        if gains[row]:
            evidence = told(plan, evidence, [Outcome(int(gains[row]))])
            if is_worse(plan, evidence):
                return number
    return None


def mcnemar(rows: Rows, _: Plan) -> int | None:
    """Return after how many truths a test at .05, looked at after every 100, returns."""
    gains = (rows.new.astype(int) - rows.old.astype(int))[in_order_of_truth(rows)]
    for number in range(LOOK_EVERY, len(gains) + 1, LOOK_EVERY):
        better, worse = (gains[:number] > 0).sum(), (gains[:number] < 0).sum()
        if worse - better > CRITICAL * math.sqrt(max(1, worse + better)):
            return number
    return None


RULES = {"easeml": by_runs, "each truth as it comes": as_it_comes, "McNemar": mcnemar}


def plan_of(number: int) -> Plan:
    """Return the plan of release ``number``, from 1."""
    return Plan(reliability=reliability_of(RELIABILITY, number))


def wrong_lives(rule: str, truth: str, lives: int, releases: int, rows: int) -> int:
    """Return how many lives have a wrong return."""
    wrong = 0
    for life in range(lives):
        rng = np.random.default_rng([life, len(truth)])
        ends = (RULES[rule](world(rng, rows, truth), plan_of(k + 1)) for k in range(releases))
        wrong += any(end is not None for end in ends)
    return wrong


def rows_to_return(drop: float, number: int, runs: int) -> list[int]:
    """Return after how many rows models that are worse by ``drop`` are returned from."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([run, number])
        draws = rng.random(MOST_ROWS)
        both, only_new = BOTH_RIGHT, 0.05
        new = draws < both + only_new
        old = (draws < both) | ((draws >= both + only_new) & (draws < both + 0.1 + drop))
        came = np.arange(MOST_ROWS, dtype=float)
        end = by_runs(Rows(new, old, came, np.arange(MOST_ROWS)), plan_of(number))
        found.append(MOST_ROWS + 1 if end is None else end)
    return found


def main() -> None:
    """Print and write both tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--lives", type=int, default=1000)
    parser.add_argument("--releases", type=int, default=8)
    parser.add_argument("--rows", type=int, default=1000, help="of each release")
    parser.add_argument("--runs", type=int, default=200, help="of each drop")
    options = read_options(parser, lives=3, releases=2, rows=200, runs=2)
    lives = []
    print(f"{'truth':28} {'rule':24} lives with a wrong return, of {options.lives:,}")
    for truth in TRUTHS:
        for rule in RULES:
            wrong = wrong_lives(rule, truth, options.lives, options.releases, options.rows)
            lives.append([truth, rule, options.lives, wrong])
            print(f"{truth:28} {rule:24} {wrong}", flush=True)
    write_table(options.out / "lives.csv", ["truth", "rule", "lives", "wrong"], lives)
    power = []
    for drop in DROPS:
        for number in (1, 3, 8):
            found = rows_to_return(drop, number, options.runs)
            middle, most = np.quantile(found, (0.5, 0.9))
            shown = sum(end <= MOST_ROWS for end in found) / len(found)
            power.append([drop, number, middle, most, shown])
            told_rows = f"{middle:.0f} rows at the median, nine in ten {most:.0f}"
            print(f"worse by {drop}, release {number}: {told_rows}; {shown:.3f} within {MOST_ROWS}")
    columns = ["drop", "release", "median_rows", "rows_of_nine_in_ten", "returned"]
    write_table(options.out / "drops.csv", columns, power)
    print(machine_line("numpy"))


if __name__ == "__main__":
    main()

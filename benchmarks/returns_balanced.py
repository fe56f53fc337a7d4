"""Returning by balanced accuracy on simulated requests: how often wrongly, after how many rows.

    python benchmarks/returns_balanced.py [--lives 500] [--releases 4] [--rows 1500] [--short]

Each release of a life is exactly as good as the model before by balanced accuracy, so each return
is wrong, and at most 5 % of the lives may have one. It is better on one class and worse on another,
by chance on which; so which class is common, and which truth comes, decides what a careless rule
sees. Beside easeml's rule: a bet on each truth as it comes, its classes weighed by their shares in
training. Then models that are worse on each class, by how many rows they are returned from.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import beta

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.balanced import Answered, outcomes, run_of
from easeml.lifecycle.released import LEAST_KNOWN, MOST_ALIKE, RUN, reliability_of
from easeml.lifecycle.rollout import Evidence, Outcome, Plan, is_worse, told

RELIABILITY = 0.95
RIGHT, TURN = 0.75, 0.15  # of each class; more of one, less of the other, by the new model
ALIKE = 0.7  # share of rows on which both models are right or wrong for the same reason
SHARES = (0.9, 0.1)
DROPS = (0.05, 0.1, 0.2)
MOST_ROWS = 20_000
NEVER = math.inf


@dataclass(frozen=True)
class Rows:
    """Requests in their order. ``came``: when the truth of each comes; ``inputs``: of rows that are
    the same, the same number; ``rarest``: share of the rarest class in training.
    """

    true: np.ndarray
    new: np.ndarray
    old: np.ndarray
    came: np.ndarray
    inputs: np.ndarray
    rarest: float


def world(
    rng: np.random.Generator, shares: np.ndarray, gains: np.ndarray, rarest: float = 0.0
) -> Rows:
    """Return rows of which the old model gets ``RIGHT`` of each class, the new one by ``gains`` more.

    ``shares``: of the classes, row by row. All truth comes at once.
    """
    count, classes = shares.shape
    true = (rng.random(count)[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
    hard, alike = rng.random(count), rng.random(count) < ALIKE
    new_right = np.where(alike, hard, rng.random(count)) < RIGHT + gains[true]
    old_right = np.where(alike, hard, rng.random(count)) < RIGHT
    wrong = (true + rng.integers(1, classes, count)) % classes
    new, old = np.where(new_right, true, wrong), np.where(old_right, true, wrong)
    came = np.arange(count, dtype=float)
    return Rows(true, new, old, came, np.arange(count), rarest or shares.mean(axis=0).min())


def turned(rng: np.random.Generator, count: int, shares: tuple[float, ...] = SHARES) -> Rows:
    """Return rows of a new model that is better on one class, and worse on another by as much."""
    gains = np.zeros(len(shares))
    one, other = rng.permutation(len(shares))[:2]
    gains[one], gains[other] = TURN, -TURN
    return world(rng, np.tile(shares, (count, 1)), gains)


def at_once(rng: np.random.Generator, count: int) -> Rows:
    """The truth of each row comes with it."""
    return turned(rng, count)


def class_first(rng: np.random.Generator, count: int) -> Rows:
    """The truth of one class comes at once, that of the others 1,000 rows later."""
    rows = turned(rng, count)
    return replace(rows, came=rows.came + 1000.0 * (rows.true != rng.integers(2)))


def mistakes(rng: np.random.Generator, count: int) -> Rows:
    """Only wrong answers are told."""
    rows = turned(rng, count)
    return replace(rows, came=np.where(rows.new == rows.true, NEVER, rows.came))


def few_missing(rng: np.random.Generator, count: int) -> Rows:
    """Of right answers one in thirty is not told."""
    rows = turned(rng, count)
    kept_back = (rows.new == rows.true) & (rng.random(count) < 1 / 30)
    return replace(rows, came=np.where(kept_back, NEVER, rows.came))


def _hidden(rows: Rows, best: np.ndarray) -> Rows:
    """Keep the truths back that would help the new model most, as many as a run may lack."""
    length, _ = run_of(rows.rarest)
    most = length // RUN * (RUN - LEAST_KNOWN)
    came = rows.came.copy()
    for start in range(0, len(came) - length + 1, length):
        order = np.argsort(-best[start : start + length], kind="stable")[:most]
        came[start + order[best[start + order] > 0]] = NEVER
    return replace(rows, came=came)


def gains_hidden(rng: np.random.Generator, count: int) -> Rows:
    """Of each run, truths are kept back by which the new model alone is right, rare ones first."""
    rows = turned(rng, count)
    alone = (rows.new == rows.true) & (rows.old != rows.true)
    return _hidden(rows, alone * (1.0 + (rows.true == 1)))


def rare_hidden(rng: np.random.Generator, count: int) -> Rows:
    """Of each run, truths of the rare class are kept back, but losses of the new model."""
    rows = turned(rng, count)
    lost = (rows.new != rows.true) & (rows.old == rows.true)
    return _hidden(rows, ((rows.true == 1) & ~lost).astype(float))


def rare_missing(rng: np.random.Generator, count: int) -> Rows:
    """Half of the truth of a class that has 4 in 100 rows never comes."""
    rows = turned(rng, count, (0.96, 0.04))
    missing = (rows.true == 1) & (rng.random(count) < 0.5)
    return replace(rows, came=np.where(missing, NEVER, rows.came))


def shifted(rng: np.random.Generator, count: int) -> Rows:
    """The rare class of training becomes the common one, step by step."""
    rare = np.linspace(0.1, 0.7, count)
    turn = TURN * rng.choice((-1.0, 1.0))
    return world(rng, np.stack([1 - rare, rare], axis=1), np.array([turn, -turn]), rarest=0.1)


def worn(rng: np.random.Generator, count: int) -> Rows:
    """From the middle on, half of the answers of both models are as if by chance."""
    rows = turned(rng, count)
    is_hurt = (np.arange(count) > count / 2) & (rng.random(count) < 0.5)
    answers = [np.where(is_hurt, rng.integers(0, 2, count), one) for one in (rows.new, rows.old)]
    return replace(rows, new=answers[0], old=answers[1])


def equal(rng: np.random.Generator, count: int) -> Rows:
    """The released model is the model before."""
    rows = turned(rng, count)
    return replace(rows, new=rows.old)


def fulfilled(rng: np.random.Generator, count: int) -> Rows:
    """One answer in 50 comes true because the new model gave it."""
    rows = turned(rng, count)
    return replace(rows, true=np.where(rng.random(count) < 0.02, rows.new, rows.true))


def tiny(rng: np.random.Generator, count: int) -> Rows:
    """Of three classes, one has 1 in 100 rows."""
    return turned(rng, count, (0.69, 0.3, 0.01))


def looped(rng: np.random.Generator, count: int) -> Rows:
    """A program sends one row, on which the new model alone is wrong, 400 times more, at any time."""
    rows = turned(rng, count)
    lost = np.flatnonzero((rows.new != rows.true) & (rows.old == rows.true))
    if not len(lost):
        return rows
    places = np.sort(rng.integers(0, count, 400))
    order = np.insert(np.arange(count), places, lost[0])
    taken = {name: getattr(rows, name)[order] for name in ("true", "new", "old", "inputs")}
    return replace(rows, came=np.arange(len(order), dtype=float), **taken)


def bad_runs(rng: np.random.Generator, count: int) -> Rows:
    """Only runs are told on which the new model did worse: that is not allowed."""
    rows = turned(rng, count)
    length, _ = run_of(rows.rarest)
    gains = (rows.new == rows.true).astype(int) - (rows.old == rows.true)
    came = np.full(count, NEVER)
    for start in range(0, count - length + 1, length):
        run = slice(start, start + length)
        if sum(gains[run][rows.true[run] == one].mean() for one in (0, 1)) < 0:
            came[run] = rows.came[run]
    return replace(rows, came=came)


TRUTHS: dict[str, Callable[[np.random.Generator, int], Rows]] = {
    "at once": at_once,
    "one class first": class_first,
    "mistakes alone": mistakes,
    "all but few right answers": few_missing,
    "gains hidden": gains_hidden,
    "the rare class hidden": rare_hidden,
    "half of the rare class missing": rare_missing,
    "the rare class gets common": shifted,
    "both are hurt by drift": worn,
    "the same model": equal,
    "answers that come true": fulfilled,
    "a class of 1 in 100": tiny,
    "one row sent 400 times": looped,
    "only bad runs (not allowed)": bad_runs,
}


def by_runs(rows: Rows, plan: Plan) -> int | None:
    """Return after how many rows easeml returns; None: never."""
    length, least = run_of(rows.rarest)
    needed = length // RUN * LEAST_KNOWN
    starts = np.arange(0, len(rows.true) - length + 1, length)
    nearly = [np.sort(rows.came[start : start + length])[needed - 1] for start in starts]
    fully = [rows.came[start : start + length].max() for start in starts]
    # A run with gaps waits until the next one could count.
    whole = np.maximum(nearly, np.minimum(fully, [*nearly[1:], NEVER]))
    classes = [str(one) for one in np.unique(rows.true)]
    times = np.zeros(rows.inputs.max() + 1, dtype=int)
    evidence, counted = Evidence(), 0
    for place in np.argsort(whole, kind="stable"):
        if math.isinf(whole[place]):
            break
        answered = []
        for row in range(starts[place], starts[place] + length):
            true = str(rows.true[row]) if rows.came[row] <= whole[place] else None
            is_spared = bool(times[rows.inputs[row]] >= MOST_ALIKE)
            answered.append(Answered(str(rows.new[row]), str(rows.old[row]), true, is_spared))
            times[rows.inputs[row]] += 1
        found = [one for one in outcomes(answered, classes, least) if one.gain]
        evidence = told(plan, evidence, found)
        counted += length
        if is_worse(plan, evidence):
            return counted
    return None


def by_shares_of_training(rows: Rows, plan: Plan) -> int | None:
    """Return after how many truths a bet on each returns, the common class weighed as in training."""
    gains = (rows.new == rows.true).astype(float) - (rows.old == rows.true)
    is_rare = rows.true == np.bincount(rows.true).argmin()
    weights = np.where(is_rare, 1.0, rows.rarest / (1 - rows.rarest))
    order = np.argsort(rows.came, kind="stable")
    evidence = Evidence()
    for number, row in enumerate(order[np.isfinite(rows.came[order])], 1):
        if gains[row]:
            evidence = told(plan, evidence, [Outcome(float(gains[row] * weights[row]))])
            if is_worse(plan, evidence):
                return number
    return None


RULES = {"easeml": by_runs, "each truth as it comes": by_shares_of_training}


def plan_of(number: int) -> Plan:
    """Return the plan of release ``number``, from 1."""
    return Plan(reliability=reliability_of(RELIABILITY, number))


def wrong_lives(rule: str, truth: str, lives: int, releases: int, rows: int) -> int:
    """Return how many lives have a wrong return."""
    wrong = 0
    for life in range(lives):
        rng = np.random.default_rng([life, len(truth)])
        ends = (RULES[rule](TRUTHS[truth](rng, rows), plan_of(k + 1)) for k in range(releases))
        wrong += any(end is not None for end in ends)
    return wrong


def upper(wrong: int, lives: int) -> float:
    """Return the upper end of an interval of .95 of the share of lives (Clopper and Pearson)."""
    return float(beta.ppf(0.975, wrong + 1, lives - wrong)) if wrong < lives else 1.0


def rows_to_return(drop: float, rare: float, runs: int) -> list[int]:
    """Return after how many rows models that are worse on each class are returned from."""
    found = []
    for run in range(runs):
        rng = np.random.default_rng([run, round(1000 * rare)])
        shares = np.tile((1 - rare, rare), (MOST_ROWS, 1))
        end = by_runs(world(rng, shares, np.array([-drop, -drop]), rarest=rare), plan_of(1))
        found.append(MOST_ROWS + 1 if end is None else end)
    return found


def main() -> None:
    """Print and write both tables."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--lives", type=int, default=500)
    parser.add_argument("--releases", type=int, default=4)
    parser.add_argument("--rows", type=int, default=1500, help="of each release")
    parser.add_argument("--runs", type=int, default=100, help="of each drop")
    options = read_options(parser, lives=2, releases=2, rows=400, runs=1)
    lives = []
    print(f"{'truth':31} {'rule':24} lives with a wrong return, of {options.lives:,}")
    for truth in TRUTHS:
        for rule in RULES:
            wrong = wrong_lives(rule, truth, options.lives, options.releases, options.rows)
            most = upper(wrong, options.lives)
            lives.append([truth, rule, options.lives, wrong, round(most, 4)])
            print(f"{truth:31} {rule:24} {wrong} (at most {most:.1%})", flush=True)
    write_table(options.out / "lives.csv", ["truth", "rule", "lives", "wrong", "upper"], lives)
    power = []
    for rare in (0.5, 0.1, 0.03):
        for drop in DROPS:
            found = rows_to_return(drop, rare, options.runs)
            middle, most = np.quantile(found, (0.5, 0.9))
            shown = sum(end <= MOST_ROWS for end in found) / len(found)
            power.append([rare, drop, middle, most, shown])
            ends = f"{middle:.0f} rows at the median, nine in ten {most:.0f}"
            print(f"class of {rare}, worse by {drop}: {ends}; {shown:.2f} within {MOST_ROWS}")
    columns = ["rare", "drop", "median_rows", "rows_of_nine_in_ten", "returned"]
    write_table(options.out / "drops.csv", columns, power)
    print(machine_line("numpy"))


if __name__ == "__main__":
    main()

"""Verdicts of ``feasibility`` on patterns that are hard to find, where the truth is known.

    python benchmarks/feasibility_adversarial.py [--half final|fresh|attack|outside|tuning] [--rows 2000]
                                                 [--seeds 30] [--noise 0 0.15] [--cases NAME ...]
                                                 [--out DIR] [--short]

Each case is drawn with each share of wrong labels, by each seed; the least error of any model is
that share. A case whose labels hold their noise already is drawn once a seed. Asked are goals 5
points below the truth (right: realistic), 1 point below (unrealistic would be wrong), 1 point above
(realistic would be wrong) and 5 points above (right: unrealistic; only where that is below 1).
Halves and cases: ``feasibility_cases.py`` and, of the half ``outside``,
``feasibility_outside_cases.py``.

Every study appends a line to ``verdicts-HALF-ROWS.csv`` in ``--out``, with the commit that it ran
on; a study that is there already is not run again. The table is printed at the end, or at once
with ``--seeds 0``.
"""

import csv
import subprocess
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from common import arguments, machine_line, read_options
from easeml.lifecycle.feasibility import BayesError, bayes_error
from easeml.lifecycle.feasibility.balanced import balanced_bayes_error
from easeml.lifecycle.feasibility.bounds import binomial_interval
from easeml.lifecycle.feasibility.result import NOTHING_FOUND
from feasibility_cases import CASES, Case, flipped
from feasibility_outside_cases import CASES as OUTSIDE

HALVES = ("final", "fresh", "attack", "outside", "tuning")
OFFSETS = (-0.05, -0.01, 0.01, 0.05)
CONFIDENCE = 0.95
FINAL_SEEDS = 10_000  # the halves that judge are drawn by other seeds
COLUMNS = ["case", "noise", "seed", "goal", "truth", "verdict", "risk"]
COLUMNS += ["lower", "estimate", "reached", "upper", "seconds", "commit"]


def commit() -> str:
    """Return the short name of the commit that is checked out."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def verdict(answer: BayesError, goal: float) -> str:
    """Return the verdict for a goal, as the tool's own: "realistic" by an interval of one side."""
    wrong = round(answer.reached * answer.evaluated)
    if binomial_interval(wrong, answer.evaluated, 2 * CONFIDENCE - 1)[1] <= 1 - goal:
        return "realistic"
    if answer.lower <= 1 - goal or NOTHING_FOUND in answer.notes:
        return "cannot tell"
    return "unrealistic"


def lines_of(case: Case, rows: int, noise: float, seed: int) -> list[dict[str, object]]:
    """Study one table; return a line a goal."""
    start = seed + (0 if case.half == "tuning" else FINAL_SEEDS)
    rng = np.random.default_rng(start)
    X, y = case.draw(rows, rng)
    labels = flipped(y, noise, rng) if case.error is None else y
    begun = time.process_time()
    with threadpool_limits(1):
        if case.balanced:
            answer = balanced_bayes_error(X, labels, confidence=CONFIDENCE, seed=seed)
        else:
            answer = bayes_error(X, labels, task="classification", confidence=CONFIDENCE, seed=seed)
    seconds = time.process_time() - begun
    found = []
    for offset in OFFSETS:
        goal = round(1 - noise + offset, 4)
        if goal > 1:
            continue
        line: dict[str, object] = {"case": case.name, "noise": noise, "seed": seed}
        line |= {"goal": goal, "truth": 1 - noise, "verdict": verdict(answer, goal)}
        line |= {"risk": round(1 - CONFIDENCE, 4), "seconds": round(seconds, 2)}
        line |= {name: round(getattr(answer, name), 5) for name in ("lower", "estimate")}
        line |= {name: round(getattr(answer, name), 5) for name in ("reached", "upper")}
        found.append({**line, "commit": commit()})
    return found


def read(path: Path) -> list[dict[str, str]]:
    """Return the lines that are there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(path: Path, lines: list[dict[str, object]]) -> None:
    """Add lines to the file, with a head if it is new."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if is_new:
            writer.writeheader()
        writer.writerows(lines)


def outcome(line: dict[str, str]) -> str:
    """Tell whether a verdict is right, wrong, or none."""
    if line["verdict"] == "cannot tell":
        return "cannot tell"
    reachable = float(line["goal"]) <= float(line["truth"])
    return "right" if (line["verdict"] == "realistic") == reachable else "wrong"


def table(lines: list[dict[str, str]]) -> str:
    """Return counts a case, noise and goal, and the shares over all of them."""
    heads = ["right", "wrong", "cannot tell"]
    groups: dict[tuple[str, float, float], list[str]] = {}
    for line in lines:
        key = (line["case"], float(line["truth"]), float(line["goal"]))
        groups.setdefault(key, []).append(outcome(line))
    written = [
        f"{'case':22} {'truth':>6} {'goal':>6} {'right':>6} {'wrong':>6} {'cannot tell':>12}"
    ]
    for (case, truth, goal), found in groups.items():
        counts = [found.count(head) for head in heads]
        written.append(
            f"{case:22} {truth:6.2f} {goal:6.2f} {counts[0]:6} {counts[1]:6} {counts[2]:12}"
        )
    for is_far, words in ((True, "5 points away"), (False, "1 point away")):
        found = []
        for (_, truth, goal), outcomes in groups.items():
            if (abs(goal - truth) > 0.03) == is_far:
                found += outcomes
        given = [one for one in found if one != "cannot tell"]
        right = given.count("right")
        written.append(
            f"{words}: {len(found)} asked, {len(given)} verdicts, {right} right, "
            f"{len(given) - right} wrong (stated risk {1 - CONFIDENCE:.2f})"
        )
    seconds = [float(line["seconds"]) for line in lines]
    if seconds:
        written.append(f"CPU seconds a study: median {np.median(seconds):.1f}")
    return "\n".join(written)


def main() -> None:
    """Run what has not been run, and print the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--half", choices=HALVES, default="final")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.15])
    parser.add_argument("--cases", nargs="+", default=[])
    options = read_options(
        parser, rows=100, seeds=1, noise=[0.15], cases=["a missing word", "ring"]
    )
    print(machine_line("scikit-learn", "skrub", "lightgbm"))
    path = options.out / f"verdicts-{options.half}-{options.rows}.csv"
    done = {(line["case"], float(line["noise"]), int(line["seed"])) for line in read(path)}
    chosen = [case for case in (*CASES, *OUTSIDE) if case.half == options.half]
    if options.cases:
        chosen = [case for case in chosen if case.name in options.cases]
    for seed in range(options.first, options.first + options.seeds):
        for case in chosen:
            for noise in options.noise if case.error is None else [round(case.error, 4)]:
                if (case.name, noise, seed) in done:
                    continue
                lines = lines_of(case, options.rows, noise, seed)
                append(path, lines)
                told = ", ".join(f"{line['goal']}: {line['verdict']}" for line in lines)
                print(f"{case.name}, noise {noise:g}, seed {seed}: {told}", flush=True)
    print(table(read(path)))


if __name__ == "__main__":
    main()

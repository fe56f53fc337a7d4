"""How often continuous integration errs: 10,000 simulated commits for every bound and mode, where errors are likeliest.

Each line is one kind of error that is promised to happen with probability at most delta, simulated where it is most
likely. A one-sided Clopper-Pearson test (level 0.001 a line) looks for evidence of more than delta. The tests of the
library are run on thousands of series at once by a compiled twin, which is compared with the library on the first runs.
"""

import argparse
import csv
import math
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np
import scipy
from scipy.stats import beta

from ci_simulation import World, simulate
from easeml.lifecycle.ci import (
    Config,
    Examples,
    clopper_pearson,
    empirical_bernstein,
    log_wealth,
    open_ledger,
    plan,
    powered_mean,
    read_config,
    step_nats,
)
from easeml.lifecycle.ci.betting import ladder_of_bets
from easeml.lifecycle.ci.bounds import bennett_size, hoeffding_size, up

RESULTS = Path(__file__).parent / "results" / "ci_error_rates"


def cases() -> Iterator[tuple[str, str, str, World, int, dict]]:
    """Yield name, condition, mode, world, the answer that would be an error, and more keys of the configuration."""
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fp-free", World(0.8, 0.8, 0.1), 1, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fp-free", World(0.9, 0.8, 0.15), 0, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fn-free", World(0.8, 0.8, 0.1), 0, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fn-free", World(0.7, 0.7, 0.1), 1, {}
    yield "unlabelled d, exact", "d < 0.1 +/- 0.03", "fp-free", World(0.8, 0.8, 0.1), 1, {}
    yield "unlabelled d, exact", "d < 0.1 +/- 0.03", "fn-free", World(0.8, 0.8, 0.1), 0, {}
    known = {"difference": 0.15}
    yield "difference, d stated", "n - o > 0.02 +/- 0.03", "fp-free", World(0.82, 0.8, 0.15), 1, known
    yield "difference, d stated", "n - o > 0.02 +/- 0.03", "fp-free", World(0.88, 0.8, 0.15), 0, known
    yield "difference, d stated", "n - o > 0.02 +/- 0.03", "fn-free", World(0.82, 0.8, 0.15), 0, known
    yield "difference, ties", "n - o > 0.02 +/- 0.03", "fp-free", World(0.72, 0.7, 0.15, 0.4), 1, known
    yield "difference, d stated wrong", "n - o > 0.02 +/- 0.03", "fp-free", World(0.72, 0.7, 0.5), 1, known
    yield "difference, negative", "n - o > -0.05 +/- 0.03", "fp-free", World(0.75, 0.8, 0.15), 1, known
    yield "weighted", "n - 1.1 * o > 0.01 +/- 0.1", "fp-free", World(0.78, 0.7, 0.3), 1, {}
    pattern = "d < 0.2 +/- 0.05 /\\ n - o > 0.02 +/- 0.03"
    yield "and: quality at the edge", pattern, "fp-free", World(0.82, 0.8, 0.15), 1, {}
    yield "and: both at the edge", pattern, "fp-free", World(0.82, 0.8, 0.2), 1, {}
    yield "and: both far enough", pattern, "fp-free", World(0.88, 0.8, 0.1), 0, {}
    yield "and: both at the edge", pattern, "fn-free", World(0.82, 0.8, 0.2), 0, {}
    seed_case = "n - o > 0.05 +/- 0.03 \\/ d < 0.1 +/- 0.03"
    yield "or: both at the edge", seed_case, "fp-free", World(0.85, 0.8, 0.1), 1, {"difference": 0.2}
    yield "or: one at the edge", seed_case, "fp-free", World(0.85, 0.8, 0.2), 1, {"difference": 0.2}
    yield "or: one far enough", seed_case, "fp-free", World(0.91, 0.8, 0.15), 0, {"difference": 0.2}
    yield "or: both at the edge", seed_case, "fn-free", World(0.85, 0.8, 0.1), 0, {"difference": 0.2}


def commit_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield name, mode, errors and share left open for each case of one commit."""
    for number, (name, condition, mode, world, wrong, more) in enumerate(cases()):
        keys = {"condition": condition, "reliability": 1 - delta, "mode": mode, "adaptivity": "none", **more}
        config = read_config(keys)
        nats = step_nats(config, shared=True)
        rows = plan(config).unlabelled
        found = simulate(config, world, nats=nats, rows=rows, runs=runs, seed=1000 + number).truth
        error = "false pass" if wrong else "false fail"
        yield f"{name}: {error}", mode, int((found == wrong).sum()), float((found == -1).mean())


def adaptive_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield errors of whole series against developers who adapt; labels are coin flips, so n = 0.5 whatever they do."""
    keys = {"condition": "n > 0.5 +/- 0.25", "reliability": 1 - delta, "steps": 5}
    attacks = (
        ("full: verdicts steer a vote", "full", _vote),
        ("full: labels of used examples are learned", "full", _learn),
        ("firstChange: retries until the first pass", "firstChange", _until_pass),
        ("(for comparison: point estimates, no bound)", "full", _naive),
    )
    for name, adaptivity, attack in attacks:
        config = read_config({**keys, "adaptivity": adaptivity})
        size = plan(config).unlabelled
        generator = np.random.default_rng(int(1e6 * delta))
        yield f"adaptive, {name}", "fp-free", sum(attack(config, size, generator) for _ in range(runs)), 0.0


def _examples(right: np.ndarray) -> Examples:
    return Examples(right.astype(float), right.astype(float), np.zeros(len(right), bool), np.ones(len(right), bool))


def _vote(config: Config, size: int, generator: np.random.Generator) -> bool:
    """Random models on shared labels, then the vote of all, for or against by their verdicts (Blum and Hardt 2015)."""
    labels = generator.random(size) < 0.5
    ledger, votes, passed = open_ledger(config, np.ones(size, bool)), np.zeros(size), False
    for step in range(config.steps):
        last = step == config.steps - 1
        said = (votes + generator.random(size) - 0.5 > 0) if last else generator.random(size) < 0.5
        verdict, ledger = ledger.test(str(step), _examples(said == labels))
        passed |= verdict.passed
        votes += (1 if verdict.passed else -0.2) * (2 * said - 1)
    return passed


def _learn(config: Config, size: int, generator: np.random.Generator) -> bool:
    """Models that know the labels of every example used so far, where each step takes fresh ones."""
    size *= 2
    labels = generator.random(size) < 0.5
    unlabelled = np.zeros(size, bool)
    ledger, passed = open_ledger(config, unlabelled), False
    for step in range(config.steps):
        said = generator.random(size) < 0.5
        said[ledger.released] = labels[ledger.released]
        verdict, ledger = ledger.test(str(step), _examples(said == labels))
        passed |= verdict.passed
    return passed


def _until_pass(config: Config, size: int, generator: np.random.Generator) -> bool:
    labels = generator.random(size) < 0.5
    ledger = open_ledger(config, np.ones(size, bool))
    for step in range(config.steps):
        verdict, ledger = ledger.test(str(step), _examples((generator.random(size) < 0.5) == labels))
        if verdict.passed:
            return True
    return False


def _naive(config: Config, size: int, generator: np.random.Generator) -> bool:
    labels = generator.random(size) < 0.5
    return any(((generator.random(size) < 0.5) == labels).mean() > 0.5 for _ in range(config.steps))


def bound_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield how often each bound for one look (or, for sequences, for all looks) misses the truth."""
    generator = np.random.default_rng(5)
    nats = math.log(1 / delta)
    size = up(hoeffding_size(1.0, 0.05, nats))
    yield "Hoeffding size, p = 0.5", "one side", _beyond(generator.binomial(size, 0.5, runs) / size, 0.55), 0.0
    size = up(bennett_size(0.1, 0.02, nats))
    won = generator.binomial(size, 0.06, runs)
    lost = generator.binomial(size - won, 0.04 / 0.94)
    yield "Bennett size, d = 0.1", "one side", _beyond((won - lost) / size, 0.04), 0.0
    for share in (0.02, 0.3):
        counts = generator.binomial(150, share, runs)
        ends = {int(count): clopper_pearson(int(count), 150, delta) for count in np.unique(counts)}
        misses = sum(not ends[int(count)][0] <= share <= ends[int(count)][1] for count in counts)
        yield f"Clopper-Pearson, p = {share}", "two sides", misses, 0.0
    skewed = generator.beta(0.2, 1.8, (runs, 120))
    yield "empirical Bernstein", "two sides", _misses(lambda x: empirical_bernstein(x, 1.0, delta), skewed, 0.1), 0.0
    yield "confidence sequence, all looks", "two sides", _sequence_misses(delta, runs, generator), 0.0
    yield "F1, all looks", "one side", _f1_misses(nats, runs, generator), 0.0
    misses = 0
    for _ in range(runs):
        guesses = generator.beta(8, 2, 600)
        values = (generator.random(200) < guesses[:200]).astype(float)
        found = powered_mean(values, guesses[:200], guesses[200:], delta)
        misses += not found.low <= 0.8 <= found.high
    yield "prediction-powered, exact", "two sides", misses, 0.0


def _beyond(estimates: np.ndarray, edge: float) -> int:
    return int((estimates >= edge - 1e-12).sum())


def _misses(interval: Callable[[np.ndarray], tuple[float, float]], samples: np.ndarray, truth: float) -> int:
    found = [interval(sample) for sample in samples]
    return sum(not low <= truth <= high for low, high in found)


def _sequence_misses(delta: float, runs: int, generator: np.random.Generator) -> int:
    """Count sequences that ever miss the mean, looked at after every value.

    The interval leaves out a mean exactly when the wealth against it has reached 2 / delta on either side.
    """
    bets, nats, misses = ladder_of_bets(1 / 64, 1.0), math.log(2 / delta), 0
    for _ in range(runs):
        unit = (0.5 + (generator.random(300) < 0.2) - 0.5 * (generator.random(300) < 0.1)) / 1.5
        mean = 0.65 / 1.5
        misses += bool(
            (log_wealth(unit, mean, bets) >= nats).any() or (log_wealth(1 - unit, 1 - mean, bets) >= nats).any()
        )
    return misses


def _f1_misses(nats: float, runs: int, generator: np.random.Generator) -> int:
    """Count lower bounds of F1 that ever lie above it, looked at after every event; F1 = 0.6 by tp : errors = 3 : 4.

    The bound lies above c exactly when the wealth against "F1 <= c" has reached 1 / delta.
    """
    bets, misses = ladder_of_bets(1 / 64, 1.0), 0
    for _ in range(runs):
        values = np.where(generator.random(300) < 3 / 7, 2 * 0.4, -0.6) / 2
        misses += bool((log_wealth(values, 0.0, bets) >= nats).any())
    return misses


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--series", type=int, default=1_000, help="series against each adaptive developer")
    parser.add_argument("--deltas", type=float, nargs="+", default=[0.05, 0.01])
    parser.add_argument("--parts", nargs="+", default=["commit", "bound", "adaptive"])
    options = parser.parse_args()
    parts = {"commit": commit_errors, "bound": bound_errors, "adaptive": adaptive_errors}
    print(
        f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, NumPy {np.__version__}, ",
        end="",
    )
    print(f"SciPy {scipy.__version__}, Numba {numba.__version__}; {options.runs:,} runs a line")
    RESULTS.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        with (RESULTS / f"{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "mode", "delta", "runs", "errors", "rate", "lower_bound", "open", "within"])
            for delta in options.deltas:
                runs = options.series if part == "adaptive" else options.runs
                for name, mode, errors, unsettled in parts[part](delta, runs):
                    lower = float(beta.ppf(0.001, errors, runs - errors + 1)) if errors else 0.0
                    kept = "-" if "(for" in name else "yes" if lower <= delta else "NO"
                    row = [name, mode, delta, runs, errors, errors / runs, f"{lower:.4f}", f"{unsettled:.4f}", kept]
                    writer.writerow(row)
                    print(
                        f"{name:55} {mode:10} {delta:5} {errors / runs:8.4f} open {unsettled:.3f}  <= delta: {kept}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()

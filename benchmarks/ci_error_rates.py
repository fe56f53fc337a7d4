"""How often continuous integration errs: 10,000 simulated commits for every bound and mode, where
errors are likeliest.

Each line is one kind of error that is promised to happen with probability at most delta, simulated
where it is most likely. A one-sided Clopper-Pearson test (level 0.001 a line) looks for evidence of
more than delta. The tests of the library are run on thousands of series at once by a compiled twin,
which is compared with the library on the first runs.
"""

import csv
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.stats import beta

from ci_simulation import KINDS, Twin, World, nats_of, simulate
from common import arguments, machine_line, read_options
from easeml.lifecycle.ci import (
    Config,
    Examples,
    Mode,
    clopper_pearson,
    empirical_bernstein,
    log_wealth,
    open_ledger,
    plan,
    powered_mean,
    read_config,
    step_nats,
    try_commit,
)
from easeml.lifecycle.ci.betting import ladder_of_bets
from easeml.lifecycle.ci.bounds import bennett_size, hoeffding_size, up

STEPS = 5
"""Commits of a series against a developer who adapts."""


def cases() -> Iterator[tuple[str, str, str, World, int, dict]]:
    """Yield name, condition, mode, world, the answer that would be an error, and more keys of the
    configuration.
    """
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fp-free", World(0.8, 0.8, 0.1), 1, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fp-free", World(0.9, 0.8, 0.15), 0, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fn-free", World(0.8, 0.8, 0.1), 0, {}
    yield "one variable, exact", "n > 0.8 +/- 0.05", "fn-free", World(0.7, 0.7, 0.1), 1, {}
    yield "unlabelled d, exact", "d < 0.1 +/- 0.03", "fp-free", World(0.8, 0.8, 0.1), 1, {}
    yield "unlabelled d, exact", "d < 0.1 +/- 0.03", "fn-free", World(0.8, 0.8, 0.1), 0, {}
    known = {"difference": 0.15}
    yield (
        "difference, d stated",
        "n - o > 0.02 +/- 0.03",
        "fp-free",
        World(0.82, 0.8, 0.15),
        1,
        known,
    )
    yield (
        "difference, d stated",
        "n - o > 0.02 +/- 0.03",
        "fp-free",
        World(0.88, 0.8, 0.15),
        0,
        known,
    )
    yield (
        "difference, d stated",
        "n - o > 0.02 +/- 0.03",
        "fn-free",
        World(0.82, 0.8, 0.15),
        0,
        known,
    )
    yield (
        "difference, ties",
        "n - o > 0.02 +/- 0.03",
        "fp-free",
        World(0.72, 0.7, 0.15, 0.4),
        1,
        known,
    )
    yield (
        "difference, d stated wrong",
        "n - o > 0.02 +/- 0.03",
        "fp-free",
        World(0.72, 0.7, 0.5),
        1,
        known,
    )
    yield (
        "difference, negative",
        "n - o > -0.05 +/- 0.03",
        "fp-free",
        World(0.75, 0.8, 0.15),
        1,
        known,
    )
    yield "weighted", "n - 1.1 * o > 0.01 +/- 0.1", "fp-free", World(0.78, 0.7, 0.3), 1, {}
    pattern = "d < 0.2 +/- 0.05 /\\ n - o > 0.02 +/- 0.03"
    yield "and: quality at the edge", pattern, "fp-free", World(0.82, 0.8, 0.15), 1, {}
    yield "and: both at the edge", pattern, "fp-free", World(0.82, 0.8, 0.2), 1, {}
    yield "and: both far enough", pattern, "fp-free", World(0.88, 0.8, 0.1), 0, {}
    yield "and: both at the edge", pattern, "fn-free", World(0.82, 0.8, 0.2), 0, {}
    seed_case = "n - o > 0.05 +/- 0.03 \\/ d < 0.1 +/- 0.03"
    yield (
        "or: both at the edge",
        seed_case,
        "fp-free",
        World(0.85, 0.8, 0.1),
        1,
        {"difference": 0.2},
    )
    yield "or: one at the edge", seed_case, "fp-free", World(0.85, 0.8, 0.2), 1, {"difference": 0.2}
    yield "or: one far enough", seed_case, "fp-free", World(0.91, 0.8, 0.15), 0, {"difference": 0.2}
    yield (
        "or: both at the edge",
        seed_case,
        "fn-free",
        World(0.85, 0.8, 0.1),
        0,
        {"difference": 0.2},
    )


def commit_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield name, mode, errors and share left open for each case of one commit."""
    for number, (name, condition, mode, world, wrong, more) in enumerate(cases()):
        keys = {
            "condition": condition,
            "reliability": 1 - delta,
            "mode": mode,
            "adaptivity": "none",
            **more,
        }
        config = read_config(keys)
        nats = step_nats(config, shared=True)
        rows = plan(config).unlabelled
        found = simulate(config, world, nats=nats, rows=rows, runs=runs, seed=1000 + number).truth
        error = "false pass" if wrong else "false fail"
        yield f"{name}: {error}", mode, int((found == wrong).sum()), float((found == -1).mean())


def metric_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield errors of the library's own tests where the walk is not compiled: F1, bounded losses,
    unknown d.
    """
    for number, (name, condition, mode, draw, wrong, more) in enumerate(metric_cases()):
        config = read_config(
            {"condition": condition, "reliability": 1 - delta, "mode": mode, **more}
        )
        generator = np.random.default_rng(2000 + number)
        found = [
            try_commit(config, draw(generator), nats_of(delta), shared=False).truth
            for _ in range(runs)
        ]
        error = "false pass" if wrong else "false fail"
        yield f"{name}: {error}", mode, found.count(wrong), found.count(None) / runs


def metric_cases() -> Iterator[
    tuple[str, str, str, Callable[[np.random.Generator], Examples], bool, dict]
]:
    """Yield name, condition, mode, draw of a test set at the edge, the answer that would be an
    error, more keys.
    """
    f1 = {"metric": "f1"}
    yield "F1", "n > 0.6 +/- 0.1", "fp-free", _f1_rows, True, f1
    yield "F1", "n > 0.6 +/- 0.1", "fn-free", _f1_rows, False, f1
    yield "F1, difference", "n - o > 0.1 +/- 0.1", "fp-free", _f1_rows, True, f1
    yield (
        "mean of bounded losses",
        "n < 0.2 +/- 0.05",
        "fp-free",
        _losses,
        True,
        {"metric": "absolute-error"},
    )
    yield (
        "mean of bounded losses",
        "n < 0.2 +/- 0.05",
        "fn-free",
        _losses,
        False,
        {"metric": "absolute-error"},
    )
    yield (
        "difference of bounded losses",
        "o - n > 0.1 +/- 0.05",
        "fp-free",
        _losses,
        True,
        {"metric": "squared-error"},
    )
    yield (
        "difference of bounded losses",
        "o - n > 0.1 +/- 0.05",
        "fn-free",
        _losses,
        False,
        {"metric": "squared-error"},
    )
    yield "bounded score", "n > 0.2 +/- 0.05", "fp-free", _losses, True, {"metric": "score"}
    yield "difference, d learned", "n - o > 0.02 +/- 0.03", "fp-free", _rows, True, {}
    yield "difference, d learned", "n - o > 0.02 +/- 0.03", "fn-free", _rows, False, {}


def _f1_rows(generator: np.random.Generator) -> Examples:
    """F1 of 0.6 (new) and 0.5 (old) on 300 rows: a hit on 3 in 10 or 1 in 4, an error on 4 in 10 or
    1 in 2.
    """
    lots = generator.random((2, 300))
    scores = [
        np.column_stack([lot < hits, (lot >= hits) & (lot < hits + errors)]).astype(float)
        for lot, hits, errors in zip(lots, (0.3, 0.25), (0.4, 0.5), strict=True)
    ]
    return Examples(scores[0], scores[1], (scores[0] != scores[1]).any(axis=1), np.ones(300, bool))


def _losses(generator: np.random.Generator) -> Examples:
    """Losses in tenths on 400 rows, of mean 0.2 (new) and 0.3 (old)."""
    new, old = generator.binomial(10, 0.2, 400) / 10, generator.binomial(10, 0.3, 400) / 10
    return Examples(new, old, new != old, np.ones(400, bool))


def _rows(generator: np.random.Generator) -> Examples:
    """Right and wrong on 1,500 rows: 0.82 (new) and 0.8 (old), 15 % changed, which nobody told the
    test.
    """
    table = KINDS[generator.choice(len(KINDS), 1500, p=World(0.82, 0.8, 0.15).shares())]
    return Examples(table[:, 0], table[:, 1], table[:, 2] > 0, np.ones(1500, bool))


def adaptive_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield errors of whole series against developers who adapt; labels are coin flips, so n = o =
    0.5 whatever they do: the edge of both conditions, where no commit may pass (fp-free) or fail
    (fn-free)."""
    attacks = (
        ("full: verdicts steer a vote", "full", True, _vote),
        ("full: labels of used examples are learned", "full", False, _learn),
        ("firstChange: retries until the first pass", "firstChange", True, _until_pass),
    )
    for condition, more in (("n > 0.5 +/- 0.1", {}), ("n - o > 0 +/- 0.15", {"difference": 0.6})):
        for mode in ("fp-free", "fn-free"):
            for name, adaptivity, shared, attack in attacks:
                keys = {
                    "condition": condition,
                    "reliability": 1 - delta,
                    "mode": mode,
                    "adaptivity": adaptivity,
                }
                config = read_config({**keys, "steps": STEPS, **more})
                twin = Twin(config, step_nats(config, shared=shared))
                size = max(
                    method.pool
                    for method in plan(config).methods
                    if method.name.startswith("sequential")
                )
                keeper = partial(_by_twin, twin, config, shared)
                generator = np.random.default_rng(int(1e6 * delta))
                errors = sum(attack(keeper, size, _error(config), generator) for _ in range(runs))
                _compare(attack, config, shared, size, keeper)
                yield f"adaptive, {condition}, {name}", mode, errors, 0.0
    generator = np.random.default_rng(int(1e6 * delta))
    naive = sum(_naive(200, generator) for _ in range(runs))
    yield "adaptive, (for comparison: point estimates, no bound)", "fp-free", naive, 0.0


Keeper = Callable[[np.ndarray, np.ndarray, int], tuple[str, int]]
"""Takes predictions, labels (both in random order) and where to start; returns an answer and the
rows looked at.
"""


def _by_twin(
    twin: Twin, config: Config, shared: bool, said: np.ndarray, labels: np.ndarray, start: int
):
    truth, rows = twin.settle(said[start:] == labels[start:], ~labels[start:])
    by_mode = ("fail" if config.mode is Mode.FP_FREE else "pass") if shared else "unknown"
    return (by_mode if truth < 0 else ("fail", "pass")[truth]), rows


class _ByLedger:
    """The keeper that the twin is compared with: the library's ledger; the old model always says
    no.
    """

    def __init__(self, config: Config, shared: bool, size: int):
        self._ledger = open_ledger(config, np.full(size, shared))
        self._order = self._ledger.order()

    def __call__(self, said: np.ndarray, labels: np.ndarray, start: int) -> tuple[str, int]:
        size, order = len(said), self._order
        new, old, changed = np.zeros(size), np.zeros(size), np.zeros(size, bool)
        new[order], old[order], changed[order] = said == labels, ~labels, said
        commit = str(len(self._ledger.history))
        verdict, self._ledger = self._ledger.test(
            commit, Examples(new, old, changed, np.ones(size, bool))
        )
        step = self._ledger.history[-1]
        if step.start != start:
            raise AssertionError("the ledger started elsewhere")
        return verdict.answer, step.rows


def _compare(attack: Callable, config: Config, shared: bool, size: int, keeper: Keeper) -> None:
    for seed in range(10):
        keepers = (keeper, _ByLedger(config, shared, size))
        found = [attack(one, size, _error(config), np.random.default_rng(seed)) for one in keepers]
        if found[0] != found[1]:
            raise AssertionError(
                f"the compiled walk and the ledger differ: {config.condition}, series {seed}"
            )


def _vote(keeper: Keeper, size: int, error: str, generator: np.random.Generator) -> bool:
    """Random models on shared labels, then the vote of all, for or against by their verdicts (Blum
    and Hardt 2015).
    """
    labels = generator.random(size) < 0.5
    votes, erred = np.zeros(size), False
    for step in range(STEPS):
        last = step == STEPS - 1
        said = (votes + generator.random(size) - 0.5 > 0) if last else generator.random(size) < 0.5
        wrong = keeper(said, labels, 0)[0] == error
        erred |= wrong
        votes += (1 if wrong else -0.2) * (2 * said - 1)
    return erred


def _learn(keeper: Keeper, size: int, error: str, generator: np.random.Generator) -> bool:
    """Models that know the labels of every example used so far, where each step takes fresh ones."""
    labels = generator.random(size) < 0.5
    start, erred = 0, False
    for _ in range(STEPS):
        if start >= size:
            break
        said = generator.random(size) < 0.5
        said[:start] = labels[:start] if error == "pass" else ~labels[:start]
        answer, rows = keeper(said, labels, start)
        erred |= answer == error
        start += rows
    return erred


def _until_pass(keeper: Keeper, size: int, error: str, generator: np.random.Generator) -> bool:
    """Random models until one passes."""
    labels = generator.random(size) < 0.5
    for _ in range(STEPS):
        answer, _ = keeper(generator.random(size) < 0.5, labels, 0)
        if answer == error:
            return True
        if answer != "fail":
            return False
    return False


def _error(config: Config) -> str:
    """Return the answer that the mode guards against."""
    return "pass" if config.mode is Mode.FP_FREE else "fail"


def _naive(size: int, generator: np.random.Generator) -> bool:
    labels = generator.random(size) < 0.5
    return any(((generator.random(size) < 0.5) == labels).mean() > 0.5 for _ in range(STEPS))


def bound_errors(delta: float, runs: int) -> Iterator[tuple[str, str, int, float]]:
    """Yield how often each bound for one look (or, for sequences, for all looks) misses the truth."""
    generator = np.random.default_rng(5)
    nats = nats_of(delta)
    size = up(hoeffding_size(1.0, 0.05, nats))
    yield (
        "Hoeffding size, p = 0.5",
        "one side",
        _beyond(generator.binomial(size, 0.5, runs) / size, 0.55),
        0.0,
    )
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
    yield (
        "empirical Bernstein",
        "two sides",
        _misses(lambda x: empirical_bernstein(x, 1.0, delta), skewed, 0.1),
        0.0,
    )
    yield (
        "confidence sequence, all looks",
        "two sides",
        _sequence_misses(delta, runs, generator),
        0.0,
    )
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


def _misses(
    interval: Callable[[np.ndarray], tuple[float, float]], samples: np.ndarray, truth: float
) -> int:
    found = [interval(sample) for sample in samples]
    return sum(not low <= truth <= high for low, high in found)


def _sequence_misses(delta: float, runs: int, generator: np.random.Generator) -> int:
    """Count sequences that ever miss the mean, looked at after every value.

    The interval leaves out a mean exactly when the wealth against it has reached 2 / delta on
    either side.
    """
    bets, nats, misses = ladder_of_bets(1 / 64, 1.0), math.log(2 / delta), 0
    for _ in range(runs):
        unit = (0.5 + (generator.random(300) < 0.2) - 0.5 * (generator.random(300) < 0.1)) / 1.5
        mean = 0.65 / 1.5
        misses += bool(
            (log_wealth(unit, mean, bets) >= nats).any()
            or (log_wealth(1 - unit, 1 - mean, bets) >= nats).any()
        )
    return misses


def _f1_misses(nats: float, runs: int, generator: np.random.Generator) -> int:
    """Count lower bounds of F1 that ever lie above it, looked at after every event; F1 = 0.6 by tp
    : errors = 3 : 4.

    The bound lies above c exactly when the wealth against "F1 <= c" has reached 1 / delta.
    """
    bets, misses = ladder_of_bets(1 / 64, 1.0), 0
    for _ in range(runs):
        values = np.where(generator.random(300) < 3 / 7, 2 * 0.4, -0.6) / 2
        misses += bool((log_wealth(values, 0.0, bets) >= nats).any())
    return misses


def main() -> None:
    """Print the table and write it."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument(
        "--series", type=int, default=10_000, help="series against each adaptive developer"
    )
    parser.add_argument("--deltas", type=float, nargs="+", default=[0.05, 0.01])
    parser.add_argument("--parts", nargs="+", default=["commit", "metric", "bound", "adaptive"])
    options = read_options(parser, runs=10, series=20, deltas=[0.05])
    parts = {
        "commit": commit_errors,
        "metric": metric_errors,
        "bound": bound_errors,
        "adaptive": adaptive_errors,
    }
    print(machine_line("numpy", "scipy", "numba"))
    print(f"{options.runs:,} runs a line")
    for part in options.parts:
        with (options.out / f"{part}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(
                ["case", "mode", "delta", "runs", "errors", "rate", "lower_bound", "open", "within"]
            )
            for delta in options.deltas:
                runs = options.series if part == "adaptive" else options.runs
                for name, mode, errors, unsettled in parts[part](delta, runs):
                    lower = float(beta.ppf(0.001, errors, runs - errors + 1)) if errors else 0.0
                    kept = "-" if "(for" in name else "yes" if lower <= delta else "NO"
                    row = [
                        name,
                        mode,
                        delta,
                        runs,
                        errors,
                        errors / runs,
                        f"{lower:.4f}",
                        f"{unsettled:.4f}",
                        kept,
                    ]
                    writer.writerow(row)
                    file.flush()
                    print(
                        f"{name:72} {mode:10} {delta:5} {errors / runs:8.4f} open {unsettled:.3f}  <= delta: {kept}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()

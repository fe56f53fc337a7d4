"""Conditions that compare groups of rows: how often one that does not hold passes, and how soon one does.

    python benchmarks/gates_on_groups.py [--rows 1500 3000] [--draws 1000]

A model is right with some chance in each of two groups, of which the first has a share of the rows.
``n[a] - n[b] > -0.1 +/- 0.05`` is tested at an error of .1 on labelled rows, by three ways of
putting two groups together:

    blocks      easeml: a row of the small group beside the mean of as many of the large one
    pairs       a row of each; rows of the large group that are left over are not used
    bounds      a confidence sequence for each group at half of the error, and their ends joined

    gap         of the chances to be right; -0.1 is the boundary, where passing is wrong
    passed      share of the draws that pass
    labels      median of the labels that were used
"""

import math
from collections.abc import Callable

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.ci import (
    Config,
    Examples,
    Group,
    confidence_sequence,
    read_config,
    step_nats,
    try_commit,
)

SMALL, LARGE = Group("g", "=", "a"), Group("g", "=", "b")
CONDITION = "n[g = a] - n[g = b] > -0.1 +/- 0.05"
DELTA = 0.1
SHARES = (0.5, 0.2, 0.05)
GAPS = (-0.1, 0.05)
EVERY = 25  # rows between two looks of the joined bounds
COLUMNS = ["rows", "share", "gap", "way", "passed", "labels"]
Way = Callable[[Config, Examples], tuple[bool, int]]


def drawn(rows: int, share: float, gap: float, seed: int) -> Examples:
    """Return rows of two groups, and whether a model is right about each."""
    random = np.random.default_rng(seed)
    is_small = random.random(rows) < share
    chance = np.where(is_small, 0.8 + gap, 0.8)
    right = (random.random(rows) < chance).astype(float)
    known = np.ones(rows, dtype=bool)
    return Examples(right, right, ~known, known, {SMALL: is_small, LARGE: ~is_small})


def by_blocks(config: Config, examples: Examples) -> tuple[bool, int]:
    """Test as easeml does."""
    found = try_commit(config, examples, step_nats(config, shared=True), shared=True)
    return found.truth is True, found.labels


def by_pairs(config: Config, examples: Examples) -> tuple[bool, int]:
    """Test on the first rows of each group, as many of both."""
    small, large = (np.flatnonzero(examples.groups[group]) for group in (SMALL, LARGE))
    pairs = min(len(small), len(large))
    rows = np.sort(np.concatenate([small[:pairs], large[:pairs]]))
    return by_blocks(config, examples.take(rows))


def by_bounds(config: Config, examples: Examples) -> tuple[bool, int]:
    """Test by an interval of each group, both of which hold at all times."""
    level = 2 * config.delta / 2  # one side of each counts
    for rows in range(EVERY, len(examples) + 1, EVERY):
        ends = []
        for group in (SMALL, LARGE):
            values = examples.new[:rows][examples.groups[group][:rows]]
            ends.append(confidence_sequence(values, 0.0, 1.0, level))
        (low, high), (other_low, other_high) = ends
        if low - other_high > -0.1:
            return True, rows
        if high - other_low < 0.0:
            return False, rows
    return False, len(examples)


WAYS: dict[str, Way] = {"blocks": by_blocks, "pairs": by_pairs, "bounds": by_bounds}


def main() -> None:
    """Test and print a table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1500, 3000])
    parser.add_argument("--draws", type=int, default=1000)
    options = read_options(parser, rows=[200], draws=2)
    print(machine_line("numpy", "scipy"))
    config = read_config({"condition": CONDITION, "reliability": 1 - DELTA, "adaptivity": "none"})
    lines: list[list[object]] = []
    for rows in options.rows:
        for share in SHARES:
            for gap in GAPS:
                for name, way in WAYS.items():
                    draws = options.draws if name != "bounds" else math.ceil(options.draws / 10)
                    found = [way(config, drawn(rows, share, gap, seed)) for seed in range(draws)]
                    passed, labels = np.transpose(found)
                    line = [rows, share, gap, name, passed.mean().round(3), int(np.median(labels))]
                    lines.append(line)
    for line in [COLUMNS, *lines]:
        print(*line, sep="\t")
    write_table(options.out / "gates_on_groups.csv", COLUMNS, lines)


if __name__ == "__main__":
    main()

"""Wrong numbers among few and many: how many right ones look wrong, and how many wrong ones are found.

    python benchmarks/wrong_numbers.py [--rows 20 40 80 200 800] [--draws 60]

Errors of right numbers follow six laws; then a share of normal errors belongs to wrong numbers, which
are off by a normal error that many times as wide. ``judge_numbers`` is told the errors alone.

    flagged     share of the rows that look wrong
    expected    share of the rows that are said to be wrong
    precision   share of the flagged rows that are wrong
    recall      share of the wrong rows that are flagged
"""

from collections.abc import Callable

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.labeling import judge_numbers

Law = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, Law] = {
    "normal": lambda random, rows: random.normal(size=rows),
    "Laplace": lambda random, rows: random.laplace(size=rows),
    "Student's t, 3 degrees": lambda random, rows: random.standard_t(3, size=rows),
    "uniform": lambda random, rows: random.uniform(-1, 1, rows),
    "normal, of many scales": lambda random, rows: (
        random.normal(size=rows) * np.exp(0.6 * random.normal(size=rows))
    ),
    "lognormal": lambda random, rows: random.lognormal(0, 1, rows) - 1.6,
}
WRONG = [(0.05, 6), (0.1, 4), (0.1, 8), (0.2, 6)]
"""Shares of wrong numbers, and how many times as wide their errors are."""
COLUMNS = ["rows", "errors", "wrong", "flagged", "expected", "precision", "recall"]


def right_ones(law: Law, rows: int, draws: int) -> list[object]:
    """Return what is said of right numbers alone."""
    flagged, expected = [], []
    for seed in range(draws):
        found = judge_numbers(np.zeros(rows), law(np.random.default_rng(seed), rows))
        flagged.append(found.flagged.mean())
        expected.append(found.wrong.mean())
    return [round(np.mean(flagged), 3), round(np.mean(expected), 3), "", ""]


def wrong_ones(share: float, width: float, rows: int, draws: int) -> list[object]:
    """Return what is said where a share of the numbers is wrong."""
    count = max(1, round(share * rows))
    flagged, hits, expected = 0, 0, []
    for seed in range(draws):
        random = np.random.default_rng(seed)
        errors = random.normal(size=rows)
        errors[:count] = random.normal(size=count) * width
        found = judge_numbers(np.zeros(rows), errors)
        flagged += int(found.flagged.sum())
        hits += int(found.flagged[:count].sum())
        expected.append(found.wrong.mean())
    precision = round(hits / max(1, flagged), 2)
    recall = round(hits / (count * draws), 2)
    return [round(flagged / (rows * draws), 3), round(np.mean(expected), 3), precision, recall]


def main() -> None:
    """Judge and print a table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 40, 80, 200, 800])
    parser.add_argument("--draws", type=int, default=60)
    options = read_options(parser, rows=[20], draws=1)
    print(machine_line("numpy", "scipy"))
    lines: list[list[object]] = []
    for rows in options.rows:
        for name, law in LAWS.items():
            lines.append([rows, name, 0, *right_ones(law, rows, options.draws)])
        for share, width in WRONG:
            found = wrong_ones(share, width, rows, options.draws)
            lines.append([rows, f"normal, wrong ones {width} times", share, *found])
    for line in [COLUMNS, *lines]:
        print(*line, sep="\t")
    write_table(options.out / "wrong_numbers.csv", COLUMNS, lines)


if __name__ == "__main__":
    main()

"""How often the bound of feasibility by cells that decide lies above the least error.

    python benchmarks/mixed_cells.py [--tables 100] [--out DIR] [--short]

One column decides by its values, the cells. In a share of the cells another column decides in half
of the rows, which is not shown; a share of all labels is wrong, which is the least error. Cells are
of equal size, or by Zipf's law. ``bounds.csv`` gives for each law how often the bound, which states
2.5 %, lies above the least error, and its mean.
"""

from itertools import product

import numpy as np

from common import arguments, machine_line, read_options, write_table
from easeml.lifecycle.feasibility.pairs import pair_floors

SIZES = [(500, 40), (2000, 31), (2000, 200), (8000, 60)]
MIXED = [0.0, 0.03, 0.1, 0.3]
WRONG = [0.05, 0.15, 0.3]
CLASSES = [2, 4]
HEAD = ["rows", "cells", "classes", "mixed", "sizes", "least error", "tables", "above", "bound"]


def drawn(
    rows: int, cells: int, classes: int, mixed: float, by_zipf: bool, wrong: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell and the label of each row."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, cells + 1) if by_zipf else np.ones(cells)
    code = rng.choice(cells, rows, p=rng.permutation(shares / shares.sum()))
    answers = rng.integers(0, classes, cells)
    is_mixed = rng.permutation(cells) < round(mixed * cells)
    by_another = is_mixed[code] & (rng.random(rows) < 0.5)
    label = (answers[code] + by_another) % classes
    off = np.where(rng.random(rows) < wrong, rng.integers(1, classes, rows), 0)
    return code, (label + off) % classes


def main() -> None:
    """Draw all tables, and write the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--tables", type=int, default=100)
    options = read_options(parser, tables=1)
    print(machine_line("numpy"))
    lines = []
    for (rows, cells), classes, mixed, by_zipf, wrong in product(
        SIZES, CLASSES, MIXED, (False, True), WRONG
    ):
        found = []
        for seed in range(options.tables):
            code, label = drawn(rows, cells, classes, mixed, by_zipf, wrong, seed)
            floors = pair_floors(code, label, classes, 200, np.random.default_rng(1))
            found.append(0.0 if floors is None else float(np.quantile(floors, 0.025)))
        sizes = "Zipf" if by_zipf else "equal"
        line = [rows, cells, classes, mixed, sizes, wrong, options.tables]
        lines.append([*line, float(np.mean(np.array(found) > wrong)), round(np.mean(found), 4)])
        print(*lines[-1], flush=True)
    write_table(options.out / "bounds.csv", HEAD, lines)


if __name__ == "__main__":
    main()

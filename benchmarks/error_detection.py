"""Error detection on tables of which the clean version is known: precision, recall and F1 by
method, cell by cell.

A cell is wrong if the dirty and the clean file differ there. "all, no rules given" is what ``easeml
clean detect FILE`` does; "all, with rules" is given the published constraints that are functional
dependencies. Thresholds were settled while looking at these three tables, so expect less on others.
"""

import csv
import time
from pathlib import Path

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options
from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import METHODS, Rule, detect_errors, parse_rules

SETS = ("hospital", "beers", "flights")
CELLS = [method for method in METHODS if method not in ("duplicate", "label")]


def rules_of(path: Path) -> tuple[list[Rule], int]:
    """Return the constraints that are functional dependencies, and how many others there are."""
    rules, others = [], 0
    for line in path.read_text().splitlines():
        try:
            rules += parse_rules(line)
        except InvalidInput:
            others += 1
    return rules, others


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--rows", type=int, help="only so many rows of each table")
    args = read_options(parser, rows=100, sets=["beers"])
    print(machine_line("pyod", "cleanlab"))
    table = []
    for name in args.sets:
        folder = args.data / f"dirty_{name}"
        dirty, clean = (
            pd.read_csv(folder / f"{kind}.csv", dtype=str, keep_default_na=False, nrows=args.rows)
            for kind in ("dirty", "clean")
        )
        wrong = (dirty != clean).to_numpy()
        rules, others = rules_of(folder / "denial_constraints.txt")
        print(
            f"\n{name}: {wrong.size} cells, {wrong.sum()} wrong; {len(rules)} rules given, {others} not understood"
        )
        print(
            f"  {'method':20s} {'found':>6} {'precision':>9} {'recall':>7} {'F1':>6} {'seconds':>8}"
        )
        ways = {method: [method] for method in CELLS}
        ways["all, no rules given"] = [method for method in CELLS if method != "rule"]
        ways["all, with rules"] = CELLS
        for label, methods in ways.items():
            begin = time.perf_counter()
            found = detect_errors(dirty, rules=rules, methods=methods).mask()
            seconds, right = time.perf_counter() - begin, int((found & wrong).sum())
            precision, recall = right / max(1, found.sum()), right / wrong.sum()
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            table.append([name, label, int(found.sum()), precision, recall, f1])
            print(
                f"  {label:20s} {found.sum():6d} {precision:9.3f} {recall:7.3f} {f1:6.3f} {seconds:8.2f}"
            )
    with (args.out / "methods.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "method", "found", "precision", "recall", "F1"])
        writer.writerows([*row[:3], *np.round(row[3:], 4).tolist()] for row in table)


if __name__ == "__main__":
    main()

"""When may cleaning stop? Rows cleaned until predictions are certain, nearly certain, or hardly in
doubt.

On the CPClean data sets, for the published setting (numbers scaled to [0, 1], the first 1,000
validation points, k = 3) and for ours (unit spread, all 1,400). Three rules: a share of the
validation predictions is certain; less than half a prediction is expected to turn out otherwise;
all are certain. Beside each: accuracy on test rows, and the share of predictions (test and
validation) equal to those of a model of the true rows.

``needed`` bounds every order from below. With more rows cleaned, no certain prediction becomes
uncertain. So a row must be cleaned, by whatever order, if some prediction is uncertain once all
rows but this one are clean. Writes CSV.
"""

import argparse
import csv
import time

import numpy as np

from cleaning_curves import PUBLISHED, SETS, predictions
from common import arguments, machine_line, read_options
from cpclean_data import CpcleanData, load
from easeml.lifecycle.cleaning import CleaningSession
from easeml.lifecycle.cleaning.points import Points

SETTINGS = {"published": ("range", 1000), "easeml": ("spread", 1400)}
CERTAIN = (0.9, 0.95, 0.99, 1.0)
FIELDS = [
    "set",
    "setting",
    "dirty",
    "rule",
    "cleaned",
    "share",
    "certain",
    "in doubt",
    "test",
    "true test",
    "alike",
]


def needed(data: CpcleanData, points: np.ndarray, k: int) -> int:
    """Return how many rows every order must clean until all predictions are certain."""
    scan = Points(data.rows, points, k)
    for row in data.rows.dirty:
        scan.clean(int(row), int(data.truth[row]))
    count = 0
    for row in data.rows.dirty:
        own = slice(data.rows.first[row], data.rows.first[row + 1])
        known = scan.state.alive[own].copy()
        scan.state.alive[own], scan.state.size[row] = True, len(known)
        count += bool((scan.possible(enough=2).sum(axis=1) > 1).any())
        scan.state.alive[own], scan.state.size[row] = known, 1
    return count


def follow(
    data: CpcleanData, points: np.ndarray, k: int, batch: int
) -> list[tuple[int, float, float, list[int]]]:
    """Clean in our order to the end; return (rows, share certain, predictions in doubt, order so
    far) at each batch.
    """
    session, states = CleaningSession(data.rows, points, k), []
    while True:
        doubt = len(points) * session.doubt
        states.append(
            (len(session.cleaned), float(session.certain.mean()), doubt, list(session.cleaned))
        )
        if session.finished:
            return states
        for row, _ in session.next(batch):
            session.clean(row, candidate=int(data.truth[row]))


def measure(name: str, setting: str, args: argparse.Namespace) -> list[dict]:
    """Return a line a rule for one set and setting."""
    scaling, count = SETTINGS[setting]
    data = load(args.data / f"cpclean_{name}" / SETS[name], scaling, args.rows)
    points, dirty = data.X_valid[:count], data.rows.dirty
    default = data.repairs[data.names.index("mean")]
    ideal = predictions(data, data.world(set(dirty.tolist()), default), args.k)
    begin = time.process_time()
    states = follow(data, points, args.k, args.batch)
    print(
        f"{name}, {setting}: {time.process_time() - begin:.0f} CPU seconds for the whole order",
        flush=True,
    )
    rules = {"nothing cleaned": states[0]}
    rules |= {f"{share:.0%} certain": next(s for s in states if s[1] >= share) for share in CERTAIN}
    rules["half a prediction in doubt"] = next(s for s in states if s[2] < 0.5)
    lines = []
    for rule, (cleaned, certain, doubt, order) in rules.items():
        test, valid = predictions(data, data.world(set(order), default), args.k)
        alike = np.concatenate([test == ideal[0], valid == ideal[1]]).mean()
        right, best = np.mean(test == data.y_test), np.mean(ideal[0] == data.y_test)
        values = [
            len(dirty),
            rule,
            cleaned,
            cleaned / len(dirty),
            certain,
            doubt,
            right,
            best,
            alike,
        ]
        lines.append(dict(zip(FIELDS, [name, setting, *values], strict=True)))
    must = needed(data, points, args.k)
    lines.append(
        dict(
            zip(
                FIELDS[:6],
                [name, setting, len(dirty), "needed", must, must / len(dirty)],
                strict=True,
            )
        )
    )
    return lines


def main() -> None:
    """Print and write the table."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("-k", type=int, default=3)
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--rows", type=int, help="only so many rows of each set")
    args = read_options(parser, rows=60, sets=["supreme"], settings=["published"], batch=30)
    print(machine_line("numpy", "numba"))
    lines = []
    for name in args.sets:
        for setting in args.settings:
            found = measure(name, setting, args)
            lines += found
            for line in found:
                cells = [f"{v:.4f}" if isinstance(v, float) else str(v) for v in line.values()]
                print("  ".join(f"{cell:>11}" for cell in cells), flush=True)
    with (args.out / "stops.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for line in lines:
            writer.writerow(
                {key: round(v, 4) if isinstance(v, float) else v for key, v in line.items()}
            )
    print(f"Published: {PUBLISHED}.")


if __name__ == "__main__":
    main()

"""What is said of how many flagged labels are wrong, against how many are.

Labels of real tables are made wrong: evenly (uniform), more of some classes, each called one other
(class), near rows of other classes (near), or in some regions (cluster); none, a twentieth, a tenth
or a fifth of them. `find_mislabelled` flags rows. What the models suppose of these (as was stated
before) is compared with the share that is wrong, as are the intervals that 20 checked labels give,
and those of trusted rows, a fifth of the table. Recall and precision stand beside those of the
rule before (one share of wrong labels for all classes) and of cleanlab's ``find_label_issues``.
Where no label is wrong, any statement above 0 misleads. Writes CSV.

    python benchmarks/stated_precision.py --data DIR [--seeds 2] [--most 400]
"""

import csv
import warnings
from collections import defaultdict

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from common import arguments, machine_line, read_options
from easeml.lifecycle.held_out import held_out_chances
from easeml.lifecycle.labeling import by_checks, by_trusted, judge_classes, label_errors
from label_noise import TABLES, table

KINDS = ("uniform", "class", "near", "cluster")
SHARES = (0.05, 0.1, 0.2)
MOST_WRONG = 0.45  # of the labels of a class or region
CHECKED = 20
NEIGHBOURS = 15
REGIONS = 6
FIELDS = [
    "table",
    "kind",
    "share",
    "seed",
    "rows",
    "wrong",
    "flagged",
    "reached",
    "supposed",
    "checks value",
    "checks low",
    "checks high",
    "trusted value",
    "trusted low",
    "trusted high",
    "trusted reached",
    "recall",
    "before flagged",
    "before reached",
    "before recall",
    "cleanlab flagged",
    "cleanlab reached",
    "cleanlab recall",
]


def spoiled(
    kind: str, share: float, X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which about a share is wrong, and which these are."""
    n, classes = len(y), int(y.max()) + 1
    chances = np.full(n, share)
    other = (y + rng.integers(1, classes, n)) % classes
    if kind == "class":
        by_class = rng.dirichlet(np.full(classes, 0.7))[y]
        chances = np.clip(by_class / by_class.mean() * share, 0, MOST_WRONG)
        other = (y + rng.integers(1, classes, classes)[y]) % classes
    elif kind == "near":
        scaled = StandardScaler().fit_transform(X)
        near = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(scaled)
        around = y[near.kneighbors(scaled, return_distance=False)[:, 1:]]
        votes = (around[:, :, None] == np.arange(classes)).sum(axis=1) + rng.random((n, classes))
        strange = 1.02 - np.floor(votes[np.arange(n), y]) / NEIGHBOURS
        chances = np.clip(strange / strange.mean() * share, 0, 0.6)
        votes[np.arange(n), y] = -1
        other = votes.argmax(axis=1)
    elif kind == "cluster":
        scaled = StandardScaler().fit_transform(X)
        regions = KMeans(REGIONS, n_init=1, random_state=int(rng.integers(99))).fit_predict(scaled)
        some = np.isin(regions, rng.permutation(REGIONS)[:2])
        chances = np.where(some, min(MOST_WRONG, share / some.mean()), 0.0)
    wrong = rng.random(n) < chances
    return np.where(wrong, other, y), wrong


def found(flagged: np.ndarray, wrong: np.ndarray) -> list[float]:
    """Return how many are flagged, the share of these that is wrong, and that of the wrong ones."""
    hits = int((flagged & wrong).sum())
    return [int(flagged.sum()), hits / max(1, int(flagged.sum())), hits / max(1, int(wrong.sum()))]


def before(chances: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return what was flagged when all classes had one share of wrong labels."""
    belief = label_errors.BELIEF
    label_errors.BELIEF = 1e9
    try:
        return judge_classes(chances, codes).flagged
    finally:
        label_errors.BELIEF = belief


def measured(kind: str, share: float, X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return the cells of a line after its seed."""
    from cleanlab.filter import find_label_issues

    rng = np.random.default_rng([seed, round(100 * share), len(y)])
    order = rng.permutation(len(y))
    trusted, rows = order[: len(y) // 5], order[len(y) // 5 :]
    noisy, wrong = y[rows], np.zeros(len(rows), dtype=bool)
    if share:
        noisy, wrong = spoiled(kind, share, X[rows], y[rows], rng)
    classes = int(y.max()) + 1
    chances = held_out_chances(X[rows], noisy, classes, seed=seed)
    judged = judge_classes(chances, noisy)
    places = rng.permutation(np.flatnonzero(judged.flagged))[:CHECKED]
    flagged = int(judged.flagged.sum())
    checks = by_checks(int(wrong[places].sum()), len(places), flagged)

    all_rows, all_codes = np.append(rows, trusted), np.append(noisy, y[trusted])
    both = judge_classes(held_out_chances(X[all_rows], all_codes, classes, seed=seed), all_codes)
    ours, alarms = both.flagged[: len(rows)], int(both.flagged[len(rows) :].sum())
    by_rows = by_trusted(alarms, len(trusted), int(ours.sum()), len(rows))

    model = LogisticRegression(max_iter=500)
    scaled = StandardScaler().fit_transform(X[rows])
    theirs = cross_val_predict(model, scaled, noisy, cv=5, method="predict_proba")
    count, reached, recall = found(judged.flagged, wrong)
    supposed = judged.supposed_precision
    cells = [len(rows), int(wrong.sum()), count, reached, supposed]
    cells += [checks.value, checks.low, checks.high]
    cells += [by_rows.value, by_rows.low, by_rows.high, found(ours, wrong)[1], recall]
    cells += found(before(chances, noisy), wrong)
    return cells + found(find_label_issues(noisy, theirs, n_jobs=1), wrong)


def summary(lines: list[list[float | str]]) -> None:
    """Print by share of wrong labels how far statements are from what is reached."""
    by_share = defaultdict(list)
    for line in lines:
        if line[FIELDS.index("flagged")]:
            by_share[line[FIELDS.index("share")]].append(line)
    print("share  lists  reached  supposed  above by > .05   missed by: checks  trusted rows")
    for share, rows in sorted(by_share.items()):
        cells = {name: np.array([row[FIELDS.index(name)] for row in rows]) for name in FIELDS[6:]}
        reached = cells["reached"]
        of_trusted = np.isfinite(cells["trusted value"])
        missed = []
        for name, truth in (("checks", reached), ("trusted", cells["trusted reached"])):
            low, high = cells[f"{name} low"] - 1e-9, cells[f"{name} high"] + 1e-9
            missed.append(((truth < low) | (truth > high))[of_trusted].mean())
        print(
            f"{share:5} {len(rows):6} {reached.mean():8.2f} {cells['supposed'].mean():9.2f} "
            f"{(cells['supposed'] > reached + 0.05).mean():14.2f} {missed[0]:18.3f} {missed[1]:12.3f}"
        )
    for kind in KINDS:
        sums = np.zeros(7)
        for line in lines:
            if line[1] == kind:
                cells = dict(zip(FIELDS, line, strict=True))
                names = ("", "before ", "cleanlab ")
                counts = [cells[f"{name}flagged"] for name in names]
                hits = [cells[f"{name}flagged"] * cells[f"{name}reached"] for name in names]
                sums += np.array([*counts, *hits, cells["wrong"]])
        said = [f"{sums[3 + i] / sums[6]:.2f} / {sums[3 + i] / sums[i]:.2f}" for i in range(3)]
        print(f"{kind:8} recall / precision: now {said[0]}, before {said[1]}, cleanlab {said[2]}")


def main() -> None:
    """Run, print and write."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--most", type=int, default=400, help="rows of a table")
    parser.add_argument("--tables", nargs="+", default=[*TABLES, "digits"])
    options = read_options(parser, seeds=1, most=100, tables=["ionosphere"])
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(machine_line("numpy", "scikit-learn", "cleanlab"))
    cases = [("none", 0.0)]
    cases += [(kind, share) for kind in KINDS for share in SHARES]
    if options.short:
        cases = [(kind, 0.1) for kind in KINDS]
    lines: list[list[float | str]] = []
    with (options.out / "lists.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for seed in range(options.seeds):
            for kind, share in cases:
                for name in options.tables:
                    X, y = table(name, options.data, options.most)
                    line = [name, kind, share, seed, *measured(kind, share, X, y, seed)]
                    writer.writerow([f"{c:.3f}" if isinstance(c, float) else c for c in line])
                    file.flush()
                    lines.append(line)
    summary(lines)


if __name__ == "__main__":
    main()

"""How many labels continuous integration takes, against the published sample sizes, at equal
guarantees.

The conditions of the papers at reliability 0.9999 and 32 commits, with true values at an edge of
the tolerance, further out, and in the worst place inside. ``least`` is a lower bound on the
expected labels of a commit for any method with the same guarantee (``ci_lower_bound.py``): where
the share of changed predictions is known, and where all is learned from the rows that are walked,
as here. ``least series`` is the latter for a series, the error shared evenly: one label serves all
commits, but changed rows that do not overlap need one each, till they fill the pool. Then the eight
real versions of the emotion detector, if their predictions are given (``--data FOLDER`` with
``modelpicker_emocontext/data.npz``), in the order of their history.
"""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from ci_lower_bound import least_labels
from ci_simulation import World, simulate
from common import arguments, machine_line, read_options
from easeml.lifecycle.ci import (
    Config,
    clauses,
    open_ledger,
    plan,
    read_config,
    score_examples,
    step_nats,
)

CHANGED = 0.1
CASES = {
    "F1 quality, n > 0.9 +/- 0.025": (
        "n > 0.9 +/- 0.025",
        "fn-free",
        ["none", "firstChange", "full"],
        {},
    ),
    "F2 step, d < 0.08, n - o > 0.02 +/- 0.01": (
        "d < 0.08 +/- 0.01 /\\ n - o > 0.02 +/- 0.01",
        "fp-free",
        ["none", "firstChange", "full"],
        {},
    ),
    "F2 alone, n - o > 0.02 +/- 0.01": (
        "n - o > 0.02 +/- 0.01",
        "fp-free",
        ["none", "firstChange", "full"],
        {"difference": CHANGED},
    ),
    "F3 milestone, n - o > 0.05 +/- 0.02": (
        "n - o > 0.05 +/- 0.02",
        "fp-free",
        ["firstChange"],
        {"difference": CHANGED},
    ),
    "F4 no big change, d < 0.1 +/- 0.025": ("d < 0.1 +/- 0.025", "fn-free", ["none", "full"], {}),
}


def worlds(config: Config, condition: str) -> dict[str, World]:
    """Return true values by where they lie, seen from the zone of the clause on quality."""
    *_, clause = clauses(config.condition)
    side = 2 * clause.tolerance if config.mode.value == "fp-free" else 0.0
    low = clause.threshold - 2 * clause.tolerance + side
    width = 2 * clause.tolerance
    places = {
        "far below": -1.0,
        "lower edge": 0.0,
        "middle": 0.5,
        "upper edge": 1.0,
        "far above": 1.5,
    }
    found = {}
    for name, place in places.items():
        value = low + place * width
        if condition.startswith("n >"):
            found[name] = World(min(value, 0.995), min(value, 0.995), 0.005)
        else:
            changed = 0.075 if condition.startswith("d") else CHANGED
            if abs(value) <= changed:
                found[name] = World(0.8 + value, 0.8, changed)
    return found


def least(config: Config, condition: str, world: World) -> tuple[float, float, float]:
    """Return lower bounds on the labels of a commit, of known and unknown changes, and the second's
    for the series.
    """
    *_, clause = clauses(config.condition)
    low = clause.threshold - (0.0 if config.mode.value == "fp-free" else 2 * clause.tolerance)
    quality = condition.startswith("n >")
    value = round(world.n if quality else world.n - world.o, 9)
    alpha = config.delta / config.steps
    known, walked = least_labels(
        value, low, low + 2 * clause.tolerance, alpha, None if quality else world.d
    )
    return known, walked, walked * (1 if quality else min(config.steps, 1 / world.d))


def series(config: Config, world: World, runs: int, seed: int) -> tuple[float, float, float, float]:
    """Return the median and the 90 % point of labels of one commit, the mean of a series, and the
    share left open.

    A series of H steps on shared examples labels no example twice; where the changed predictions of
    the commits do not overlap at all, that is still at most every example up to the last one looked
    at, or the sum over the commits.
    """
    fresh = config.adaptivity.value == "full"
    nats = step_nats(config, shared=not fresh)
    rows = plan(one_look(config) if fresh else config).unlabelled
    found = simulate(config, world, nats=nats, rows=rows, runs=runs, seed=seed, check=2)
    changed = config.condition.__class__.__name__ != "Clause" or config.condition.is_difference
    labels = found.labels if changed else found.rows
    groups = runs // config.steps
    by_series = labels[: groups * config.steps].reshape(groups, config.steps)
    walked = found.rows[: groups * config.steps].reshape(groups, config.steps).max(axis=1)
    total = by_series.sum(axis=1) if fresh else np.minimum(by_series.sum(axis=1), walked)
    return (
        float(np.median(labels)),
        float(np.quantile(labels, 0.9)),
        float(total.mean()),
        float((found.truth < 0).mean()),
    )


def one_look(config: Config) -> Config:
    """Return the same configuration with the levels of fresh examples, delta / H."""
    return read_config(
        {**{k: v for k, v in config.to_json().items() if v is not None}, "adaptivity": "none"}
    )


def simulated(runs: int, folder: Path) -> None:
    """Print and write the table of the papers' conditions."""
    head = f"{'condition':42} {'adaptivity':12} {'published':>10} {'at most':>9}"
    head += f"  {'truth':11} {'a commit':>9} {'90 %':>7}"
    print(f"{head} {'series':>9} {'share':>6}  at most half  {'least (known d)':>15}  least series")
    with (folder / "simulated.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["condition", "adaptivity", "baseline", "published", "at_most", "truth", "median", "p90", "series", "open",
             "least_known", "least", "least_series"]
        )  # fmt: skip
        for name, (condition, mode, adaptivities, more) in CASES.items():
            for adaptivity in adaptivities:
                keys = {"condition": condition, "reliability": 0.9999, "mode": mode, "steps": 32}
                config = read_config({**keys, "adaptivity": adaptivity, **more})
                sizes = plan(config)
                published = sizes.optimised or sizes.baseline
                if condition.startswith("d <") and "/\\" not in condition:
                    print(
                        f"{name:42} {adaptivity:12} {published:10,} {sizes.chosen:9,}  (d needs no labels)"
                    )
                    row = [
                        name,
                        adaptivity,
                        sizes.baseline,
                        published,
                        sizes.chosen,
                        "any",
                        *[0] * 7,
                    ]
                    writer.writerow(row)
                    continue
                for place, world in worlds(config, condition).items():
                    found = series(config, world, runs, 11)
                    total = min(found[2], sizes.chosen)
                    bounds = least(config, condition, world)
                    writer.writerow(
                        [name, adaptivity, sizes.baseline, published, sizes.chosen, place]
                        + [
                            f"{number:.4g}" if number < 1 else f"{number:.1f}"
                            for number in (*found, *bounds)
                        ]
                    )
                    half = "yes" if total <= published / 2 else "no"
                    print(
                        f"{name:42} {adaptivity:12} {published:10,} {sizes.chosen:9,}  {place:11} {found[0]:9,.0f} "
                        f"{found[1]:7,.0f} {total:9,.0f} {total / published:6.2f}  {half:12}  "
                        f"{bounds[1]:6,.0f} ({bounds[0]:6,.0f})  {bounds[2]:9,.0f} ({bounds[2] / published:.2f})",
                        flush=True,
                    )


def emotions(folder: Path, results: Path) -> None:
    """Replay the eight versions in the order of their history: the column iteration8 is the oldest."""
    archive = np.load(folder / "modelpicker_emocontext" / "data.npz")
    predictions, truth = archive["predictions"], archive["oracle"]
    print(f"\nemotion detector: {len(truth):,} examples, 8 versions, reliability 0.998, 7 steps")
    with (results / "emotions.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            [
                "condition",
                "adaptivity",
                "old",
                "new",
                "gain",
                "changed",
                "answer",
                "labels",
                "rows",
                "published",
            ]
        )
        for condition in (
            "n - o > 0 +/- 0.02",
            "n - o > 0.02 +/- 0.02 /\\ d < 0.2 +/- 0.05",
            "n > 0.85 +/- 0.025",
        ):
            for adaptivity in ("none", "full"):
                keys = {
                    "condition": condition,
                    "reliability": 0.998,
                    "adaptivity": adaptivity,
                    "steps": 7,
                }
                config = read_config(keys)
                sizes = plan(config)
                published = sizes.optimised or sizes.baseline
                ledger = open_ledger(config, np.zeros(len(truth), dtype=bool))
                print(f"{condition}, {adaptivity}: published {published:,}")
                asked = np.zeros(len(truth), dtype=bool)
                for new in range(6, -1, -1):
                    old = new + 1
                    examples = score_examples(
                        predictions[:, new], predictions[:, old], truth, config
                    )
                    verdict, known = None, asked.copy()
                    while verdict is None or verdict.labels_wanted:
                        verdict, ledger = ledger.test(f"{new}", replace(examples, known=known))
                        known[list(verdict.labels_wanted)] = True
                    bought, asked = int((known & ~asked).sum()), known
                    gain = float(
                        (predictions[:, new] == truth).mean()
                        - (predictions[:, old] == truth).mean()
                    )
                    changed = float((predictions[:, new] != predictions[:, old]).mean())
                    row = [
                        f"iteration{old + 1}",
                        f"iteration{new + 1}",
                        f"{gain:.4f}",
                        f"{changed:.4f}",
                    ]
                    writer.writerow(
                        [
                            condition,
                            adaptivity,
                            *row,
                            verdict.answer,
                            bought,
                            verdict.rows_used,
                            published,
                        ]
                    )
                    told = f"gain {row[2]}, changed {row[3]}: {verdict.answer}, {bought} new labels"
                    print(f"  {' -> '.join(row[:2])}: {told}")
                total = int(asked.sum())
                print(
                    f"  labels in all: {total:,} ({total / published:.3f} of the published number)"
                )


def main() -> None:
    """Print the tables and write them."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=640, help="simulated commits a line")
    parser.add_argument("--data", type=Path, default=None, help="folder with the real predictions")
    options = read_options(parser, runs=2)
    print(machine_line("numpy", "scipy", "numba"))
    print(f"{options.runs:,} commits a line; reliability 0.9999, 32 steps")
    simulated(options.runs, options.out)
    if options.data:
        emotions(options.data, options.out)


if __name__ == "__main__":
    main()

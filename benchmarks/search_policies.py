"""How good the policies of the search are on four real workloads, in one run, on the same draws for
all.

For each workload: 10 tenants are drawn for a seed, the others are the past; every policy searches
them. Prints area under the average loss, cost to four loss levels, worst tenant, time until 95 % of
tenants are within 0.01 and the latency of a late arrival, each with the paired difference to
easeml's default and its 95 % interval, corrected for the number of comparisons (Bonferroni).
``--devices 1,4,16`` tells the speed-up, ``--histories given,none,misleading`` what the past is
worth. Raw numbers go to CSV, the curves to SVG.
``--keep DIR``: what was simulated is kept there seed by seed, so that a run that was cut off goes
on.
"""

import csv
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np

from common import arguments, machine_line, read_options
from easeml.cli.workload_files import read_workload
from easeml.figures.search import loss_figure
from easeml.search import policy_named
from easeml.search.simulator import (
    LEVELS,
    Comparison,
    Curve,
    Scenario,
    Setting,
    Workload,
    belief,
    compare,
    curve,
    draw,
    half_width,
    simulate,
)

WORKLOADS = ("easeml_deeplearning", "srbench", "openml_weka", "179classifiers")
PUBLISHED = ("ei-rate", "hybrid", "gp-ucb-round-robin", "gittins", "cheapest-first")
OTHERS = ("greedy", "max-min-fair", "random", "round-robin", "most-cited", "most-recent")
NETWORKS = {"most-cited", "most-recent"}
FIGURES = ("area", *(f"cost to {level:g}" for level in LEVELS), "95 % within .01", "worst at 10 %")


def figures(curves: list[Curve]) -> dict[str, np.ndarray]:
    """Return what is compared, one value a seed."""
    values = [
        [
            each.area,
            *map(each.share_to, LEVELS),
            each.share_to_most,
            each.at(np.array([0.1]))[0].max(),
        ]
        for each in curves
    ]
    return dict(zip(FIGURES, np.array(values).T, strict=True))


def compared(
    name: str, workload: Workload, policies: list[str], setting: Setting, keep: Path | None
) -> Comparison:
    """Return ``compare`` of all seeds, one after the other; those in the folder ``keep`` are read
    from there.
    """
    curves: dict[str, list[Curve]] = {}
    limit: list[Curve] = []
    for seed in range(setting.first_seed, setting.first_seed + setting.seeds):
        kept = keep / f"{name}_{setting.devices}_{setting.history}_{seed}.pickle" if keep else None
        if kept and kept.is_file():
            one = pickle.loads(kept.read_bytes())
        else:
            one = compare(workload, policies, replace(setting, seeds=1, first_seed=seed))
            if kept:
                kept.write_bytes(pickle.dumps(one))
        limit += one.limit
        for policy in policies:
            curves.setdefault(policy, []).extend(one.curves[policy])
    return Comparison(setting, curves, limit)


def print_comparison(name: str, found: Comparison) -> list[list[object]]:
    """Print the table of one workload and setting; return its rows for the CSV file."""
    told = {policy: figures(curves) for policy, curves in found.curves.items()}
    told["clairvoyant"] = figures(found.limit)
    columns = list(told["default"])
    comparisons = (len(told) - 2) * len(columns)
    setting = found.setting
    print(
        f"\n## {name}: {setting.tenants} tenants, {setting.devices} devices, {setting.costs} costs, "
        f"history {setting.history}, {setting.seeds} seeds"
    )
    print(
        "mean over seeds; * the default is significantly better, ! significantly worse (paired, 95 %, corrected)"
    )
    print(f"{'policy':<20}" + "".join(f"{column:>18}" for column in columns))
    rows: list[list[object]] = []
    for policy, values in told.items():
        cells = []
        for column in columns:
            value, mark = values[column], " "
            if policy not in {"default", "clairvoyant"}:
                apart = value - told["default"][column]
                half = float(half_width(apart, comparisons))
                mark = "*" if apart.mean() > half else "!" if apart.mean() < -half else " "
            shown = f"{value.mean():.6f}" if column == "area" else f"{100 * value.mean():.2f} %"
            cells.append(f"{shown:>17}{mark}")
        print(f"{policy:<20}" + "".join(cells))
        seeds = np.column_stack(list(values.values()))
        first = setting.first_seed
        rows += [
            [setting.devices, setting.history, policy, first + n, *row]
            for n, row in enumerate(seeds.round(6))
        ]
    best = min(
        (policy for policy in told if policy in PUBLISHED),
        key=lambda policy: told[policy]["area"].mean(),
    )
    ratio = told["default"]["area"].mean() / told[best]["area"].mean()
    print(f"default / best published ({best}) area: {ratio:.2f}")
    for column in columns[1:5]:
        least = min(told[policy][column].mean() for policy in told if policy in PUBLISHED)
        print(f"  {column}: {told['default'][column].mean() / least:.2f} of the best published")
    for policy in NETWORKS & set(told):
        ratios = [told[policy][c].mean() / told["default"][c].mean() for c in columns[1:5]]
        print(
            f"  {policy} needs {', '.join(f'{r:.1f}x' for r in ratios)} the default's cost at {LEVELS}"
        )
    return rows


def late_arrival(workload, setting: Setting, policies: tuple[str, ...]) -> None:
    """Print how long a tenant that comes when a tenth of the work is done waits, in shares of the
    whole work's time.
    """
    print(
        "late arrival: median share of the total time until its first result, and until it is within 0.01"
    )
    for name in policies:
        first, near = [], []
        for seed in range(setting.first_seed, setting.first_seed + setting.seeds):
            past, work = draw(workload, setting, seed)
            total = float(work.cost.sum()) / setting.devices
            late = Scenario(speeds=(1.0,) * setting.devices, arrivals={0: 0.1 * total})
            prior = belief(past, work.models, own=name == "default")
            trace = simulate(work, policy_named(name), prior, late, seed=seed)
            told = curve(trace, work)
            waits = [
                run.end - 0.1 * total
                for run in trace.runs
                if run.tenant == 0 and run.quality == run.quality
            ]
            first.append(min(waits) / total)
            near.append((told.time[int(np.argmax(told.loss[:, 0] <= 0.01))] - 0.1 * total) / total)
        print(
            f"  {name:<20} {100 * np.median(first):8.3f} % {100 * np.median(near):8.3f} %",
            flush=True,
        )


def speed_up(by_devices: dict[int, Comparison]) -> None:
    """Print how much sooner the default reaches each level with more devices."""
    one = by_devices[min(by_devices)]
    for devices, found in by_devices.items():
        ratios = []
        for level in LEVELS:
            alone = np.mean([each.time_to(level) for each in one.curves["default"]])
            ratios.append(
                alone / np.mean([each.time_to(level) for each in found.curves["default"]])
            )
        print(
            f"speed-up of the default with {devices} devices at {LEVELS}: {', '.join(f'{r:.1f}' for r in ratios)}"
        )


def main() -> None:
    """Print the tables."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS))
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument(
        "--first-seed", type=int, default=1000, help="constants were chosen on seeds from 0"
    )
    parser.add_argument("--tenants", type=int, default=10)
    parser.add_argument("--devices", default="1")
    parser.add_argument("--histories", default="given")
    parser.add_argument("--policies", default=",".join((*PUBLISHED, *OTHERS)))
    parser.add_argument("--late", action="store_true", help="also simulate a late arrival")
    parser.add_argument(
        "--keep", type=Path, help="folder for what was simulated; of one list of policies"
    )
    short = {"workloads": [WORKLOADS[0]], "seeds": 1, "policies": "cheapest-first"}
    options = read_options(parser, **short)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    print(machine_line("numpy", "scipy"))
    for name in options.workloads:
        folder = options.data / f"workload_{name}"
        workload, measured = read_workload(folder)
        networks = "AlexNet" in workload.models
        policies = [
            "default",
            *(p for p in options.policies.split(",") if networks or p not in NETWORKS),
        ]
        rows: list[list[object]] = []
        for history in options.histories.split(","):
            by_devices: dict[int, Comparison] = {}
            for devices in map(int, options.devices.split(",")):
                costs = "measured" if measured else "uniform"
                setting = Setting(
                    options.tenants, devices, options.seeds, costs, history, options.first_seed
                )
                found = by_devices[devices] = compared(
                    folder.name, workload, policies, setting, options.keep
                )
                rows += print_comparison(folder.name, found)
                picture = f"{folder.name}_{devices}_{history}.svg"
                svg = loss_figure(found.to_json()).to_svg()
                (options.out / picture).write_text(svg, encoding="utf-8")
            if len(by_devices) > 1:
                speed_up(by_devices)
        if options.late:
            costs = "measured" if measured else "uniform"
            setting = Setting(
                options.tenants, 1, options.seeds, costs, first_seed=options.first_seed
            )
            late_arrival(workload, setting, tuple(policies[:4]))
        with (options.out / f"{folder.name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["devices", "history", "policy", "seed", *FIGURES])
            writer.writerows(rows)


if __name__ == "__main__":
    main()

"""From the raw runs of ``picking.py``: tables with intervals, where the default is not the best,
and a picture.

python benchmarks/picking_report.py [benchmarks/results/picking]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import beta

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999900", "#555555")


def main() -> None:
    """Write ``table.md`` and ``curves.svg`` beside the runs, and print the first."""
    folder = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "results" / "picking"
    )
    runs = pd.read_csv(folder / "runs.csv.gz")
    text = "\n".join([*tables(runs), *verdicts(runs)])
    (folder / "table.md").write_text(text + "\n", encoding="utf-8")
    (folder / "curves.svg").write_text(curves(runs), encoding="utf-8")
    print(text)


def tables(runs: pd.DataFrame) -> list[str]:
    """Return a table a set: chance to find the best with its 95 % interval (percent), loss in
    thousandths.
    """
    lines = []
    for name, part in runs.groupby("set"):
        budgets = sorted(part["budget"].unique())
        lines += [
            f"## {name}",
            "",
            "| method (runs; CPU seconds of one) | " + " | ".join(map(str, budgets)) + " |",
        ]
        lines += ["| --- |" + " --- |" * len(budgets)]
        for method, own in part.groupby("method", sort=False):
            cells = []
            for budget in budgets:
                here = own[own["budget"] == budget]
                low, high = interval(int(here["best"].sum()), len(here))
                cells.append(
                    f"{100 * here['best'].mean():.0f} ({100 * low:.0f}-{100 * high:.0f}); "
                    f"{1000 * here['gap'].mean():.2f} ± {1960 * here['gap'].sem():.2f}"
                )
            seconds = own.drop_duplicates("run")["seconds"].mean()
            lines.append(
                f"| {method} ({own['run'].nunique()}; {seconds:.2f} s) | "
                + " | ".join(cells)
                + " |"
            )
        lines.append("")
    return lines


def interval(hits: int, runs: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a share at 95 %."""
    low = beta.ppf(0.025, hits, runs - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, runs - hits) if hits < runs else 1.0
    return float(low), float(high)


def verdicts(runs: pd.DataFrame) -> list[str]:
    """Say where a peer is better than the default on the same pools, beyond the 95 % interval of
    the difference.
    """
    lines = ["## Where the default is not the best", ""]
    count = lost = 0
    for (name, budget), part in runs.groupby(["set", "budget"]):
        wide = part.pivot(index="run", columns="method", values=["best", "gap"])
        for measure, sign in (("best", 1), ("gap", -1)):
            better = []
            for method in wide[measure].columns.drop("default"):
                lead = (sign * (wide[measure][method] - wide[measure]["default"])).dropna()
                if lead.mean() > 1.96 * lead.sem() and lead.mean() > 0:
                    better.append(f"{method} by {lead.mean():.4f} ± {1.96 * lead.sem():.4f}")
            count += 1
            lost += bool(better)
            if better:
                lines.append(f"- {name}, {budget} labels, {measure}: {', '.join(better)}")
    return [
        *lines,
        "",
        f"{count - lost} of {count} comparisons (set, budget, measure) best or within the interval.",
    ]


def curves(runs: pd.DataFrame) -> str:
    """Draw the mean loss of accuracy by budget, a panel a set, as SVG."""
    methods = list(runs["method"].unique())
    width, height, parts = 300, 220, []
    for panel, (name, part) in enumerate(runs.groupby("set")):
        means = part.groupby(["method", "budget"])["gap"].mean()
        budgets = sorted(part["budget"].unique())
        top = float(np.quantile(means, 0.95))
        left, base = panel * width + 40, height - 30
        parts.append(f'<text x="{left}" y="15">{name}: loss, largest shown {top:.3f}</text>')
        parts.append(f'<path d="M{left} 25V{base}H{left + width - 50}" stroke="#000" fill="none"/>')
        for place, budget in enumerate(budgets):
            x = left + place * (width - 50) / max(len(budgets) - 1, 1)
            parts.append(f'<text x="{x:.0f}" y="{base + 14}" text-anchor="middle">{budget}</text>')
        for colour, method in zip(COLOURS, methods, strict=False):
            if method not in means.index.get_level_values(0):
                continue
            points = [
                f"{left + place * (width - 50) / max(len(budgets) - 1, 1):.1f},"
                f"{base - (base - 25) * min(1.0, means[method, budget] / max(top, 1e-9)):.1f}"
                for place, budget in enumerate(budgets)
            ]
            thick = 3 if method == "default" else 1.2
            parts.append(
                f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
            )
    for place, (colour, method) in enumerate(zip(COLOURS, methods, strict=False)):
        parts.append(
            f'<text x="{40 + 145 * place}" y="{height + 10}" fill="{colour}">{method}</text>'
        )
    whole = max(width * runs["set"].nunique(), 145 * len(methods) + 40)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height + 20}" font-family="sans-serif" '
        f'font-size="10">{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    main()

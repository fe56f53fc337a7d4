"""Writes the hints of the zoo's costs from the runs of scripts/measure_zoo.py.

python scripts/write_costs.py RUNS.jsonl
"""

import json
import math
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

sys.path.insert(0, str(Path(__file__).resolve().parent))
from measure_zoo import HELD

from easeml.modules import Module, load_registry
from easeml.search import spaces
from easeml.search.costs.hints import COLUMNS, ROWS

ZOO = Path(__file__).resolve().parents[1] / "src" / "easeml" / "zoo" / "models"
LEAST_SECONDS = 0.003  # that processor clocks tell
LEAST_POWER = 0.1  # what costs grow with less is left out
LEAST_HINT = 1e-4

Runs = dict[str, dict[str, list[dict[str, Any]]]]  # table -> model -> runs


def read_runs(path: Path) -> tuple[dict[str, dict[str, Any]], Runs]:
    """Return the facts of each table, and its runs by model."""
    facts, runs = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        by_model = defaultdict(list)
        for run in told.pop("runs"):
            by_model[run["model"]].append(run)
        facts[told["table"]], runs[told["table"]] = told, dict(by_model)
    return facts, runs


def costs(module: Module, facts: dict[str, dict[str, Any]], runs: Runs) -> dict[str, float]:
    """Return the hints of a model's cost that fit its runs best.

    What every run takes, whatever its size, is found beside them and left out: a service has an
    overhead of its own. Least squares of logarithms, with little weight on exponents of 1 for rows
    and columns and of 0 for all else.
    """
    defaults = spaces.default(module.space)
    names = [name for name, value in defaults.items() if _is_size(value)]
    lines, seconds = [], []
    for table, by_model in runs.items():
        of = facts[table]
        sizes = [
            math.log(of["rows"] * (1 - HELD) / ROWS),
            math.log(of["columns"] / COLUMNS),
            math.log(max(of["classes"], 2) / 2),
        ]
        for run in by_model.get(module.name, []):
            shares = [math.log(run["config"][name] / defaults[name]) for name in names]
            lines.append([1.0, *sizes, *shares])
            seconds.append(math.log(max(run["seconds"], LEAST_SECONDS)))
    X, y = np.array(lines), np.array(seconds)
    usual = np.zeros(1 + X.shape[1])
    usual[[1, 2]] = 1.0
    pull = np.full(usual.size, 1.0)
    pull[[0, -1]] = 0.0

    def off(weights: np.ndarray) -> np.ndarray:
        told = np.logaddexp(X @ weights[:-1], weights[-1])
        return np.append(told - y, pull * (weights - usual))

    start = usual.copy()
    start[[0, -1]] = y.mean(), y.min()
    weights = least_squares(off, start, loss="soft_l1").x
    factor = math.exp(float(np.median(np.abs(off(weights)[: len(y)]))))
    hinted = dict(zip(["seconds", "rows", "columns", "classes", *names], weights, strict=False))
    hinted["seconds"] = math.exp(hinted["seconds"])
    told = {name: round(float(value), 2) for name, value in hinted.items()}
    print(f"{module.name}: off by {factor:.2f}, at least {math.exp(weights[-1]):.3f} s", told)
    return hinted


def _is_size(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def rewritten(text: str, hints: dict[str, float]) -> str:
    """Return the text of a module's file with other hints of its cost."""
    text = re.sub(r"\n\[cost.powers\]\n.*?(?=\n\n)", "", text, flags=re.DOTALL)
    sizes = ["seconds", "rows", "columns", "classes"]
    lines = []
    for name in sizes:
        if hints[name] >= LEAST_HINT or name in ("rows", "columns"):  # else they count as 1
            lines.append(f"{name} = {max(0.0, hints[name]):.2g}")
    powers = {name: power for name, power in hints.items() if name not in sizes}
    told = [f"{name} = {power:.2g}" for name, power in powers.items() if abs(power) >= LEAST_POWER]
    if told:
        lines += ["", "[cost.powers]", *told]
    cost = "[cost]\n" + "\n".join(lines) + "\n"
    return re.sub(r"\[cost\]\n.*?\n(?=\n\[|\Z)", lambda _: cost, text, flags=re.DOTALL)


def main() -> None:
    """Write the hints of all models that have runs in a file."""
    facts, runs = read_runs(Path(sys.argv[1]))
    registry = load_registry()
    for model in sorted({model for by_model in runs.values() for model in by_model}):
        path = ZOO / f"{model}.toml"
        hints = costs(registry.get(model), facts, runs)
        path.write_text(rewritten(path.read_text(encoding="utf-8"), hints), encoding="utf-8")


if __name__ == "__main__":
    main()

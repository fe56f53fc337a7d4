"""Types and roles of columns of public tables beside the hand-written truth, pandas, DuckDB,
frictionless, skrub.

``python benchmarks/column_types.py [--data ../shared/data] [--rows 1000000] [--tools easeml ...]``

Right is what ``truth/columns.txt`` says, or calls as right. Peers know no roles; where a tool gives
no class of type (string columns), the nearest one is taken: pandas and DuckDB know number,
timestamp and text; frictionless the same; skrub's TableReport is read as pandas with its own count
of unique values (at most 40 is a category). Each tool runs in its own process for CPU time (which
other work on the machine does not change) and peak memory. Half of the tables are "final": rules
were not made by looking at them.
"""

import json
import subprocess
import sys
import tempfile
import venv
from collections import Counter, defaultdict
from pathlib import Path

from column_truth import TrueTable, read_truth
from common import CACHE, arguments, machine_line, read_options

HERE = Path(__file__).resolve().parent
PEERS = ("pandas", "duckdb", "frictionless", "skrub")
TYPES = ("number", "category", "text", "timestamp")
ROLES = ("input", "target", "identifier", "constant", "leak", "time", "group")
Found = dict[str, dict]


def main() -> None:
    """Run all tools over all tables and print the figures."""
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tables", type=int, default=None, help="how many of each half; all")
    parser.add_argument(
        "--tools", choices=["easeml", *PEERS], nargs="+", default=["easeml", *PEERS]
    )
    parser.add_argument(
        "--half", choices=["tuning", "final"], nargs="*", default=["tuning", "final"]
    )
    options = read_options(parser, rows=1000, tables=2, tools=["easeml"])
    if not options.data.is_dir():
        print(f"{options.data} is not there: nothing to compare with.")
        return
    tables: list[TrueTable] = []
    for half in options.half:
        tables += [table for table in read_truth() if table.half == half][: options.tables]
    pythons = {"easeml": sys.executable}
    if set(options.tools) & set(PEERS):
        pythons |= dict.fromkeys(PEERS, peers_python())
    with tempfile.TemporaryDirectory() as folder:
        large = large_file(Path(folder), options.rows)
        found = {}
        for tool in options.tools:
            found[tool] = run(tool, pythons[tool], options.data, tables, large)
    versions = ", ".join(
        f"{tool} {answers['nothing']['version']}" for tool, answers in found.items()
    )
    lines = [machine_line(), versions]
    for half in options.half:
        lines += ["", *compare(half, [table for table in tables if table.half == half], found)]
    lines += ["", *costs(found, options.rows)]
    print("\n".join(lines))
    (options.out / "figures.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def peers_python() -> str:
    """The interpreter of an environment that has the peers, made once."""
    home = CACHE / "column-types"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    packages = [*PEERS, "pyarrow"]
    if subprocess.run(
        [python, "-c", f"import {','.join(packages)}"], check=False, capture_output=True
    ).returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return str(python)


def large_file(folder: Path, rows: int) -> Path:
    """A CSV file of ten columns of all types."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(rows),
            "moment": pd.date_range("2000-01-01", periods=rows, freq="min"),
            "amount": np.round(rng.lognormal(3, 1, rows), 2),
            "count": rng.poisson(5, rows),
            "colour": rng.choice(["red", "green", "blue", "unknown"], rows),
            "zip": rng.integers(1000, 9999, rows),
            "gap": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows).round(4)),
            "code": [f"{value:06x}" for value in rng.integers(0, 1 << 24, rows)],
            "flag": rng.integers(0, 2, rows),
            "target": rng.choice(["yes", "no"], rows),
        }
    )
    path = folder / "large.csv"
    frame.to_csv(path, index=False)
    return path


def run(tool: str, python: str, data: Path, tables: list[TrueTable], large: Path) -> Found:
    """What a tool says of all tables; time and peak memory of the large file, and of importing the
    tool alone.
    """
    files = {table.name: str(data / table.file) for table in tables}
    script = HERE / "column_types_tools.py"
    answers = {}
    for name, wanted in (("tables", files), ("large", {"large": str(large)}), ("nothing", {})):
        done = subprocess.run(
            [python, script, tool],
            input=json.dumps(wanted),
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{tool}: {done.stderr[-2000:]}")
        answers[name] = json.loads(done.stdout.splitlines()[-1])
    return answers


def compare(half: str, tables: list[TrueTable], found: dict[str, Found]) -> list[str]:
    """Precision and recall by type for all tools, and by role for easeml."""
    count = sum(len(table.columns) for table in tables)
    lines = [
        f"{half}: {count} columns of {len(tables)} tables",
        f"{'type':12}" + "".join(f"{t:>22}" for t in found),
    ]
    scores = {
        tool: scored(tables, answers["tables"]["found"], "type") for tool, answers in found.items()
    }
    for kind in (*TYPES, "right"):
        lines.append(f"{kind:12}" + "".join(f"{scores[tool][kind]:>22}" for tool in found))
    lines += ["", f"{'role (easeml)':16}{'precision / recall (n)':>24}"]
    roles = scored(tables, found["easeml"]["tables"]["found"], "nature")
    lines += [f"{role:16}{roles[role]:>24}" for role in (*ROLES, "right")]
    lines += ["", f"missing codes: {codes(tables, found['easeml']['tables']['found'])}"]
    lines += [f"confidence: {confidence(tables, found['easeml']['tables']['found'])}"]
    return lines


def scored(tables: list[TrueTable], found: dict, what: str) -> dict[str, str]:
    """Precision and recall by strict class; a lenient answer counts as right for the class that is
    strictly true.
    """
    said, true, hit, right, total = Counter(), Counter(), Counter(), 0, 0
    for table in tables:
        for name, column in table.columns.items():
            allowed = column.types if what == "type" else column.roles
            answer = found[table.name].get(name, {}).get(what, "")
            good = answer in allowed
            total, right = total + 1, right + good
            true[allowed[0]] += 1
            hit[allowed[0]] += good
            said[answer] += 1
            said[f"{answer} right"] += good
    made = {}
    for kind in (*TYPES, *ROLES):
        precision = f"{said[f'{kind} right'] / said[kind]:.3f}" if said[kind] else "-"
        recall = f"{hit[kind] / true[kind]:.3f}" if true[kind] else "-"
        made[kind] = f"{precision} / {recall} ({true[kind]})"
    return {**made, "right": f"{right / total:.3f} ({right} of {total})"}


def codes(tables: list[TrueTable], found: dict) -> str:
    """How many of the true missing codes were proposed, and how many proposals were wrong."""
    true, hit, said = 0, 0, 0
    for table in tables:
        for name, column in table.columns.items():
            answer = set(found[table.name][name]["codes"])
            true, hit, said = (
                true + len(column.missing),
                hit + len(answer & set(column.missing)),
                said + len(answer),
            )
    return f"{hit} of {true} proposed, {said - hit} of {said} proposals wrong"


def confidence(tables: list[TrueTable], found: dict) -> str:
    """Share of right types by stated confidence."""
    bins = defaultdict(list)
    for table in tables:
        for name, column in table.columns.items():
            answer = found[table.name][name]
            bins[min(int(answer["confidence"] * 10), 9)].append(answer["type"] in column.types)
    return ", ".join(
        f"{low / 10:.1f}+: {sum(b) / len(b):.2f} right of {len(b)}"
        for low, b in sorted(bins.items())
    )


def costs(found: dict[str, Found], rows: int) -> list[str]:
    """Seconds and peak memory."""
    lines = [
        f"{'':14}{'all tables (CPU s)':>20}{f'{rows:,} rows (CPU s)':>26}{'peak (MB)':>12}{'of it imports':>16}"
    ]
    for tool, answers in found.items():
        tables, large, nothing = (answers[name] for name in ("tables", "large", "nothing"))
        lines.append(
            f"{tool:14}{tables['seconds']:>20.1f}{large['seconds']:>26.1f}{large['peak']:>12.0f}{nothing['peak']:>16.0f}"
        )
    return lines


if __name__ == "__main__":
    main()

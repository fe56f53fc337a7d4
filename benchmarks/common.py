"""What all benchmarks share: arguments, the line about the machine, and files of results.

A benchmark makes its parser here, adds its own arguments, and says what is smaller in its short
form:

    parser = arguments(__file__, __doc__)
    parser.add_argument("--runs", type=int, default=1000)
    options = read_options(parser, runs=5)
    print(machine_line("numpy"))

Without arguments a benchmark measures what is claimed: ``make prove`` runs it so. With ``--short``
it does the same on little in a few seconds, and a test runs that form of every benchmark. Numbers
of a short form mean nothing: they never go to ``benchmarks/results``.
"""

import argparse
import csv
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DATA = Path(os.environ.get("EASEML_BENCHMARK_DATA") or ROOT.parent / "shared" / "data")
"""Where public data sets are looked for."""
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "easeml-benchmarks"
"""Where environments of the peers are kept."""
_PEERS = {
    "FLAML": ("flaml[automl]", "pandas<3", "pyarrow"),  # written before pandas 3's text columns
    "DuckDB": ("duckdb",),
    "AutoGluon": ("autogluon.tabular[lightgbm,catboost,xgboost]==1.6.3", "pyarrow"),
}


def arguments(script: str, about: str | None, data: bool = False) -> argparse.ArgumentParser:
    """Return a parser with ``--short`` and ``--out``, to which a benchmark adds its own arguments.

    Args:
        script: the benchmark's ``__file__``; results go to the folder of this name.
        about: its ``__doc__``.
        data: whether it reads public data sets: adds ``--data``.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--short", action="store_true", help="only show, in seconds, that the benchmark works"
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS / Path(script).stem, help="folder for the results"
    )
    if data:
        parser.add_argument(
            "--data", type=Path, default=DATA, help="folder of the public data sets"
        )
    return parser


def read_options(parser: argparse.ArgumentParser, **short: Any) -> argparse.Namespace:
    """Return what the command line says; the folder for results is there afterwards.

    Args:
        parser: made by :func:`arguments`.
        short: defaults of the short form, by name. What the command line says wins over them.
    """
    asked = parser.parse_known_args()[0]
    if asked.short:
        parser.set_defaults(**short)
        if asked.out == parser.get_default("out"):
            parser.set_defaults(out=Path(tempfile.mkdtemp(prefix="easeml-short-")))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def each(work: Callable[[_Item], _Made], items: Iterable[_Item], processes: int) -> Iterator[_Made]:
    """Yield what ``work`` makes of each item, in their order.

    One process is this one: another would import all anew.
    """
    if processes == 1:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from pool.map(work, items)


def machine_line(*packages: str) -> str:
    """Return machine, system, Python and the versions of installed packages on one line."""
    system = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    versions = [f"{package} {version(package)}" for package in packages]
    return ", ".join([system, f"Python {platform.python_version()}", *versions])


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as a CSV file with a line of titles."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def rows_before(path: Path) -> list[tuple[str, ...]]:
    """Return the rows of a table that was written before; none where there is none."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [tuple(row) for row in csv.reader(file)][1:]


def peer_python(folder: Path, name: str) -> Path:
    """Make (once) an environment with one of the peers below a folder; return its Python."""
    return peer_programs(folder, name, _PEERS[name]) / "python"


def peer_programs(folder: Path, name: str, packages: Sequence[str]) -> Path:
    """Make (once) an environment with some packages below a folder; return its ``bin``."""
    programs = folder / name / "bin"
    installed = folder / f"{name}.installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        subprocess.run([str(programs / "pip"), "install", "--quiet", *packages], check=True)
        installed.touch()
    return programs

"""A big CSV file: uploading it, and reading it, beside pandas and DuckDB.

    python benchmarks/big_table.py [--rows 1000000] [--columns 50]

Of ten columns four are numbers with decimals, two whole numbers, two categories, one a day, one
text. ``upload`` and ``read`` are of a running easeml: the Python client sends the file, and a task
reads it: it finds the types, proposes a target, and writes the table that models learn from. The
others, each in a process of its own: pandas reads the file, and writes Parquet; DuckDB makes a
table of a database on disk (in an environment that the script installs). ``peak`` is the most
resident memory (MiB): of the controller for the upload, of the worker with its children for the
read, of the process for the others. ``base`` is the same before.
"""

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import CACHE, arguments, machine_line, peer_python, read_options, write_table
from easeml.client import Client
from service_process import EasemlProcess
from watched_memory import MemoryWatch, resident

AT_ONCE = 100_000  # rows that are made at once
COLUMNS = ["step", "rows", "columns", "file_mib", "seconds", "base_mib", "peak_mib"]
CITIES = np.array(["Zurich", "Geneva", "Basel", "Bern", "Lugano", "Chur", "Sion", "Thun"])
WORDS = np.array([f"word{number}" for number in range(500)])
PANDAS = """
import sys, pandas as pd
pd.read_csv(sys.argv[1]).to_parquet(sys.argv[2])
"""
DUCKDB = """
import sys, duckdb
connection = duckdb.connect(sys.argv[2])
connection.execute("create table t as select * from read_csv(?)", [sys.argv[1]])
connection.close()
"""


def made(rows: int, columns: int, seed: int) -> pa.Table:
    """Return some rows of the table."""
    draw = np.random.default_rng(seed)
    makers = [
        *(lambda: draw.normal(size=rows).round(4),) * 4,
        *(lambda: draw.integers(0, 100_000, rows),) * 2,
        lambda: draw.choice(CITIES, rows),
        lambda: draw.choice(np.array(["yes", "no"]), rows),
        lambda: np.datetime64("2020-01-01") + draw.integers(0, 2000, rows),
        lambda: draw.choice(WORDS, rows),
    ]
    return pa.table({f"c{place}": makers[place % 10]() for place in range(columns)})


def write_source(path: Path, rows: int, columns: int) -> None:
    """Write the file, some rows at a time."""
    starts = range(0, rows, AT_ONCE)
    parts = (made(min(AT_ONCE, rows - start), columns, start) for start in starts)
    first = next(parts)
    with arrow_csv.CSVWriter(str(path), first.schema) as out:
        out.write_table(first)
        for part in parts:
            out.write_table(part)


def of_easeml(folder: Path, source: Path) -> list[tuple[str, float, float, float]]:
    """Return seconds, base and peak of the upload and of the read."""
    easeml = EasemlProcess(folder / "home", workers=1)
    easeml.start()
    try:
        with Client(easeml.url, easeml.key) as client:
            watch = MemoryWatch(easeml, 0.05)
            watch.start()
            began = time.perf_counter()
            dataset = client.upload(source)
            sent = time.perf_counter()
            version = client.wait_version_ready(dataset.version.id, timeout=1200)
            ready = time.perf_counter()
            watch.stop()
            assert version.state == "ready", version
    finally:
        easeml.stop()
    first, most = watch.first, watch.most
    return [
        ("upload", sent - began, first["controller"], most["controller"]),
        ("read", ready - sent, first["worker"], most["worker"]),
    ]


def of_script(python: Path | str, script: str, source: Path, out: Path) -> tuple[float, float]:
    """Run a script to its end; return seconds and the most resident memory."""
    began = time.perf_counter()
    process = subprocess.Popen([str(python), "-c", script, str(source), str(out)])
    peak = 0.0

    def look() -> None:
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=look)
    watcher.start()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"The script ended with {process.returncode}.")
    return time.perf_counter() - began, peak


def main() -> None:
    """Measure each, print and keep the table."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--no-duckdb", action="store_true", help="install nothing")
    options = read_options(parser, rows=2000, columns=10, no_duckdb=True)
    print(machine_line("easeml", "pandas", "pyarrow"))
    with tempfile.TemporaryDirectory(prefix="easeml-big-") as name:
        folder = Path(name)
        source = folder / "big.csv"
        write_source(source, options.rows, options.columns)
        size = source.stat().st_size >> 20
        found = of_easeml(folder, source)
        scripts = [("pandas", sys.executable, PANDAS)]
        if not options.no_duckdb:
            CACHE.mkdir(parents=True, exist_ok=True)
            scripts.append(("DuckDB", str(peer_python(CACHE, "DuckDB")), DUCKDB))
        for step, python, script in scripts:
            seconds, peak = of_script(python, script, source, folder / step)
            found.append((step, seconds, 0.0, peak))
    lines = [
        [step, options.rows, options.columns, size, round(seconds, 1), round(base), round(peak)]
        for step, seconds, base, peak in found
    ]
    for line in [COLUMNS, *lines]:
        print("".join(f"{cell!s:>10}" for cell in line))
    write_table(options.out / "table.csv", COLUMNS, lines)


if __name__ == "__main__":
    main()

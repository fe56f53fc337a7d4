"""Memory and time of predicting a long file, by its number of rows, beside a script that reads all.

    python benchmarks/large_predictions.py [--rows 100000 1000000 10000000] [--formats csv parquet jsonl]

A model of three numbers and a category (LightGBM: 60 trees of 15 leaves) answers a number with its
interval. ``easeml``: the body of the task that predicts a file, in a process of its own: CSV,
Parquet or JSON lines in, Parquet out. ``reads all``: the same model in a script that reads the file
with pandas, predicts it at once and writes it with pandas. ``peak``: the most resident memory of
the process and its children (MiB), looked at a hundred times a second; ``base``: of the process
that has loaded the model and predicted one row; ``cpu``: processor seconds of them. What both
predicted is compared, row by row: ``same`` says whether it is equal.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from common import arguments, machine_line, read_options, write_table

COLORS = np.array(["red", "green", "blue", "grey"])
AT_ONCE = 200_000  # rows that are made at once
FORMATS = ("csv", "parquet", "jsonl")
LOOK_EVERY = 0.01  # seconds

OURS = """
import sys
from pathlib import Path
from easeml.kinds.predict_file import PredictFileSpec, predict_file
folder, name = Path(sys.argv[1]), sys.argv[2]
spec = PredictFileSpec(filename=name, source="")
predict_file(spec, folder, folder / "out")
"""
READS_ALL = """
import sys
from pathlib import Path
import pandas as pd
from easeml.export import load_exported
folder, name = Path(sys.argv[1]), sys.argv[2]
model = load_exported(folder / "model")
readers = {
    "csv": pd.read_csv,
    "parquet": pd.read_parquet,
    "jsonl": lambda path: pd.read_json(path, lines=True),
}
frame = readers[name.rpartition(".")[2]](folder / "source")
predicted = model.predict(frame)
frame.join(predicted).to_parquet(folder / "out" / "predictions", index=False)
"""


@dataclass(frozen=True)
class Run:
    """What a process needed: MiB, processor seconds, seconds."""

    peak: float
    cpu: float
    wall: float


def made(rows: int, seed: int) -> pa.Table:
    """Return rows of a table."""
    generator = np.random.default_rng(seed)
    a, b, c = generator.normal(size=(3, rows)).round(4)
    color = generator.choice(COLORS, rows)
    return pa.table({"a": a, "b": b, "c": c, "color": color})


def train(folder: Path) -> None:
    """Fit the model, and keep it in the folder ``model``."""
    from easeml import AutoMLRegressor

    frame = made(4000, 0).to_pandas()
    noise = np.random.default_rng(1).normal(scale=0.1, size=len(frame))
    answers = frame["a"] * 2 - frame["b"] ** 2 + (frame["color"] == "red") + noise
    model = AutoMLRegressor(models=["lightgbm-regressor"], max_models=1, time_limit=60)
    model.fit(frame, answers)
    model.save(folder / "model")


def write_source(path: Path, rows: int, form: str) -> None:
    """Write a file of so many rows, some at a time."""
    starts = range(0, rows, AT_ONCE)
    parts = (made(min(AT_ONCE, rows - start), 2 + start) for start in starts)
    first = next(parts)
    if form == "jsonl":
        with path.open("w") as file:
            for part in (first, *parts):
                part.to_pandas().to_json(file, orient="records", lines=True)
        return
    writer = {"csv": arrow_csv.CSVWriter, "parquet": pq.ParquetWriter}[form]
    with writer(str(path), first.schema) as out:
        out.write_table(first)
        for part in parts:
            out.write_table(part)


def resident(pid: int) -> float:
    """Return the MiB of resident memory of a process and its children; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = pages * resource.getpagesize() / 2**20
    return own + sum(resident(int(child)) for child in children)


def run(script: str, folder: Path, name: str) -> Run:
    """Run a script to its end; ``name``: of the file, for its ending."""
    (folder / "out").mkdir(exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(folder), name], stdout=subprocess.DEVNULL
    )
    seen = [0.0]

    def look() -> None:
        while process.poll() is None:
            seen[0] = max(seen[0], resident(process.pid))
            time.sleep(LOOK_EVERY)

    watcher = threading.Thread(target=look)
    watcher.start()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"The script ended with {process.returncode}.")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seen[0], cpu, time.perf_counter() - began)


def same(one: Path, other: Path) -> bool:
    """Tell whether two files have the same predictions, some at a time."""
    names = ["prediction", "lower", "upper"]
    first, second = pq.ParquetFile(one), pq.ParquetFile(other)
    if first.metadata.num_rows != second.metadata.num_rows:
        return False
    batches = zip(
        _batches(first, names),
        _batches(second, names),
        strict=True,
    )
    return all(mine.equals(theirs) for mine, theirs in batches)


def _batches(file: pq.ParquetFile, names: list[str]) -> "list[pd.DataFrame]":
    return [file.read(columns=[name]).to_pandas() for name in names]


def measure(folder: Path, rows: int, form: str, most: int) -> list[object]:
    """Return a line of the table; a script that reads all is run for at most ``most`` rows."""
    source = folder / "source"
    write_source(source, rows, form)
    name = f"rows.{form}"
    ours = run(OURS, folder, name)
    out = folder / "out" / "predictions"
    kept = out.rename(folder / "kept")
    line: list[object] = [form, rows, source.stat().st_size >> 20]
    line += [round(ours.peak), round(ours.cpu, 1), round(ours.wall, 1)]
    if rows <= most:
        all_at_once = run(READS_ALL, folder, name)
        line += [round(all_at_once.peak), round(all_at_once.cpu, 1), round(all_at_once.wall, 1)]
        line.append(same(kept, out))
    return line


def main() -> None:
    """Measure each number of rows in each format."""
    parser: argparse.ArgumentParser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument(
        "--most", type=int, default=1_000_000, help="most rows for the script that reads all"
    )
    options = read_options(parser, rows=[2000], formats=["csv"])
    columns = ["format", "rows", "file_mib", "peak_mib", "cpu", "wall"]
    columns += ["all_peak_mib", "all_cpu", "all_wall", "same"]
    print("".join(f"{column:>13}" for column in columns))
    lines = []
    with tempfile.TemporaryDirectory(prefix="easeml-large-") as name:
        folder = Path(name)
        train(folder)
        write_source(folder / "source", 1, "csv")
        base = run(OURS, folder, "rows.csv")
        print(f"base: {base.peak:.0f} MiB, {base.cpu:.1f} s of processor")
        for form in options.formats:
            for rows in options.rows:
                line = measure(folder, rows, form, options.most)
                lines.append(line)
                print("".join(f"{cell!s:>13}" for cell in line), flush=True)
                write_table(options.out / "large.csv", columns, lines)
    print(machine_line("pyarrow", "pandas", "lightgbm"))


if __name__ == "__main__":
    main()

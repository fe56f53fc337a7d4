"""One tool on some tables: ``{name: file}`` as JSON on standard input; types, CPU seconds and peak
megabytes out.
"""

import csv
import gzip
import importlib
import json
import re
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

Columns = dict[str, dict[str, Any]]
_CATEGORY = 40  # different values up to which skrub's report calls a column of low cardinality


def easeml(path: str) -> Columns:
    """easeml's own inference."""
    from easeml import data

    return {
        report.name: {
            "type": report.type,
            "nature": report.nature,
            "codes": report.suspected_codes,
            "confidence": report.confidence,
        }
        for report in data.infer(path).columns
    }


def pandas(path: str) -> Columns:
    """``read_csv`` with the delimiter given and ``convert_dtypes``."""
    import pandas as pd

    frame = pd.read_csv(path, sep=delimiter(path), low_memory=False).convert_dtypes()
    return {str(name): {"type": _plain(str(kind))} for name, kind in frame.dtypes.items()}


def duckdb(path: str) -> Columns:
    """``DESCRIBE`` of ``read_csv``, which sniffs types from a sample."""
    import duckdb

    rows = duckdb.sql(f"DESCRIBE SELECT * FROM read_csv('{path}', sample_size=20480)").fetchall()
    return {row[0]: {"type": _plain(row[1])} for row in rows}


def frictionless(path: str) -> Columns:
    """``describe`` with its default sample."""
    from frictionless import Resource, system

    with system.use_context(trusted=True):
        found = Resource(path=path)
        found.infer()
    return {field.name: {"type": _plain(field.type)} for field in found.schema.fields}


def skrub(path: str) -> Columns:
    """The columns as TableReport summarises them, plots left out."""
    import pandas as pd
    from skrub import TableReport

    frame = pd.read_csv(path, sep=delimiter(path), low_memory=False)
    report = TableReport(frame, plot_distributions=False, compute_associations=False)
    columns = json.loads(report.json())["columns"]
    return {column["name"]: {"type": _skrub(column)} for column in columns}


def _skrub(column: dict[str, Any]) -> str:
    kind = _plain(column["dtype"])
    few = column.get("n_unique") is not None and column["n_unique"] <= _CATEGORY
    return "category" if kind == "text" and few else kind


def _plain(kind: str) -> str:
    kind = kind.lower()
    if any(word in kind for word in ("date", "time", "stamp")):
        return "timestamp"
    if any(word in kind for word in ("int", "float", "double", "decimal", "number")):
        return "number"
    return "category" if "bool" in kind else "text"


def delimiter(path: str) -> str:
    """The delimiter of a table."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        return csv.Sniffer().sniff(file.readline(), ",;\t").delimiter


IMPORTS = {
    "easeml": "easeml.data",
    "pandas": "pandas",
    "duckdb": "duckdb",
    "frictionless": "frictionless",
    "skrub": "skrub",
}


def _peak() -> float:
    """Megabytes; ``ru_maxrss`` would count those of the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def main() -> None:
    """Run the tool named on the command line."""
    tool = sys.argv[1]
    importlib.import_module(IMPORTS[tool])
    started = time.process_time()
    found = {name: globals()[tool](path) for name, path in json.load(sys.stdin).items()}
    seconds = time.process_time() - started
    print(
        json.dumps(
            {"found": found, "seconds": seconds, "peak": _peak(), "version": metadata.version(tool)}
        )
    )


if __name__ == "__main__":
    main()

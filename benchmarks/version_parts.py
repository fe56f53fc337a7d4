"""Bytes that versions of a table store when it gains 1 % of rows ten times: in parts, and as a whole.

    python benchmarks/version_parts.py [--rows 100000]

Versions are made by ``easeml.data`` and kept in an artefact store, as a worker does.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from common import arguments, read_options
from easeml import data
from easeml.data.versions import parts
from easeml.store import ArtefactStore, LocalFiles

_GAINS = 10
_TENANT = "tenant"


def rows(count: int, seed: int) -> pa.Table:
    """Return rows of numbers, classes and texts, as an upload has them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=count).round(4),
            "price": rng.integers(0, 10_000, count),
            "colour": rng.choice([f"colour {one}" for one in range(20)], count),
            "about": [f"row {one} of lot {one % 997}" for one in rng.integers(0, 10**6, count)],
            "kind": rng.choice(["small", "large"], count),
        }
    )
    return pa.Table.from_pandas(frame.astype(str), preserve_index=False)


def stored(count: int, rows_a_part: int) -> tuple[int, int, float]:
    """Return the bytes of the first version and of those after it, and processor seconds."""
    parts.ROWS = rows_a_part
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store = ArtefactStore(LocalFiles(place / "artefacts"))
        table = rows(count, 0)
        columns = data.infer_table(table).columns
        types = {"colour": "category", "about": "text", "price": "number", "size": "number"}
        version = data.declare(table, columns, "kind", set=types)
        sizes = []
        began = time.process_time()
        for number in range(_GAINS + 1):
            if number:
                version = data.feed(version, rows(count // 100, number), "more.csv")
            data.write_version(place / f"v{number}", version)
            store.put(_TENANT, place / f"v{number}")
            sizes.append(sum(file.stat().st_size for file in store._files.stored()))
        seconds = time.process_time() - began
    return sizes[0], sizes[-1] - sizes[0], seconds


def main() -> None:
    """Print a table: stored bytes of both ways."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    count = read_options(parser, rows=2000).rows
    print(f"{count:,} rows, then {_GAINS} times {count // 100:,} more")
    print(f"{'rows a part':>12} {'first, MB':>10} {'the next ten, MB':>17} {'processor s':>12}")
    for rows_a_part in (10**9, 65_536, 16_384, 8_192, 4_096):
        first, more, seconds = stored(count, rows_a_part)
        print(f"{rows_a_part:>12,} {first / 1e6:>10.1f} {more / 1e6:>17.1f} {seconds:>12.2f}")


if __name__ == "__main__":
    main()

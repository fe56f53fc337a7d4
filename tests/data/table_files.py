"""One table in every format that is read."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather

from .pdf_files import pdf_of_frame


def flowers(rows: int = 120) -> pd.DataFrame:
    """A number, a number with gaps, a category, and a target of two classes that the first number
    tells.
    """
    rng = np.random.default_rng(0)
    length = np.round(rng.normal(size=rows), 3)
    width = np.where(np.arange(rows) % 10 == 3, np.nan, np.round(rng.normal(size=rows), 2))
    colour = rng.choice(["red", "white", "gelb ü"], rows)
    return pd.DataFrame(
        {
            "length": length,
            "width": width,
            "colour": colour,
            "kind": np.where(length > 0, "big", "small"),
        }
    )


def write_arrow_stream(frame: pd.DataFrame, path: Path) -> None:
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=50)


def write_arff(frame: pd.DataFrame, path: Path) -> None:
    names = {
        "length": "NUMERIC",
        "width": "real",
        "colour": "{red, white, 'gelb ü'}",
        "kind": "{big,small}",
    }
    lines = [
        "% flowers",
        "@RELATION flowers",
        *(f"@ATTRIBUTE {name} {kind}" for name, kind in names.items()),
        "@DATA",
    ]
    for row in frame.itertuples(index=False):
        width = "?" if np.isnan(row.width) else row.width
        lines.append(f"{row.length},{width},'{row.colour}',{row.kind}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_zip(frame: pd.DataFrame, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("flowers.csv", frame.to_csv(index=False))


def write_json_list(frame: pd.DataFrame, path: Path) -> None:
    path.write_text(
        json.dumps({"rows": json.loads(frame.to_json(orient="records"))}, indent=1),
        encoding="utf-8",
    )


FORMATS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "feather": lambda frame, path: pa.feather.write_feather(frame, str(path)),
    "arrows": write_arrow_stream,
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json": write_json_list,
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "arff": write_arff,
    "zip": write_zip,
    "html": lambda frame, path: frame.to_html(path, index=False, na_rep=""),
    "pdf": lambda frame, path: path.write_bytes(pdf_of_frame(frame)),
}

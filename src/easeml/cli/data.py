"""``data``: look at table files, and write them in other formats. Needs no service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import notes, print_json, print_table, say

app = typer.Typer(no_args_is_help=True, help="Look at data, and write it in other formats.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A table in any format that can be uploaded.")]
Target = Annotated[str | None, typer.Option(metavar="COL", help="The column to predict; proposed where left out.")]


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="data")


@app.command()
def describe(file: File, target: Target = None, as_json: Json = False) -> None:
    """Show what each column is: its type and nature, how sure that is, and why."""
    from easeml import data

    found = data.infer(file, target)
    if as_json:
        columns = [report.to_json() for report in found.columns]
        return print_json({"rows": found.rows, "target": found.target, "columns": columns, "notes": found.notes})
    rows = [
        (
            one.name,
            f"{one.type} {one.confidence:.0%}",
            f"{one.nature} {one.nature_confidence:.0%}",
            f"{one.missing:.1%}" if one.missing else "",
            one.evidence,
        )
        for one in found.columns
    ]
    print_table(["column", "type", "nature", "missing", "evidence"], rows)
    for note in found.notes:
        notes().print(note, markup=False)
    return None


@app.command()
def convert(
    file: File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new file; its ending says the format.")],
) -> None:
    """Write a table with its inferred types as .csv, .tsv, .parquet, .arrow, .feather, .jsonl or .arff."""
    from easeml import data

    table = data.read_table(file)
    data.write_table(out, table, data.infer_table(table).columns)
    say(f"Wrote {table.num_rows} rows to {out}.")


@app.command()
def croissant(file: File, target: Target = None) -> None:
    """Print Croissant metadata (JSON-LD) of a table."""
    from easeml import data

    print_json(data.croissant(file, data.infer(file, target)))

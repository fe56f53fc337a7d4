"""``clean plan`` and ``clean detect``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.named_files import content_of, read_text
from easeml.cli.options import Json
from easeml.cli.output import print_table_of_any, print_told, say, say_aside
from easeml.cli.progress import progress
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.cleaning import (
        CleaningPlan,
        ErrorReport,
        PlannedRow,
        Rule,
        TableCandidates,
    )

app = typer.Typer(no_args_is_help=True, help="Find dirty cells, and clean those first that matter.")

Table = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Table: CSV, TSV, Parquet, Excel, ...", show_default=False),
]
Target = Annotated[str, typer.Option(help="Column with the labels.", show_default=False)]
Rules = Annotated[
    Path | None,
    typer.Option(
        help="File of rules that hold, one a line: t1&t2&EQ(t1.zip,t2.zip)&IQ(t1.city,t2.city)."
    ),
]
Out = Annotated[
    Path | None, typer.Option(help="Write the whole answer to this file: .csv, .html or .json.")
]

_SHOWN = 4  # candidates of a cell
_SHOWN_CELLS = 40
_FORMS: dict[str, Callable[[Any], str]] = {
    ".csv": lambda result: result.to_csv(),
    ".html": lambda result: result.to_html(),
    ".json": lambda result: json.dumps(result.to_json(), indent=2),
}


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="clean")


@app.command()
def detect(
    table: Table,
    target: Annotated[
        str | None, typer.Option(help="Column with labels; wrong labels are looked for too.")
    ] = None,
    rules: Rules = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Find cells that may be wrong. Rows are counted from 0, without the header."""
    from easeml.lifecycle.cleaning import detect_errors

    _check(out)
    frame = _read(table)
    known = _rules(rules)
    with progress("Looking at cells") as advance:
        report = detect_errors(frame, target=target, rules=known, progress=advance)
    _write(report, out)
    print_told(report.to_json(), partial(_print_suspects, report), as_json=as_json)


def _print_suspects(report: ErrorReport) -> None:
    say(report.advice)
    rows = list(map(_suspect, report.cells[:_SHOWN_CELLS]))
    print_table_of_any(
        ["row", "column", "value", "method", "confidence", "perhaps", "reason"], rows
    )
    more = len(report.cells) - len(rows)
    if more:
        say_aside(f"{more} more: use --json or --out.")


_suspect = attrgetter("row", "column", "value", "method", "confidence", "suggestion", "reason")


@app.command()
def plan(
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Dirty training table.", show_default=False)
    ],
    *,
    valid: Annotated[
        Path,
        typer.Option(help="Validation table; its cells are taken as true.", show_default=False),
    ],
    target: Target,
    n: Annotated[int, typer.Option("-n", min=1, help="Rows to plan.")] = 50,
    k: Annotated[int, typer.Option("-k", min=1, help="Neighbours that vote.")] = 3,
    rules: Rules = None,
    seed: Annotated[int, typer.Option(help="Of the models that propose repairs.")] = 0,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Say which rows to clean first, so that validation predictions become certain soonest.

    Rows are counted from 0, without the header.
    """
    from easeml.lifecycle.cleaning import candidates_of, plan_table

    _check(out)
    tables = (_read(train), _read(valid))
    known = _rules(rules)
    with progress("Looking at cells") as advance:
        candidates = candidates_of(*tables, target, rules=known, seed=seed, progress=advance)
    with progress("Scoring validation rows") as advance:
        found = plan_table(candidates, k=k, n=n, progress=advance)
    _write(found, out)
    print_told(found.to_json(), partial(_show, found, candidates), as_json=as_json)


def _show(found: CleaningPlan, candidates: TableCandidates) -> None:
    say_aside(*found.notes)
    if candidates.fixed:
        say_aside(
            f"Cells with one possible repair, which is taken: {candidates.fixed}. See 'easeml clean detect'."
        )
    say(found.advice)
    rows = list(map(_planned_row, found.planned))
    print_table_of_any(["row", "bits", "candidates", "cells in doubt"], rows)


def _planned_row(item: PlannedRow) -> tuple[object, ...]:
    cells = [f"{column}: {_short(values)}" for column, values in item.cells.items()]
    return item.row, item.gain, item.candidates, "; ".join(cells)


def _short(values: list[Any]) -> str:
    """Return the first few candidates of a cell."""
    shown = list(map(_candidate, values[:_SHOWN]))
    if len(values) > _SHOWN:
        shown.append("...")
    return " | ".join(shown)


def _candidate(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read(path: Path) -> pd.DataFrame:
    """Read a table file as text."""
    from easeml.data import read_table

    return read_table(path).to_pandas().astype(object)


def _rules(path: Path | None) -> list[Rule]:
    from easeml.lifecycle.cleaning import parse_rules

    if path is None:
        return []
    text = read_text(path, "cannot be read")
    with content_of(path):
        return parse_rules(text)


def _write(result: Any, path: Path | None) -> None:
    """Write a result to a file, in the form that its name says."""
    if path is not None:
        path.write_text(_FORMS[path.suffix](result), encoding="utf-8")


def _check(out: Path | None) -> None:
    """Refuse, before the work, a file whose form is not known or whose folder is not there."""
    if out is None:
        return
    if out.suffix not in _FORMS:
        raise InvalidInput(
            f"{out.suffix or 'no ending'} is not a form of output.",
            where=f"--out {out}",
            remedy=f"Use {', '.join(_FORMS)}.",
        )
    if not out.resolve().parent.is_dir():
        raise InvalidInput(
            "its folder does not exist.", where=f"--out {out}", remedy="Make the folder first."
        )

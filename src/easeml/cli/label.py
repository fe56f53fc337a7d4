"""``label``: which examples first, on table files, without a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.checked_rows import read_checked
from easeml.cli.local_tables import LabelledTable, read_labelled, read_like
from easeml.cli.named_files import writing
from easeml.cli.options import Json, given
from easeml.cli.output import print_table, print_told, say, say_aside
from easeml.cli.progress import progress
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from easeml.data import Rows
    from easeml.lifecycle import Result

labelling = typer.Typer(
    no_args_is_help=True, help="Which examples first? Works on table files, without a service."
)

Train = Annotated[Path, typer.Argument(help="Table of labelled training rows.")]
Valid = Annotated[
    Path, typer.Option(help="CSV file of rows with trusted labels, with the columns of TRAIN.")
]
Target = Annotated[str, typer.Option(help="Column that holds the label.")]
Neighbours = Annotated[int, typer.Option("-k", "--neighbours", min=1, help="Neighbours that vote.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Also write all rows to this file: .csv, .html (with the figure) or .json."),
]
_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(labelling, name="label")


@labelling.command("value")
def value(
    train: Train,
    valid: Valid,
    target: Target,
    k: Neighbours = 5,
    error: Annotated[
        float, typer.Option(min=0.0, help="Largest error of a value that is allowed: faster.")
    ] = 0.0,
    soft: Annotated[bool, typer.Option("--soft", help="Use the soft-label variant.")] = False,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Tell what each training row is worth: its Shapley value for a nearest-neighbour classifier."""
    from easeml.lifecycle.labeling import value_rows

    given = _read(train, target, valid)
    with progress("valuing rows") as report:
        answer = value_rows(*given.four(), k, soft=soft, error=error, progress=report)
    _show(answer, as_json, out, train_rows=given.table.rows)


@labelling.command("next")
def choose(
    train: Train,
    pool: Annotated[
        Path, typer.Option(help="CSV file of rows without labels, with the columns of TRAIN.")
    ],
    valid: Valid,
    target: Target,
    n: Annotated[int, typer.Option("-n", "--number", min=1, help="Rows to choose.")] = 50,
    k: Neighbours = 5,
    value: Annotated[float, typer.Option(min=0.0, help="Weight of the expected value.")] = 1.0,
    uncertainty: Annotated[
        float, typer.Option(min=0.0, help="Weight of the label's uncertainty.")
    ] = 1.0,
    diversity: Annotated[
        float, typer.Option(min=0.0, help="How strongly near duplicates are avoided.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the model that guesses labels.")] = 0,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Tell which rows of a pool to label next. Rows are counted from 0, without the header."""
    from easeml.lifecycle.labeling import next_to_label

    given = _read(train, target, valid, pool)
    X, y, X_valid, y_valid = given.four()
    with progress("choosing rows") as report:
        answer = next_to_label(
            X, y, given.pool, X_valid, y_valid, n, k,
            value=value, uncertainty=uncertainty, diversity=diversity, seed=seed, progress=report,
        )  # fmt: skip
    _show(answer, as_json, out)


@labelling.command("mislabelled")
def mislabelled(
    train: Train,
    target: Target,
    valid: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of rows with trusted labels. Without it, rows judge each other."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Flag a row if its label is wrong with at least this probability.")
    ] = 0.33,
    checked: Annotated[
        Path | None,
        typer.Option(
            help="CSV file of checked rows: their 'row' and their right label, in a column of the "
            "target's name. Those that 'check' numbers, from 1 on, tell how many flagged labels "
            "are wrong."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the parts and models that judge each other.")
    ] = 0,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Find rows whose label looks wrong. The target is a class or a number."""
    from easeml.lifecycle.labeling import find_mislabelled, find_wrong_numbers

    given = _read(train, target, valid, takes_numbers=True)
    told = None
    if checked is not None:
        told = read_checked(checked, target, given.table.rows, given.y)
    judge = find_mislabelled if given.table.target.dtype == "category" else find_wrong_numbers
    with progress("judging labels") as report:
        answer = judge(
            given.X,
            given.y,
            given.X_valid,
            given.y_valid,
            confidence=confidence,
            checked=told,
            seed=seed,
            progress=report,
        )
    if told is not None and len(told) > answer.checked:
        say_aside(
            f"{len(told) - answer.checked} of {len(told)} checked rows do not count: only those do that 'check' "
            "numbers, from 1 on, up to the first that was left out."
        )
    _show(answer, as_json, out, train_rows=given.table.rows)


@labelling.command("owners")
def owners(
    train: Train,
    valid: Valid,
    target: Target,
    owner: Annotated[str, typer.Option(help="Column that names the owner of each row.")],
    budget: Annotated[float, typer.Option(min=0.0, help="What is paid in all.")] = 1.0,
    players: Annotated[
        str, typer.Option(help="owners: each gives all rows or none; rows: sums of rows.")
    ] = "owners",
    k: Neighbours = 5,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Report what each owner of data contributes, and its share of a budget."""
    from easeml.lifecycle.labeling import contributions

    given = _read(train, target, valid, owner=owner)
    X, y, X_valid, y_valid = given.four()
    with progress("valuing owners") as report:
        answer = contributions(
            X, y, given.owners, X_valid, y_valid, k, players=players, budget=budget, progress=report
        )
    _show(answer, as_json, out)


@dataclass(frozen=True)
class _Given:
    """The files of a command, encoded alike; what was not given is None."""

    table: LabelledTable
    X: np.ndarray
    y: np.ndarray
    X_valid: np.ndarray | None
    y_valid: np.ndarray | None
    pool: np.ndarray | None
    owners: np.ndarray | None

    def four(self) -> tuple[Any, Any, Any, Any]:
        """Return training rows and labels, validation rows and labels."""
        return self.X, self.y, self.X_valid, self.y_valid


def _read(
    train: Path,
    target: str,
    valid: Path | None,
    pool: Path | None = None,
    owner: str | None = None,
    takes_numbers: bool = False,
) -> _Given:
    """Read the files of a command, alike; labels are texts, or floats for a target of numbers."""
    from easeml.lifecycle import encode

    table = read_labelled(train, target, keep=() if owner is None else (owner,))
    is_number = table.target.dtype != "category"
    if is_number and not takes_numbers:
        raise InvalidInput(
            "The target is a number; these values are for classes.",
            where=f"{train}, column '{target}'",
            remedy="Cut it into a few classes first.",
        )
    column = None
    if owner is not None:
        table, column = _without_owner(table, owner, train)
    kind = float if is_number else str
    others = {name: _read_like(path, table) for name, path in given(valid=valid, pool=pool).items()}
    labels = None
    if valid is not None:
        labels = _labels_of(others["valid"], target, valid).astype(kind).to_numpy()
    frames = [rows.frame.loc[:, table.inputs.columns] for rows in others.values()]
    first, *matrices = encode(table.inputs, *frames)
    encoded = dict(zip(others, matrices, strict=True))
    return _Given(
        table, first, table.target.astype(kind).to_numpy(), encoded.get("valid"), labels,
        encoded.get("pool"), column,
    )  # fmt: skip


def _read_like(path: Path, table: LabelledTable) -> Rows:
    """Read rows like those of a table, and say what was unusual about them."""
    rows = read_like(path, table)
    say_aside(*rows.notes)
    return rows


def _labels_of(rows: Rows, target: str, path: Path) -> pd.Series:
    if rows.labels is None:
        raise InvalidInput(
            f"Not every row has a '{target}'.",
            where=str(path),
            remedy="Leave out rows without a label.",
        )
    return rows.labels


def _without_owner(
    table: LabelledTable, owner: str, path: Path
) -> tuple[LabelledTable, np.ndarray]:
    """Return the table without the owner's column, and that column.

    Who owns a row must not make rows alike.
    """
    if owner not in table.inputs:
        raise InvalidInput(
            f"There is no column '{owner}'.",
            where=str(path),
            remedy=f"Columns: {', '.join(table.inputs.columns)}.",
        )
    column = table.inputs[owner]
    missing = column.isna().to_numpy()
    if missing.any():
        row = int(table.rows[missing.argmax()])
        raise InvalidInput("The owner is missing.", where=f"{path}, row {row}")
    schema = table.schema_in
    nodes = {name: node for name, node in schema.nodes.items() if node.label != owner}
    left = replace(
        table,
        inputs=table.inputs.drop(columns=owner),
        schema_in=replace(schema, nodes=nodes, dropped=(*schema.dropped, owner)),
    )
    return left, column.astype(str).to_numpy()


def _show(
    answer: Result, as_json: bool, out: Path | None, train_rows: np.ndarray | None = None
) -> None:
    """Print an answer, and write it to a file.

    ``train_rows`` are the rows of the file behind the training rows.
    """
    table = answer.to_frame()
    if train_rows is not None:
        table["row"] = train_rows[table["row"].to_numpy()]
    rows = list(map(_plain_row, table.to_dict("records")))
    document = {"advice": answer.advice, "rows": rows}
    if out is not None:
        _write(answer, table, document, out)
    shown = list(map(dict.values, rows[:_SHOWN]))
    unwritten = len(rows) - len(shown) if out is None else 0
    show = partial(_print_first, answer.advice, list(table.columns), shown, unwritten)
    print_told(document, show, as_json=as_json)


def _print_first(advice: str, columns: list[str], shown: list[Any], unwritten: int) -> None:
    """Print the first rows; ``unwritten``: how many more there are, in no file either."""
    say(advice)
    print_table(columns, map(list, shown))
    if unwritten:
        say(f"... and {unwritten} more rows; --out FILE writes them all.")


def _plain_row(row: dict[Any, Any]) -> dict[Any, Any]:
    return {key: _plain(cell) for key, cell in row.items()}


def _plain(cell: Any) -> Any:
    from easeml.lifecycle.result import plain

    return plain(cell.item() if hasattr(cell, "item") else cell)


def _write(answer: Result, table: pd.DataFrame, document: dict[str, Any], path: Path) -> None:
    import json

    forms: dict[str, Callable[[], str]] = {
        ".csv": lambda: table.to_csv(index=False),
        ".html": answer.to_html,
        ".json": lambda: json.dumps(document, indent=2, ensure_ascii=False) + "\n",
    }
    kind = path.suffix.lower()
    if kind not in forms:
        raise InvalidInput(
            f"A file {kind or 'without an ending'} cannot be written.",
            where=str(path),
            remedy="Use .csv, .html or .json.",
        )
    with writing(path, "It cannot be written"):
        path.write_text(forms[kind](), "utf-8")

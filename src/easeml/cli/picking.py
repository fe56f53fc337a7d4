"""``easeml pick``: choose the best of trained models with few labels, from two CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import Json
from easeml.cli.output import print_pairs, print_table, print_told, say
from easeml.cli.progress import progress
from easeml.cli.row_names import place_of_ids, places_by_id
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from easeml.lifecycle.picking import Picking, Pool


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command("pick")(pick_command)


def pick_command(
    predictions: Annotated[
        Path, typer.Argument(help="CSV file: a row an example, a column a model.")
    ],
    labels: Annotated[
        Path,
        typer.Option(help="CSV file of true labels, read one at a time as they are asked for."),
    ],
    budget: Annotated[int, typer.Option(min=0, help="Labels to ask for, at most.")] = 100,
    method: Annotated[
        str,
        typer.Option(
            help="default, model-selector, model-picker, coda, random, random-disagreement, entropy or margin."
        ),
    ] = "default",
    seeds: Annotated[
        int, typer.Option(min=1, help="Repeat with so many seeds, counting from --seed.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    batch: Annotated[int, typer.Option(min=1, help="Labels asked for at a time.")] = 1,
    tolerance: Annotated[float, typer.Option(help="Loss of accuracy that does not matter.")] = 0.0,
    confidence: Annotated[float, typer.Option(help="Of the certificate and the interval.")] = 0.95,
    guarantee: Annotated[
        bool,
        typer.Option(
            "--guarantee",
            help="Ask until the choice is certified, or nothing could change it, whatever the budget.",
        ),
    ] = False,
    audit: Annotated[
        float | None,
        typer.Option(help="Share of labels drawn at random: more narrows the interval. 0 to 0.5."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the models as CSV, or a page as .html, of the first seed."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose the most accurate of trained models, asking for few labels.

    Stops early once the choice is certain enough. The labels are the column named label, else the
    last one. Where both files have a column named id, row, example, index or row_id (or a first one
    without a name), rows are put together by it, and rows without a label may lack; else by their
    order. With --guarantee the published methods draw a tenth of the labels at
    random, too: without such draws nothing can be certified before all is labelled.
    """
    from easeml.lifecycle.picking import AUDIT, Pool, pick

    _check_method(method, guarantee)
    said = _predictions(predictions)
    pool = Pool.of(said.values)
    oracle = Oracle(_labels(labels, pool, said))
    if guarantee and audit is None:
        audit = AUDIT
    found: list[Picking] = []
    with progress("Picking") as show:
        for run in range(seeds):
            found.append(
                pick(
                    pool,
                    oracle.read,
                    budget=None if guarantee else budget,
                    method=method,
                    batch=batch,
                    seed=seed + run,
                    tolerance=tolerance,
                    confidence=confidence,
                    audit=audit,
                    progress=lambda share, run=run: show((run + share) / seeds),
                )
            )
    if out is not None:
        text = found[0].to_html() if out.suffix == ".html" else found[0].to_csv()
        out.write_text(text, encoding="utf-8")
    runs = list(map(_run_told, count(seed), found))
    told = {**runs[0], "labels_read": oracle.read_count, "runs": list(map(_short, runs))}
    print_told(told, partial(_show, found, seed), as_json=as_json)


def _run_told(seed: int, one: Picking) -> dict[str, Any]:
    return {"seed": seed, **one.to_json()}


def _check_method(method: str, guarantee: bool) -> None:
    from easeml.lifecycle.picking import METHODS

    if method not in METHODS:
        raise InvalidInput(
            f"{method!r} is not a method.", where="--method", remedy=f"Use {', '.join(METHODS)}."
        )
    if guarantee and method == "model-picker":
        raise InvalidInput(
            "One pass over a stream ends before anything is certified.",
            where="--guarantee",
            remedy="Use another method, such as default.",
        )


class Oracle:
    """Labels that are read one at a time, and counted."""

    def __init__(self, labels: list[str]):
        self._labels = labels
        self.read_count = 0

    def read(self, row: int) -> str:
        """Return the label of a 0-based row."""
        self.read_count += 1
        label = self._labels[row]
        if label == "":
            raise InvalidInput(
                "This label was asked for, and is empty.",
                where=f"labels, row {row}",
                remedy="Fill it in.",
            )
        return label


def _short(run: dict[str, Any]) -> dict[str, Any]:
    keys = ("seed", "model", "accuracy", "low", "high", "labels", "stopped", "certified")
    asked = list(map(itemgetter("row"), run["asked"]))
    return {**{key: run[key] for key in keys}, "asked": asked}


def _show(found: list[Picking], seed: int) -> None:
    first = found[0]
    say(first.advice)
    if len(found) > 1:
        _print_runs(found, seed)
        return
    print_pairs(
        [("model", first.model), ("labels asked", first.labels), ("stopped", first.stopped)]
    )
    frame = first.to_frame().head(10)
    print_table(list(map(str, frame.columns)), frame.astype(object).to_numpy().tolist())


def _print_runs(found: list[Picking], seed: int) -> None:
    headings = ["seed", "model", "accuracy", "low", "high", "labels", "stopped"]
    print_table(headings, map(_run_row, count(seed), found))


def _run_row(seed: int, one: Picking) -> tuple[object, ...]:
    interval = (one.accuracy, one.low, one.high)
    return seed, one.model, *interval, one.labels, one.stopped


@dataclass(frozen=True)
class _Table:
    """The values of a file, and the ids of its rows; None where they have none."""

    path: Path
    values: pd.DataFrame
    ids: list[str] | None


def _predictions(path: Path) -> _Table:
    table = _read(path)
    frame = table.values
    empty = frame.eq("").to_numpy()
    if empty.any():
        row, column = (int(place[0]) for place in empty.nonzero())
        raise InvalidInput(
            "A prediction is empty.",
            where=f"{path}, row {row}, column {frame.columns[column]!r}",
            remedy="Fill in the class that the model predicts, or leave the row out of both files.",
        )
    return table


def _labels(path: Path, pool: Pool, predictions: _Table) -> list[str]:
    """Return the label of each row of the predictions, empty where it is not known."""
    from easeml.lifecycle.labels import check_vocabularies

    table = _read(path)
    frame = table.values
    column = "label" if "label" in frame.columns else frame.columns[-1]
    if column in pool.names and len(frame.columns) > 1:
        raise InvalidInput(
            f"Its last column, {column!r}, has the name of a model, so it may be no column of labels.",
            where=str(path),
            remedy="Name the column with the true labels: label.",
        )
    labels = frame[column].tolist()
    given = list(filter(None, labels))
    check_vocabularies(given, pool.classes.tolist(), where=f"{path}, column {column!r}")
    places = places_by_id(predictions.ids, table.ids, predictions.path, path)
    if places is not None:
        return _at(labels, places)
    if len(labels) != pool.examples:
        raise InvalidInput(
            f"There are {len(labels)} labels for {pool.examples} rows of predictions.",
            where=str(path),
            remedy="Give one row a row of the predictions, in the same order, and leave unknown labels "
            "empty; or give both files a column id.",
        )
    return labels


def _at(labels: list[str], places: Sequence[int | None]) -> list[str]:
    """Return the labels at these places, empty where one is nowhere."""
    import pandas as pd

    told = pd.Series(labels, dtype=object)
    return pd.Series(places, dtype="Int64").map(told).fillna("").tolist()


def _read(path: Path) -> _Table:
    """Read a CSV file of classes by their names, so that ``1`` and ``1.0`` are the same."""
    import pandas as pd

    from easeml.lifecycle.labels import class_names

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except OSError as error:
        raise InvalidInput(
            f"Cannot be read: {error.strerror}.", where=str(path), remedy="Check the path."
        ) from error
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"Is no CSV file: {error}.",
            where=str(path),
            remedy="Save it as comma-separated UTF-8 text with a heading.",
        ) from error
    if frame.empty:
        raise InvalidInput(
            "Holds no rows.", where=str(path), remedy="Give a heading and one row an example."
        )
    for name in frame.columns:
        frame[name] = class_names(frame[name])
    place = place_of_ids(list(map(str, frame.columns)))
    if place is None:
        return _Table(path, frame, None)
    ids = frame.iloc[:, place].tolist()
    return _Table(path, frame.drop(columns=frame.columns[place]), ids)

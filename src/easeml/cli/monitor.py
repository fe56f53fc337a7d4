"""``monitor fit`` and ``monitor score``: is a model still right, though nobody labels production?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easeml.cli.named_files import reading, writing
from easeml.cli.options import Json
from easeml.cli.output import print_done, print_pairs, print_table, print_told
from easeml.cli.progress import progress
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from easeml.lifecycle.monitoring import Labelled, Monitor

monitor = typer.Typer(
    no_args_is_help=True, help="Estimate a model's quality on rows without labels."
)

CODES = {"ok": 0, "inputs as before": 0, "watch": 0, "alert": 1, "cannot tell": 6}
Prediction = Annotated[str, typer.Option(help="Column with the model's predictions.")]
Probability = Annotated[
    list[str] | None,
    typer.Option(help="Column with the model's score of one class; repeat for a column a class."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(monitor, name="monitor")


@monitor.command("fit")
def fit(
    table: Annotated[
        Path, typer.Argument(metavar="REFERENCE", help="Labelled rows (CSV) in order of time.")
    ],
    target: Annotated[str, typer.Option(help="Column with the true labels.")],
    prediction: Prediction = "prediction",
    probability: Probability = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeat for more.")
    ] = None,
    out: Annotated[Path, typer.Option(help="File of the monitor.")] = Path("monitor.npz"),
    regression: Annotated[
        bool, typer.Option("--regression", help="The target is a number.")
    ] = False,
    tolerance: Annotated[
        float | None, typer.Option(help="Error up to which a number counts as right.")
    ] = None,
    drop: Annotated[float, typer.Option(help="Raise an alert if quality falls so far.")] = 0.05,
    floor: Annotated[
        float | None, typer.Option(help="Raise an alert if quality is below this.")
    ] = None,
    widest: Annotated[
        float, typer.Option(help="Intervals of a greater half width mean: cannot tell.")
    ] = 0.15,
    alpha: Annotated[
        float, typer.Option(help="Probability of ever raising a false alarm of drift.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the error model.")] = 0,
    as_json: Json = False,
) -> None:
    """Learn from labelled rows, which the model was not trained on, where it is right."""
    from easeml.lifecycle.monitoring import AlertRules, save
    from easeml.lifecycle.monitoring import fit as fit_monitor

    if target == prediction:
        raise InvalidInput(
            f"The labels and the predictions are both column {target!r}.",
            where="--target, --prediction",
            remedy="Name the column with what is true, and the one with what the model said.",
        )
    frame = _frame(table)
    probabilities = _probabilities(frame, probability, table)
    labels = _column(frame, target, table)
    predictions = _column(frame, prediction, table)
    if not regression:
        _check_classes(labels, predictions, f"{table}, columns {target} and {prediction}")
    used = {target, prediction, *(probability or [])}
    inputs = _without(frame, used, ignore or [], table)
    if regression:
        predictions = _numbers(predictions, prediction, table)
        labels = _numbers(labels, target, table)
    with progress("Fitting the monitor") as report:
        found = fit_monitor(
            inputs,
            predictions,
            labels,
            probabilities,
            task="regression" if regression else "classification",
            tolerance=tolerance,
            rules=AlertRules(drop=drop, floor=floor, widest=widest, alpha=alpha),
            seed=seed,
            progress=report,
        )
    _write(out, save(found))
    summary = {
        "rows": len(frame),
        "quality": found.reference.quality,
        "tolerance": found.tolerance,
        "trust": found.trust.share,
        "drift": found.trust.drift,
        "drift a block": found.trust.step,
        "classes": list(found.classes),
        "columns": [column.name for column in found.encoder.columns],
        "monitor": str(out),
    }
    print_told(summary, partial(print_pairs, summary.items()), as_json=as_json)


@monitor.command("score")
def score(
    state: Annotated[
        Path, typer.Argument(metavar="MONITOR", help="File that `monitor fit` made; it is updated.")
    ],
    table: Annotated[
        Path, typer.Argument(metavar="ROWS", help="Rows (CSV) with the model's predictions.")
    ],
    prediction: Prediction = "prediction",
    probability: Probability = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="CSV with columns row (0-based), label and, if they were chosen, chance."
        ),
    ] = None,
    choose: Annotated[
        int | None, typer.Option(min=1, help="Do not score: choose so many rows to label.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the choice.")] = 0,
    day: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Day on which the rows came.")
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the report as HTML, or the chosen rows as CSV.")
    ] = None,
) -> None:
    """Score a batch.

    Exit code 0 if nothing speaks against the model, 1 for an alert, 6 if the monitor cannot tell.
    """
    from easeml.lifecycle.monitoring import Batch, ask, save
    from easeml.lifecycle.monitoring import choose as choose_rows

    found = _load(state)
    frame = _frame(table)
    probabilities = _probabilities(frame, probability, table)
    predictions = _column(frame, prediction, table)
    if found.task == "regression":
        predictions = _numbers(predictions, prediction, table)
    if choose is not None:
        batch = Batch(frame, predictions, probabilities)
        query = choose_rows(found, batch, budget=choose, seed=seed)
        return _show_choice(query.rows, query.chances, as_json, out)
    labelled = None if labels is None else _labels_of(labels, len(frame), found)
    came = None if day is None else day.date()
    report, following = ask(found, Batch(frame, predictions, probabilities, labelled, came))
    _write(state, save(following))
    if out is not None:
        _write(out, report.to_html().encode())
    print_done(report.to_json(), f"{report.status}: {report.advice}", as_json=as_json)
    raise typer.Exit(CODES[report.status])


def _labels_of(path: Path, rows: int, monitor: Monitor) -> Labelled:
    """Read answers on some of ``rows`` rows. Raises ``InvalidInput``, also for strange classes."""
    labelled = _labelled(path, rows, monitor.task == "regression")
    if monitor.task == "classification":
        _check_classes(labelled.labels, monitor.classes, str(path))
    return labelled


def _show_choice(rows: np.ndarray, chances: np.ndarray, as_json: bool, out: Path | None) -> None:
    numbers, shares = rows.tolist(), chances.tolist()
    pairs = list(zip(numbers, shares, strict=True))
    if out is not None:
        lines = ["row,label,chance"]
        lines += [f"{row},,{chance!r}" for row, chance in pairs]
        _write(out, ("\n".join(lines) + "\n").encode())
    show = partial(print_table, ["row", "chance"], pairs)
    print_told({"rows": numbers, "chances": shares}, show, as_json=as_json)


def _frame(path: Path) -> pd.DataFrame:
    """Read a table of text and make numbers of the columns that are numbers throughout."""
    import pandas as pd

    from easeml.data import read_table

    frame = read_table(path).to_pandas()
    for name in frame.columns:
        text = pd.Series(frame[name].replace("", None))
        numbers = pd.Series(pd.to_numeric(text, errors="coerce"))
        filled = int(text.notna().sum())
        all_numbers = filled > 0 and int(numbers.notna().sum()) == filled
        frame[name] = numbers if all_numbers else text
    return frame


def _column(frame: pd.DataFrame, name: str, path: Path) -> np.ndarray:
    """Return a column without gaps."""
    import numpy as np

    if name not in frame.columns:
        raise InvalidInput(
            f"There is no column {name!r}.",
            where=str(path),
            remedy=f"It has: {', '.join(map(str, frame.columns))}.",
        )
    missing = np.flatnonzero(frame[name].isna().to_numpy())
    if len(missing):
        raise InvalidInput("A value is missing.", where=f"{path}, row {missing[0]}, column {name}")
    return frame[name].to_numpy()


def _check_classes(labels: Iterable, known: Iterable, where: str) -> None:
    from easeml.lifecycle.labels import check_vocabularies, class_names

    check_vocabularies(class_names(labels).tolist(), class_names(known).tolist(), where=where)


def _numbers(values: np.ndarray, name: str, path: Path) -> np.ndarray:
    try:
        return values.astype(float)
    except (TypeError, ValueError) as error:
        raise InvalidInput("A regression needs numbers.", where=f"{path}, column {name}") from error


def _probabilities(frame: pd.DataFrame, names: list[str] | None, path: Path) -> np.ndarray | None:
    """Return one column, or a column a class, of numbers in [0, 1]; None where none is named."""
    import numpy as np

    if not names:
        return None
    found = [_numbers(_column(frame, name, path), name, path) for name in names]
    for name, column in zip(names, found, strict=True):
        allowed = (column >= 0) & (column <= 1)
        _refuse_first(~allowed, "A probability is not in [0, 1].", name, path)
    return found[0] if len(found) == 1 else np.column_stack(found)


def _refuse_first(wrong: np.ndarray, message: str, column: str, path: Path) -> None:
    """Refuse a column with the first row where it is wrong, if there is one."""
    if wrong.any():
        where = f"{path}, row {wrong.argmax()}, column {column}"
        raise InvalidInput(message, where=where)


def _without(frame: pd.DataFrame, used: set[str], ignored: list[str], path: Path) -> pd.DataFrame:
    """Return the inputs: columns that are no outputs, not ignored, and no counters or dates."""
    unknown = set(ignored) - set(frame.columns)
    if unknown:
        raise InvalidInput(f"There is no column {min(unknown)!r} to ignore.", where=str(path))
    inputs = frame.drop(columns=[*used, *ignored])
    counters = [name for name in inputs.columns if _counts_up(inputs[name].to_numpy())]
    return inputs.drop(columns=counters)


def _counts_up(values: np.ndarray) -> bool:
    """Tell whether a column only numbers the rows, or their days."""
    import numpy as np

    if values.dtype.kind not in "if" or len(values) < 3:
        return False
    return bool(np.all(np.diff(values) == 1))


def _labelled(path: Path, rows: int, numbers: bool) -> Labelled:
    """Read answers: which rows, what is true, and with which chance each was chosen.

    The chance is uniform if there is no such column.
    """
    import numpy as np

    from easeml.lifecycle.monitoring import Labelled, Query, at_random

    frame = _frame(path)
    chosen = _numbers(_column(frame, "row", path), "row", path)
    is_row = (chosen >= 0) & (chosen < rows) & (chosen == np.floor(chosen))
    _refuse_first(~is_row, f"A row is not in 0 to {rows - 1}.", "row", path)
    answers = _column(frame, "label", path)
    truth = _numbers(answers, "label", path) if numbers else answers
    if "chance" not in frame.columns:
        return Labelled(at_random(chosen.astype(int), rows), truth)
    chances = _numbers(_column(frame, "chance", path), "chance", path)
    is_chance = (chances > 0) & (chances <= 1)
    _refuse_first(~is_chance, "A chance is not in (0, 1].", "chance", path)
    return Labelled(Query(chosen.astype(int), chances), truth)


def _load(path: Path) -> Monitor:
    from easeml.lifecycle.monitoring import load

    try:
        with reading(path, "Cannot be read"):
            return load(path.read_bytes())
    except InvalidInput as error:
        raise InvalidInput(error.message, where=str(path), remedy=error.remedy) from error


def _write(path: Path, data: bytes) -> None:
    with writing(path, "Cannot be written"):
        path.write_bytes(data)

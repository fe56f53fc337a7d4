"""``predict``: a file in, its rows with a prediction each out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli import long_files
from easeml.cli.options import ApplicationId, Json, KeepFormulas
from easeml.cli.output import plural, print_json, say_aside
from easeml.cli.predicted_table import PredictedTable, of_rows, of_samples, written_to
from easeml.cli.progress import progress
from easeml.cli.sent_rows import SentRows, read_bytes, rows_of_table
from easeml.client import Client
from easeml.client.packing import as_file, is_one_row, packed
from easeml.client.parts import in_table, notes_of
from easeml.contract import measures
from easeml.contract.applications import Prediction
from easeml.contract.models import Measure
from easeml.errors import InvalidInput

_SAMPLES = {
    ".zip",
    ".npy",
    ".npz",
    ".ts",
    ".png",
    ".jpg",
    ".jpeg",
    ".bmp",
    ".gif",
    ".tif",
    ".tiff",
    ".webp",
}
ROWS_AT_ONCE = 10_000  # of a table, in one request
_SENT = "rows.csv"  # what the service calls the rows of a request


class _Asked(long_files.Permitted):
    """What is asked of the endpoint, as ``Client.predict`` takes it."""

    explain: bool


def register(app: typer.Typer) -> None:
    """Add the command of this module to the root."""
    app.command()(predict)


def predict(
    application_id: ApplicationId,
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows: a table (- reads it from standard input), a picture, or a zip file, "
            "folder or arrays of samples."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a file: CSV, .jsonl or .parquet; by default CSV to standard output."
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds to wait for the answer to each request.")
    ] = 60.0,
    fill_absent: Annotated[
        bool,
        typer.Option("--fill-absent", help="Columns that may be empty may be absent as well."),
    ] = False,
    fill_empty: Annotated[
        bool,
        typer.Option(
            "--fill-empty", help="Cells may be empty in columns that had no empty one in training."
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Add a column because_COLUMN each: what it added to the prediction. 20 rows at most.",
        ),
    ] = False,
    detach: Annotated[
        bool,
        typer.Option(
            "--detach",
            help="Let a task predict a long table, and end; `easeml task fetch` has the result.",
        ),
    ] = False,
    name_rows: Annotated[
        bool,
        typer.Option(
            "--name-rows",
            help="Add columns request_id and row, by which `easeml app feedback` can say what was "
            "true.",
        ),
    ] = False,
    keep_formulas: KeepFormulas = False,
    as_json: Json = False,
) -> None:
    """Predict the rows of a file.

    A file of more than 16 MiB is predicted by a task, and the command waits for it.

    Columns prediction, probability_CLASS for categories, lower and upper for numbers are added.
    """
    permitted = long_files.Permitted(fill_absent=fill_absent, fill_empty=fill_empty)
    if detach and explain:
        raise InvalidInput("A task explains no rows.", remedy="Leave out --detach or --explain.")
    if detach and name_rows:
        raise InvalidInput(
            "What a task predicts is not kept, so nothing names its rows.",
            remedy="Leave out --detach or --name-rows.",
        )
    by_request = as_json or explain or name_rows
    with long_files.given(file) as path:
        if detach:
            long_files.detach(application_id, path, out, permitted, as_json=as_json)
        elif _is_long(path) and not by_request:
            long_files.predict(application_id, path, out, permitted, keep_formulas=keep_formulas)
        else:
            asked = _Asked(**permitted, explain=explain)
            ask = partial(
                _predicted,
                application_id=application_id,
                file=path,
                asked=asked,
                name_rows=name_rows,
            )
            _predict_now(ask, out, timeout, keep_formulas=keep_formulas, as_json=as_json)


def _is_long(file: Path) -> bool:
    """Whether a file is a table that a task predicts: neither it nor its answer is to be held."""
    is_table = file.suffix.lower() not in _SAMPLES
    return is_table and file.is_file() and file.stat().st_size > long_files.LONG


def _predict_now(
    ask: Callable[[Client], tuple[Prediction, PredictedTable]],
    out: Path | None,
    timeout: float,
    *,
    keep_formulas: bool,
    as_json: bool,
) -> None:
    """Ask the endpoint for predictions, and write them."""
    with Client(timeout=timeout) as client:
        prediction, table = ask(client)
        model = client.module_titles().of(prediction.model_name)
    table = replace(table, keep_formulas=keep_formulas)
    if out is not None:
        table.write(out)
    if as_json:
        print_json(prediction)
    elif out is None:
        print(table.as_csv(), end="")
    _say(prediction, model, out)


def _predicted(
    client: Client, *, application_id: str, file: Path, asked: _Asked, name_rows: bool
) -> tuple[Prediction, PredictedTable]:
    """Return the predictions of a file, and its rows with them."""
    if file.is_dir() or file.suffix.lower() in _SAMPLES:
        with as_file(file) as whole:
            prediction = client.predict(application_id, file=read_bytes(whole))
        return prediction, _samples_table(prediction, file, name_rows=name_rows)
    try:
        return _of_table(
            client, application_id=application_id, file=file, asked=asked, name_rows=name_rows
        )
    except InvalidInput:
        content = read_bytes(file)
        if not is_one_row(file.name, content, _types(client, application_id)):
            raise
    prediction = client.predict(application_id, file=packed(file.name, content))
    return prediction, _samples_table(prediction, file, name_rows=name_rows)


def _samples_table(prediction: Prediction, file: Path, *, name_rows: bool) -> PredictedTable:
    """Return the samples of a file with what was predicted of them."""
    table = of_samples(prediction, file.name)
    if not name_rows:
        return table
    return table.with_names([prediction])


def _types(client: Client, application_id: str) -> dict[str, str]:
    """Return the types of the columns of a row, by their names."""
    version = client.version(client.application(application_id).version_id)
    return {column.name: column.type for column in version.columns if column.role == "input"}


def _of_table(
    client: Client, *, application_id: str, file: Path, asked: _Asked, name_rows: bool
) -> tuple[Prediction, PredictedTable]:
    """Return the predictions of a table file, and its rows with them."""
    rows = rows_of_table(file)
    parts = [rows.content]
    if _may_be_parted(client, application_id, rows):
        parts = rows.divided(rows.content, ROWS_AT_ONCE)

    def send(part: Any) -> Prediction:
        return client.predict(application_id, **{rows.sent_as: part}, **asked)

    answers = _answers(send, parts, file.name)
    prediction = _joined(answers)
    notes = list(filter(None, [rows.note, *prediction.notes]))
    prediction = prediction.model_copy(update={"notes": notes})
    is_row_more = len(prediction.predictions) == len(rows.cells) + 1
    if is_row_more and rows.may_lack_names:
        # The model's columns have no names: the service took the first row for a row.
        rows = rows.with_first_row()
    table = of_rows(rows.header, rows.cells, prediction, rows.delimiter, rows.mark)
    return prediction, table.with_names(answers) if name_rows else table


def _answers(send: Callable[[Any], Prediction], parts: list[Any], name: str) -> list[Prediction]:
    """Return the answer to each part, with a bar for whoever waits.

    Raises what the service refuses, with the ``name`` of the file.
    """
    answers: list[Prediction] = []
    with progress("Predicting") as move:
        for number, part in enumerate(parts):
            try:
                answers.append(send(part))
            except InvalidInput as error:
                place = error.where.replace(_SENT, name)
                said, where = in_table(error.message, place, number * ROWS_AT_ONCE)
                raise InvalidInput(said, remedy=error.remedy, where=where) from error
            move((number + 1) / len(parts))
    return answers


def _may_be_parted(client: Client, application_id: str, rows: SentRows) -> bool:
    """Tell whether a table is sent in parts: a long one without the target.

    Rows that have it are sent at once: their quality is that of all of them.
    """
    if len(rows.cells) <= ROWS_AT_ONCE:
        return False
    return client.application(application_id).target not in rows.header


def _joined(answers: Sequence[Prediction]) -> Prediction:
    """Return the answers to the parts of a file as one; a note that all have is said once."""
    if len(answers) == 1:
        return answers[0]
    predictions = _all_of(answers, "predictions")
    probabilities = _all_of(answers, "probabilities")
    lower, upper = _all_of(answers, "lower"), _all_of(answers, "upper")
    has_intervals = len(lower) == len(predictions)  # a model that went live meanwhile may lack them
    changes = {
        "predictions": predictions,
        "probabilities": probabilities or None,
        "lower": lower if has_intervals else None,
        "upper": upper if has_intervals else None,
        "notes": notes_of(answers),
        "request_id": "",  # each part has its own
    }
    return answers[0].model_copy(update=changes)


def _all_of(answers: Sequence[Prediction], field: str) -> list[Any]:
    """Return what all answers have of a field, one after the other."""
    return list(chain.from_iterable(getattr(answer, field) or () for answer in answers))


def _measured(quality: dict[str, Any]) -> str:
    """Return how good the predictions are, in the objective's own unit."""
    measure = Measure.model_validate(quality["measure"])
    better = ", lower is better" if measure.lower_is_better else ""
    between = measures.interval(measure) or "one row tells no interval"
    rows = f"{quality['rows']:,} rows that have their"
    if quality["rows"] == 1:
        rows = "row that has its"
    named = f"{quality['objective']} {measures.in_unit(measure)} ({between}{better})"
    return f"{named} on the {rows} label."


def _say(prediction: Prediction, model: str, out: Path | None) -> None:
    """Say on standard error which model it was, and how good where the rows had their labels."""
    count = len(prediction.predictions)
    predictions = f"{count:,} {plural(count, 'prediction')}"
    say_aside(f"{predictions} of {model} ({prediction.model_id}){written_to(out)}.")
    if prediction.coverage is not None:
        share = f"{prediction.coverage:.0%}"
        say_aside(f"The answers of {share} of all rows are expected between lower and upper.")
    if prediction.quality:
        say_aside(_measured(prediction.quality))
    say_aside(*prediction.notes)

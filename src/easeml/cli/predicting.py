"""``predict``: a file in, its rows with a prediction each out."""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli import long_files, nameless
from easeml.cli.options import ApplicationId, Json, KeepFormulas
from easeml.cli.output import notes, print_json
from easeml.cli.predicted_table import PredictedTable, of_rows, of_samples
from easeml.cli.progress import progress
from easeml.cli.uploading import as_file
from easeml.client import Client
from easeml.contract import measures
from easeml.contract.applications import Prediction
from easeml.contract.models import Measure
from easeml.data import is_header
from easeml.errors import InvalidInput

_JSON = {".jsonl", ".ndjson", ".json"}
_TEXT = {".csv", ".tsv", ".txt", ".tab", ""}
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
_DELIMITERS = ",;\t|"
_JUDGED = 200  # rows by which it is told whether the first holds names
_SENT = "rows.csv"  # what the service calls the rows of a request
_ROW_PLACE = re.compile(r"row (\d+)")  # how a place begins
_A_ROW = re.compile(r"\brow \d")
ROWS_AT_ONCE = 10_000  # of a table, in one request


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
    detach: Annotated[
        bool,
        typer.Option(
            "--detach",
            help="Let a task predict a long table, and end; `easeml task fetch` has the result.",
        ),
    ] = False,
    keep_formulas: KeepFormulas = False,
    as_json: Json = False,
) -> None:
    """Predict the rows of a file; one of more than 16 MiB by a task, which this waits for.

    Columns prediction, probability_CLASS for categories, lower and upper for numbers are added.
    """
    with long_files.given(file) as path:
        if detach:
            long_files.detach(application_id, path, out, fill_absent=fill_absent, as_json=as_json)
        elif _is_long(path) and not as_json:
            long_files.predict(
                application_id, path, out, fill_absent=fill_absent, keep_formulas=keep_formulas
            )
        else:
            ask = partial(
                _predicted, application_id=application_id, file=path, fill_absent=fill_absent
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
    client: Client, *, application_id: str, file: Path, fill_absent: bool
) -> tuple[Prediction, PredictedTable]:
    """Return the predictions of a file, and its rows with them."""
    suffix = file.suffix.lower()
    if file.is_dir() or suffix in _SAMPLES:
        with as_file(file) as packed:
            prediction = client.predict(application_id, file=_read(packed))
        return prediction, of_samples(prediction)
    if suffix in _JSON:
        rows = read_json(_read(file), str(file))
        header, cells = _cells_of(rows)
        delimiter = ","
        parts: list[Any] = [rows]
        if _may_be_parted(client, application_id, header, len(rows)):
            parts = _parts_of(rows)
        send = partial(client.predict, application_id, fill_absent=fill_absent)
    else:
        body = _read(file) if suffix in _TEXT else _as_csv(file)
        header, cells = read_csv(body, str(file))
        if not is_header(header, cells[:_JUDGED]):
            # Each part needs the names that the service gives to columns without one.
            body = nameless.numbers_of(header, delimiter_of(body)) + _decoded(body).encode()
            header, cells = read_csv(body, str(file))
        delimiter = delimiter_of(body)
        parts = [body]
        if _may_be_parted(client, application_id, header, len(cells)):
            parts = split_csv(body, ROWS_AT_ONCE)
        send = partial(_send_csv, client, application_id, fill_absent)
    prediction = _joined(_answers(send, parts, file.name))
    is_row_more = len(prediction.predictions) == len(cells) + 1
    if is_row_more and suffix not in _JSON and nameless.has_number(header):
        # The model's columns have no names: the service took the first row for a row.
        header, cells = nameless.numbered(header), [header, *cells]
    return prediction, of_rows(header, cells, prediction, delimiter)


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
                said, where = in_file(error.message, place, number * ROWS_AT_ONCE)
                raise InvalidInput(said, remedy=error.remedy, where=where) from error
            move((number + 1) / len(parts))
    return answers


def in_file(message: str, where: str, start: int) -> tuple[str, str]:
    """Return a message on a part, and its place, with rows of the file.

    ``start``: the row of the file that the part begins with. Rows within the text of a message are
    those of the part, and it says so.
    """
    if start == 0:
        return message, where
    row = _ROW_PLACE.match(where)
    if row is not None:
        where = f"row {int(row[1]) + start}{where[row.end() :]}"
    if _A_ROW.search(message):
        message = f"{message.rstrip()} Here rows are counted from row {start:,} of the file."
    return message, where


def _may_be_parted(client: Client, application_id: str, header: Sequence[str], rows: int) -> bool:
    """Tell whether a table is sent in parts: a long one without the target.

    Rows that have it are sent at once: their quality is that of all of them.
    """
    return rows > ROWS_AT_ONCE and client.application(application_id).target not in header


def _send_csv(client: Client, application_id: str, fill_absent: bool, body: bytes) -> Prediction:
    return client.predict(application_id, csv=body, fill_absent=fill_absent)


def _parts_of(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    starts = range(0, max(1, len(rows)), ROWS_AT_ONCE)
    return [rows[start : start + ROWS_AT_ONCE] for start in starts]


def split_csv(body: bytes, rows_at_once: int) -> list[bytes]:
    """Return a CSV file as several, each with the header and at most ``rows_at_once`` rows.

    Rows keep their text as it is: what is quoted stays quoted.
    """
    lines = io.StringIO(_decoded(body), newline="").readlines()
    reader = csv.reader(lines, delimiter=delimiter_of(body))
    next(reader)
    header_end = reader.line_num
    header = "".join(lines[:header_end])
    parts = []
    start = header_end
    for row, _ in enumerate(reader, start=1):
        if row % rows_at_once == 0:
            parts.append(header + "".join(lines[start : reader.line_num]))
            start = reader.line_num
    if start < len(lines):
        parts.append(header + "".join(lines[start:]))
    return [part.encode() for part in parts]


def _joined(answers: Sequence[Prediction]) -> Prediction:
    """Return the answers to the parts of a file as one; a note that all have is said once."""
    first = answers[0]
    if len(answers) == 1:
        return first
    predictions: list[Any] = []
    probabilities: list[dict[str, float]] = []
    lower: list[float] = []
    upper: list[float] = []
    notes_of_all: dict[str, None] = {}
    for number, answer in enumerate(answers):
        predictions.extend(answer.predictions)
        probabilities.extend(answer.probabilities or [])
        lower.extend(answer.lower or [])
        upper.extend(answer.upper or [])
        for note in answer.notes:
            notes_of_all[in_file(note, "", number * ROWS_AT_ONCE)[0]] = None
        if answer.model_id != first.model_id:
            notes_of_all[f"From some row on the model was {answer.model_name}: it went live."] = (
                None
            )
    has_intervals = len(lower) == len(predictions)  # a model that went live meanwhile may lack them
    changes = {
        "predictions": predictions,
        "probabilities": probabilities or None,
        "lower": lower if has_intervals else None,
        "upper": upper if has_intervals else None,
        "notes": list(notes_of_all),
    }
    return first.model_copy(update=changes)


def read_csv(body: bytes, where: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a CSV file; empty lines are no rows.

    Raises:
        InvalidInput: for an empty file, or one that is no CSV.
    """
    # The service takes longer cells than Python does by default.
    csv.field_size_limit(max(len(body), csv.field_size_limit()))
    text = io.StringIO(_decoded(body), newline="")
    try:
        rows = [row for row in csv.reader(text, delimiter=delimiter_of(body)) if row]
    except csv.Error as error:
        raise InvalidInput(
            f"This is no CSV: {error}.", where=where, remedy="Check quotes and line ends."
        ) from error
    if not rows:
        raise InvalidInput(
            "The file is empty.", where=where, remedy="Give a header and at least one row."
        )
    return rows[0], rows[1:]


def delimiter_of(body: bytes) -> str:
    """Return the delimiter that is most frequent in the header."""
    header = _decoded(body).lstrip().partition("\n")[0]
    return max(_DELIMITERS, key=header.count)


def read_json(body: bytes, where: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON file: a list of objects, ``{"rows": [...]}``, or one object a line.

    Raises InvalidInput naming the line, or the row, that is none.
    """
    try:
        document = json.loads(_decoded(body))
    except ValueError:
        return _read_json_lines(body, where)
    rows = document.get("rows", [document]) if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise InvalidInput(
            "There is no list of rows.", where=where, remedy='Write [{"age": 3}, ...].'
        )
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InvalidInput(
                "This is no JSON object.", where=f"{where}, row {number}", remedy='Say {"age": 3}.'
            )
    return rows


def _read_json_lines(body: bytes, where: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_decoded(body).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidInput(
                f"This is no JSON: {error}.", where=f"{where}, line {number}"
            ) from error
        if not isinstance(row, dict):
            raise InvalidInput(
                "This is no JSON object.",
                where=f"{where}, line {number}",
                remedy='Write one object a line, say {"age": 3}.',
            )
        rows.append(row)
    return rows


def _as_csv(file: Path) -> bytes:
    """Return a table of another format as CSV. Raises InvalidInput where it is none."""
    from easeml.data import read_table

    table = read_table(file)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return out.getvalue().encode()


def _cells_of(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    """Return the names of all columns, in the order in which they come up, and the cells."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    header = list(names)
    cells = []
    for row in rows:
        cells.append([row.get(name, "") for name in header])
    return header, cells


def _decoded(body: bytes) -> str:
    """Return a file's text.

    UTF-16 where it begins with its mark, UTF-8, or Latin-1, which fits any bytes.
    """
    try:
        if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return body.decode("utf-16")
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return body.decode("latin-1")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"The file cannot be read: {error.strerror}.", where=str(file)
        ) from error


def _measured(quality: dict[str, Any]) -> str:
    """Return how good the predictions are, in the objective's own unit."""
    measure = Measure.model_validate(quality["measure"])
    better = ", lower is better" if measure.lower_is_better else ""
    between = measures.interval(measure) or "one row tells no interval"
    rows = (
        "row that has its" if quality["rows"] == 1 else f"{quality['rows']:,} rows that have their"
    )
    named = f"{quality['objective']} {measures.in_unit(measure)} ({between}{better})"
    return f"{named} on the {rows} label."


def _say(prediction: Prediction, model: str, out: Path | None) -> None:
    """Say on standard error which model it was, and how good where the rows had their labels."""
    place = f" written to {out}" if out else ""
    noun = "prediction" if len(prediction.predictions) == 1 else "predictions"
    lines = [f"{len(prediction.predictions):,} {noun} of {model} ({prediction.model_id}){place}."]
    if prediction.coverage is not None:
        share = f"{prediction.coverage:.0%}"
        lines.append(f"The answers of {share} of all rows are expected between lower and upper.")
    if prediction.quality:
        lines.append(_measured(prediction.quality))
    for line in lines + prediction.notes:
        notes().print(line, markup=False)

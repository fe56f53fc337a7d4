"""Trying an application: a form made from its schema, a dropped file, and the code for both."""

import base64
import codecs
import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.routing import Route

from easeml.client.packing import is_one_row, packed
from easeml.contract.applications import Prediction
from easeml.contract.datasets import Column
from easeml.contract.predictions import as_columns, without_formula
from easeml.decimals import MARK, CsvStyle
from easeml.errors import EasemlError, InvalidInput
from easeml.web.page_context import PageContext, signed_in
from easeml.web.views import application as pages

_SHOWN_ROWS = 50
_LISTED_CLASSES = 60  # more are typed, not chosen
_READERS: dict[str, Callable[[str], Any]] = {
    "number": float,
    "tensor": json.loads,
    "graph": json.loads,
}


@signed_in
async def ask(context: PageContext) -> Response:
    """Show the form, filled with values that the data had."""
    return await _show(context)


@signed_in
async def answer(context: PageContext) -> Response:
    """Predict the row of the form, or the rows of a file."""
    form = await context.form()
    try:
        prediction = await _predicted(context, form)
    except EasemlError as error:
        return await _show(context, form, problem=error)
    if "download" in form:
        return _download(prediction, *await _sent(form))
    return await _show(context, form, prediction=prediction)


async def _predicted(context: PageContext, form: FormData) -> Prediction:
    """Return the answers for the file of a form, or else for its row."""
    inputs = await _inputs(context)
    application_id = context.path("application")
    file = form.get("file")
    if not isinstance(file, UploadFile):
        row = await _row(form, inputs)
        fills = "fill_empty" in form
        return await context.client.predict(
            application_id, [row], fill_empty=fills, explain="explain" in form
        )
    content = await _content(file)
    types = {column.name: column.type for column in inputs}
    if is_one_row(str(file.filename), content, types):
        content = packed(str(file.filename), content)
    elif _is_table(file, inputs):
        return await context.client.predict(
            application_id,
            csv=content,
            fill_absent="fill_absent" in form,
            fill_empty="fill_empty" in form,
        )
    return await context.client.predict(application_id, file=content)


@signed_in
async def endpoint(context: PageContext) -> Response:
    """Show the address and the code that uses it."""
    application = await pages.load(context)
    inputs = await _inputs(context)
    row = {column.name: _typed(column, _example(column)) for column in inputs}
    address = str(context.request.base_url).rstrip("/") + application.endpoint
    body = json.dumps({"rows": [row]}, ensure_ascii=False)
    file_type, file_name = "text/csv", "rows.csv"
    if _take_samples(inputs):
        file_type, file_name = "application/octet-stream", "samples.zip"
    values: dict[str, Any] = {
        "address": address,
        "body": body,
        "shell_body": body.replace("'", "'\\''"),
        "rows": json.dumps([row]),
        "python_rows": repr([row]),
        "file_type": file_type,
        "file_name": file_name,
        "is_picture": [column.type for column in inputs] == ["image"],
    }
    return pages.render(context, application, "application_endpoint.html", **values)


async def _show(context: PageContext, form: FormData | None = None, **found: Any) -> Response:
    application = await pages.load(context)
    inputs = await _inputs(context)
    values = {
        "prediction": None,
        "problem": None,
        "shown": _SHOWN_ROWS,
        "listed": _LISTED_CLASSES,
        "fields": _fields(form, inputs),
        "samples": _take_samples(inputs),
        "are_texts": _are_texts(inputs),
        "explains": form is None or "file" in form or "explain" in form,
        "fills_empty": form is not None and "file" not in form and "fill_empty" in form,
        **found,
    }
    return pages.render(context, application, "application_try.html", **values)


def _fields(form: FormData | None, inputs: list[Column]) -> list[tuple[str, Column, str]]:
    """Return name, column and text of each field: as it was written, or else an example."""
    written: Mapping[str, Any] = {}
    if form is not None and "file" not in form:
        written = form
    fields = []
    for position, column in enumerate(inputs):
        name = f"value{position}"
        text = written.get(name)
        if not isinstance(text, str):
            text = _example(column)
        fields.append((name, column, text))
    return fields


def _take_samples(inputs: list[Column]) -> bool:
    """Return whether an input is more than a single value, such as a picture."""
    return any(column.content for column in inputs)


def _are_texts(inputs: list[Column]) -> bool:
    """Return whether a row is a text, which may come as a file."""
    return [column.type for column in inputs] == ["text"]


async def _inputs(context: PageContext) -> list[Column]:
    application = await pages.load(context)
    version = await context.client.version(application.version_id)
    unasked = application.forecast.past_only if application.forecast else []
    inputs = [column for column in version.columns if column.role == "input"]
    return [column for column in inputs if column.name not in unasked]


async def _content(file: UploadFile) -> bytes:
    content = await file.read()
    if not content:
        raise InvalidInput("No file was chosen, or it is empty.", remedy="Choose a file with rows.")
    return content


def _is_table(file: UploadFile, inputs: list[Column]) -> bool:
    """Return whether a file is read as CSV: where nothing else could be meant, or it is called so."""
    takes_others = _take_samples(inputs) or _are_texts(inputs)
    return _named_as_text(file) or not takes_others


def _named_as_text(file: UploadFile) -> bool:
    return str(file.filename).lower().endswith((".csv", ".tsv"))


async def _row(form: FormData, inputs: list[Column]) -> dict[str, Any]:
    row = {}
    for position, column in enumerate(inputs):
        row[column.name] = await _given(column, form.get(f"value{position}", ""))
    return row


async def _given(column: Column, value: UploadFile | str) -> Any:
    """Return the value of a field; a picture as base64 text.

    Where no picture was chosen, it is that of the example.
    """
    if not isinstance(value, UploadFile):
        return _typed(column, value)
    content = await value.read()
    if not content:
        return _typed(column, _example(column))
    return base64.b64encode(content).decode()


def _typed(column: Column, text: str) -> Any:
    """Return the value of a field as the endpoint takes it; an empty one is missing."""
    if not text.strip():
        return None
    read = _READERS.get(column.type, str)
    try:
        return read(text)
    except ValueError:
        return text  # the endpoint says what is wrong with it


def _example(column: Column) -> str:
    if not column.examples:
        return ""
    return column.examples[0]


async def _sent(form: FormData) -> tuple[CsvStyle, list[list[str]]]:
    """Return how the text table of a form is written, and its records; none of another file."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not _named_as_text(file):
        return CsvStyle(), []
    await file.seek(0)
    text, mark = _text_of(await file.read())
    style = replace(CsvStyle.of(text), mark=mark)
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    records = csv.reader(io.StringIO(text, newline=""), delimiter=style.delimiter)
    return style, list(filter(any, records))


def _text_of(content: bytes) -> tuple[str, str]:
    """Return the text of a file, and what one for the same program begins with."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace"), MARK
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), MARK


def _columns_of(records: list[list[str]], rows: int) -> dict[str, list[Any]]:
    """Return the columns of a table of so many rows; none where the records are not just that."""
    header, *cells = records or [[]]
    widths = {len(header), *map(len, cells)}
    are_unlike = len(set(header)) == len(header)
    is_table = all((len(cells) == rows, len(widths) == 1, are_unlike))
    if not is_table:
        return {}
    columns = map(list, zip(*cells, strict=True))
    return dict(zip(header, columns, strict=True))


def _download(prediction: Prediction, style: CsvStyle, records: list[list[str]]) -> Response:
    """Return the rows that were sent with their predictions, as a CSV file.

    Of pictures and texts it has the names.
    """
    sent = _columns_of(records, len(prediction.predictions))
    if prediction.names:
        sent = {"sample": prediction.names}
    columns = {**sent, **as_columns(prediction, taken=sent)}
    if prediction.request_id:  # by both, feedback names a row
        count = len(prediction.predictions)
        named = {"request_id": [prediction.request_id] * count, "row": [*range(count)]}
        columns = {**columns, **named}
    text = io.StringIO()
    text.write(style.mark)
    writer = csv.writer(text, delimiter=style.delimiter)
    writer.writerow(map(without_formula, columns))
    for row in zip(*columns.values(), strict=True):
        writer.writerow(map(style.written, map(without_formula, row)))
    headers = {"content-disposition": 'attachment; filename="predictions.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


_HERE = "/applications/{application}"
routes = [
    Route(f"{_HERE}/try", ask),
    Route(f"{_HERE}/try", answer, methods=["POST"]),
    Route(f"{_HERE}/endpoint", endpoint),
]

"""Trying an application: a form made from its schema, a dropped file, and the code that does the
same.
"""

import base64
import csv
import io
import json
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.resources import Column, Prediction
from easeml.errors import EasemlError, InvalidInput
from easeml.web.page_context import PageContext, signed_in
from easeml.web.views import application as pages

_SHOWN_ROWS = 50
_LISTED_CLASSES = 60  # more are typed, not chosen


@signed_in
async def ask(context: PageContext) -> Response:
    """Show the form, filled with values that the data had."""
    return await _show(context)


@signed_in
async def answer(context: PageContext) -> Response:
    """Predict the row of the form, or the rows of a file."""
    form = await context.form()
    inputs = await _inputs(context)
    try:
        file = form.get("file")
        if isinstance(file, UploadFile):
            content = await _content(file)
            is_table = _is_table(file, inputs)
            prediction = await context.client.predict(
                context.path("application"),
                csv=content if is_table else None,
                file=None if is_table else content,
            )
        else:
            prediction = await context.client.predict(
                context.path("application"), [await _row(form, inputs)]
            )
    except EasemlError as error:
        return await _show(context, form, problem=error)
    if "download" in form:
        return _download(prediction)
    return await _show(context, form, prediction=prediction)


@signed_in
async def endpoint(context: PageContext) -> Response:
    """Show the address and the code that uses it."""
    application = await pages.load(context)
    inputs = await _inputs(context)
    row = {column.name: _typed(column, _example(column)) for column in inputs}
    address = str(context.request.base_url).rstrip("/") + application.endpoint
    body = json.dumps({"rows": [row]}, ensure_ascii=False)
    values = {
        "address": address,
        "body": body,
        "shell_body": body.replace("'", "'\\''"),
        "rows": json.dumps([row]),
    }
    table = not any(column.content for column in inputs)
    values["file_type"] = "text/csv" if table else "application/octet-stream"
    values["file_name"] = "rows.csv" if table else "samples.zip"
    return pages.render(
        context, application, "application_endpoint.html", **values, python_rows=repr([row])
    )


async def _show(context: PageContext, form: FormData | None = None, **found: Any) -> Response:
    application = await pages.load(context)
    inputs = await _inputs(context)
    written = {} if form is None or "file" in form else form
    kept = {name: value for name, value in written.items() if isinstance(value, str)}
    fields = [
        (f"value{position}", column, kept.get(f"value{position}", _example(column)))
        for position, column in enumerate(inputs)
    ]
    values = {
        "prediction": None,
        "problem": None,
        "shown": _SHOWN_ROWS,
        "listed": _LISTED_CLASSES,
        **found,
    }
    values["samples"] = any(column.content for column in inputs)
    return pages.render(context, application, "application_try.html", fields=fields, **values)


async def _inputs(context: PageContext) -> list[Column]:
    application = await pages.load(context)
    version = await context.client.version(application.version_id)
    return [column for column in version.columns if column.role == "input"]


async def _content(file: UploadFile) -> bytes:
    content = await file.read()
    if not content:
        raise InvalidInput("No file was chosen, or it is empty.", remedy="Choose a file with rows.")
    return content


def _is_table(file: UploadFile, inputs: list[Column]) -> bool:
    """Return whether a file is read as CSV: always where the inputs are single values."""
    return not any(column.content for column in inputs) or str(file.filename).lower().endswith(
        (".csv", ".tsv")
    )


async def _row(form: FormData, inputs: list[Column]) -> dict[str, Any]:
    return {
        column.name: await _given(column, form.get(f"value{at}", ""))
        for at, column in enumerate(inputs)
    }


async def _given(column: Column, value: UploadFile | str) -> Any:
    """Return the value of a field; a picture as base64 text, that of the example where none was
    chosen.
    """
    if not isinstance(value, UploadFile):
        return _typed(column, value)
    content = await value.read()
    return base64.b64encode(content).decode() if content else _typed(column, _example(column))


def _typed(column: Column, text: str) -> Any:
    """Return the value of a field as the endpoint takes it; an empty one is missing."""
    if not text.strip():
        return None
    if column.type not in ("number", "tensor", "graph"):
        return text
    try:
        return float(text) if column.type == "number" else json.loads(text)
    except ValueError:
        return text  # the endpoint says what is wrong with it


def _example(column: Column) -> str:
    return column.examples[0] if column.examples else ""


def _download(prediction: Prediction) -> Response:
    """Return the predictions as a CSV file: the prediction, and a column for each class."""
    classes = list(prediction.probabilities[0]) if prediction.probabilities else []
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["prediction", *(f"probability {name}" for name in classes)])
    for number, value in enumerate(prediction.predictions):
        chances = (
            [prediction.probabilities[number][name] for name in classes]
            if prediction.probabilities
            else []
        )
        writer.writerow([value, *chances])
    headers = {"content-disposition": 'attachment; filename="predictions.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


_HERE = "/applications/{application}"
routes = [
    Route(f"{_HERE}/try", ask),
    Route(f"{_HERE}/try", answer, methods=["POST"]),
    Route(f"{_HERE}/endpoint", endpoint),
]

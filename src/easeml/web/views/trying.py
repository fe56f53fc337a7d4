"""Trying an application: a form made from its schema, a dropped file, and the code that does the same."""

import csv
import io
import json
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.resources import Column, Prediction
from easeml.errors import EasemlError, InvalidInput
from easeml.web.views import application as pages
from easeml.web.visit import Visit, signed_in

_SHOWN_ROWS = 50
_LISTED_CLASSES = 60  # more are typed, not chosen


@signed_in
async def ask(visit: Visit) -> Response:
    """Show the form, filled with values that the data had."""
    return await _show(visit)


@signed_in
async def answer(visit: Visit) -> Response:
    """Predict the row of the form, or the rows of a file."""
    form = await visit.form()
    inputs = await _inputs(visit)
    try:
        file = form.get("file")
        if isinstance(file, UploadFile):
            prediction = await visit.client.predict(visit.path("application"), csv=await _content(file))
        else:
            prediction = await visit.client.predict(visit.path("application"), [_row(form, inputs)])
    except EasemlError as error:
        return await _show(visit, form, problem=error)
    if "download" in form:
        return _download(prediction)
    return await _show(visit, form, prediction=prediction)


@signed_in
async def endpoint(visit: Visit) -> Response:
    """Show the address and the code that uses it."""
    application = await pages.load(visit)
    row = {column.name: _typed(column, _example(column)) for column in await _inputs(visit)}
    address = str(visit.request.base_url).rstrip("/") + application.endpoint
    body = json.dumps({"rows": [row]}, ensure_ascii=False)
    values = {"address": address, "body": body, "shell_body": body.replace("'", "'\\''"), "rows": json.dumps([row])}
    return pages.render(visit, application, "application_endpoint.html", **values, python_rows=repr([row]))


async def _show(visit: Visit, form: FormData | None = None, **found: Any) -> Response:
    application = await pages.load(visit)
    inputs = await _inputs(visit)
    kept = {} if form is None or "file" in form else {name: str(value) for name, value in form.items()}
    fields = [
        (f"value{position}", column, kept.get(f"value{position}", _example(column)))
        for position, column in enumerate(inputs)
    ]
    values = {"prediction": None, "problem": None, "shown": _SHOWN_ROWS, "listed": _LISTED_CLASSES, **found}
    return pages.render(visit, application, "application_try.html", fields=fields, **values)


async def _inputs(visit: Visit) -> list[Column]:
    application = await pages.load(visit)
    version = await visit.client.version(application.version_id)
    return [column for column in version.columns if column.role == "input"]


async def _content(file: UploadFile) -> bytes:
    content = await file.read()
    if not content:
        raise InvalidInput("No file was chosen, or it is empty.", remedy="Choose a CSV file with a header.")
    return content


def _row(form: FormData, inputs: list[Column]) -> dict[str, Any]:
    return {column.name: _typed(column, str(form.get(f"value{at}", ""))) for at, column in enumerate(inputs)}


def _typed(column: Column, text: str) -> Any:
    """Return the value of a field as the endpoint takes it; an empty one is missing."""
    if not text.strip():
        return None
    if column.type == "number":
        try:
            return float(text)
        except ValueError:
            return text  # the endpoint says what is wrong with it
    return text


def _example(column: Column) -> str:
    return column.examples[0] if column.examples else ""


def _download(prediction: Prediction) -> Response:
    """Return the predictions as a CSV file: the prediction, and a column for each class."""
    classes = list(prediction.probabilities[0]) if prediction.probabilities else []
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["prediction", *(f"probability {name}" for name in classes)])
    for number, value in enumerate(prediction.predictions):
        chances = [prediction.probabilities[number][name] for name in classes] if prediction.probabilities else []
        writer.writerow([value, *chances])
    headers = {"content-disposition": 'attachment; filename="predictions.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


_HERE = "/applications/{application}"
routes = [
    Route(f"{_HERE}/try", ask),
    Route(f"{_HERE}/try", answer, methods=["POST"]),
    Route(f"{_HERE}/endpoint", endpoint),
]

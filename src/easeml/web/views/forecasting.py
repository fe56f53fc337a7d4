"""The forecast of an application: the next values of its series, drawn, as a table and a file."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.applications import Prediction
from easeml.contract.predictions import as_columns, without_formula
from easeml.contract.tasks import ForecastRule
from easeml.errors import EasemlError, InvalidInput
from easeml.figures import Figure
from easeml.figures.forecasting import forecast as figure_of
from easeml.web.formatting import plain
from easeml.web.forms import steps_ahead
from easeml.web.page_context import PageContext, signed_in
from easeml.web.views import application as pages

_SHOWN_SERIES = 6
_SHOWN_ROWS = 200

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


@signed_in
async def forecast(context: PageContext) -> Response:
    """Show the next values of each series, or send them as a CSV file."""
    application = await pages.load(context)
    rule = application.forecast
    if rule is None:
        raise InvalidInput(
            f"{application.name} does not forecast.",
            remedy="Make an application with a number of steps ahead.",
        )
    query = context.request.query_params
    steps = query.get("steps", str(rule.ahead))
    values: dict[str, Any] = {"steps": steps, "problem": None, "rows": [], "figures": []}
    values |= {"notes": [], "shown": _SHOWN_ROWS, "more_series": 0, "rule": rule}
    values["given"] = {rule.time, *rule.series}  # as files have them; the others are measures
    if application.live_model is None:
        return pages.render(context, application, "application_forecast.html", **values)
    try:
        found = await context.client.forecast(application.id, steps_ahead(steps, "steps"))
    except EasemlError as error:
        values["problem"] = error
        return pages.render(context, application, "application_forecast.html", **values)
    rows = _rows_of(found)
    if "download" in query:
        return _file(rows)
    drawn = _figures(rule, application.target, found.known, rows)
    values |= {"rows": rows, "figures": drawn[:_SHOWN_SERIES], "notes": found.notes}
    values["more_series"] = len(drawn[_SHOWN_SERIES:])
    return pages.render(context, application, "application_forecast.html", **values)


def _rows_of(found: Prediction) -> Rows:
    """Return the next rows, each with what is expected of it."""
    columns = as_columns(found)
    rows = []
    for place, row in enumerate(found.rows):
        said = {name: cells[place] for name, cells in columns.items()}
        rows.append({**row, **said})
    return rows


def _figures(rule: ForecastRule, target: str, known: Sequence[Row], rows: Rows) -> list[Figure]:
    """Return a figure of each series."""
    before = _by_series(rule, known)
    drawn = []
    for name, expected in _by_series(rule, rows).items():
        title = ": ".join(filter(None, (target, name)))
        drawn.append(figure_of(title, before.get(name, []), expected, rule.time, target))
    return drawn


def _by_series(rule: ForecastRule, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return rows by the names of their series."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        names = [plain(row[column]) for column in rule.series]
        found.setdefault(", ".join(names), []).append(row)
    return found


def _file(rows: Rows) -> Response:
    """Return rows as a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(map(without_formula, rows[0]))
    for row in rows:
        writer.writerow(map(without_formula, row.values()))
    headers = {"content-disposition": 'attachment; filename="forecast.csv"'}
    return Response(text.getvalue(), media_type="text/csv", headers=headers)


routes = [Route("/applications/{application}/forecast", forecast)]

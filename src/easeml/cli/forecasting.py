"""``forecast``: the next values of each series."""

from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_json, say_aside
from easeml.cli.predicted_table import PredictedTable, written_to
from easeml.cli.sent_rows import rows_of_table
from easeml.client import Client
from easeml.contract.applications import Application
from easeml.contract.predictions import as_columns
from easeml.errors import InvalidInput


def register(app: typer.Typer) -> None:
    """Add the command of this module to the root."""
    app.command()(forecast)


def forecast(
    application_id: ApplicationId,
    steps: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many steps; as many as the application forecasts if left out."
        ),
    ] = None,
    newer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A table of rows with values of the target that the application does not have.",
        ),
    ] = None,
    fill_absent: Annotated[
        bool,
        typer.Option(
            "--fill-absent", help="Columns of these rows that may be empty may be absent as well."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write a file: CSV, .jsonl or .parquet; by default CSV to standard output."
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for the answer.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Forecast the next values of each series, from the last that is known on.

    The application was made with --forecast. Rows that need more than their time and series, such
    as a price that is known ahead, are predicted from a file: easeml predict.
    """
    sent: dict[str, Any] = {"fill_absent": fill_absent}
    if newer is not None:
        rows = rows_of_table(newer)
        sent["newer" if rows.sent_as == "rows" else rows.sent_as] = rows.content
    with Client(timeout=timeout) as client:
        asked = steps or _steps_of(client.application(application_id))
        found = client.forecast(application_id, asked, **sent)
    columns = {name: [row[name] for row in found.rows] for name in found.rows[0]}
    table = PredictedTable({**columns, **as_columns(found)})
    if out is not None:
        table.write(out)
    if as_json:
        print_json(found)
    elif out is None:
        print(table.as_csv(), end="")
    if found.coverage is not None:
        share = f"{found.coverage:.0%}"
        say_aside(f"{share} of values are expected between lower and upper{written_to(out)}.")
    say_aside(*found.notes)


def _steps_of(application: Application) -> int:
    """Return how far an application forecasts. Raises ``InvalidInput`` where it does not."""
    if application.forecast is None:
        raise InvalidInput(
            f"{application.name} does not forecast: its target does not follow its own past.",
            where=application.id,
            remedy="Make an application that does: easeml app create FILE --forecast STEPS.",
        )
    return application.forecast.ahead

"""``app remedy``: follow what a lifecycle tool proposed to do."""

from typing import Annotated

import typer

from easeml.cli.lookup import first_that
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_done
from easeml.client import Client
from easeml.contract.reports import Report
from easeml.errors import NotFound


def add_to(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(remedy)


def remedy(
    application_id: ApplicationId,
    number: Annotated[int, typer.Argument(min=1, help="Number of the remedy; 1 is the best.")] = 1,
    *,
    report: Annotated[
        str, typer.Option(help="Id of the report; by default the newest with remedies.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Follow a remedy of a report, such as that of the tool debug: questions, or rows to learn from."""
    with Client() as client:
        report_id = report or _newest(client, application_id).id
        found = client.follow_remedy(application_id, report_id, number)
    print_done(found, found.told, as_json=as_json)


def _newest(client: Client, application_id: str) -> Report:
    none_yet = NotFound(
        "No report has remedies.",
        where=application_id,
        remedy="Ask: easeml app report ID debug",
    )
    return first_that(lambda one: one.remedies, client.reports(application_id), none_yet)

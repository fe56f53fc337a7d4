"""``schedule``: data from elsewhere is fetched again at certain times, and perhaps predicted."""

from typing import Annotated

import typer

from easeml.cli.lookup import first_holding
from easeml.cli.named_applications import application_or
from easeml.cli.options import Json
from easeml.cli.output import moment, print_done, print_found, print_list, print_resources, say
from easeml.cli.sources import print_retrieval, wait_retrieval
from easeml.client import Client, made_request
from easeml.contract.sources import NewSchedule, Retrieval, Schedule

schedule = typer.Typer(
    no_args_is_help=True, help="Data from elsewhere, fetched again or predicted at certain times."
)
ScheduleId = Annotated[str, typer.Argument(metavar="ID", help="See `easeml schedule list`.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(schedule, name="schedule")


@schedule.command()
def add(
    dataset_id: Annotated[
        str, typer.Argument(metavar="DATASET", help="Id of a data set that came from elsewhere.")
    ],
    *,
    every: Annotated[str, typer.Option(help='"6 hours", day, or a day of the week.')],
    at: Annotated[str, typer.Option(help="A time of the day, HH:MM.")] = "03:00",
    zone: Annotated[str, typer.Option(help="Where it is that time: Europe/Zurich.")] = "UTC",
    predict: Annotated[
        str,
        typer.Option(
            metavar="APPLICATION",
            help="Predict its rows with this application's model.",
            callback=application_or(),
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Fetch a data set again at certain times, for a new version or to predict its rows."""
    wish = made_request(
        NewSchedule, dataset_id=dataset_id, application_id=predict, every=every, at=at, zone=zone
    )
    with Client() as client:
        _show(client.add_schedule(wish), as_json)


@schedule.command("list")
def list_all(as_json: Json = False) -> None:
    """Show the schedules, when each runs next and how it ended last."""
    with Client() as client:
        found = list(client.schedules())
    print_list(found, _SCHEDULES, as_json=as_json)


@schedule.command()
def history(schedule_id: ScheduleId, as_json: Json = False) -> None:
    """Show the retrievals of a schedule, newest first."""
    with Client() as client:
        found = list(client.schedule_retrievals(schedule_id))
    columns = {
        "id": "id",
        "when": "created",
        "outcome": "state",
        "task": "task_id",
        "note": "note",
    }
    print_list(found, columns, as_json=as_json)


@schedule.command()
def pause(schedule_id: ScheduleId, as_json: Json = False) -> None:
    """Let a schedule start nothing more until it is resumed."""
    with Client() as client:
        _show(client.pause_schedule(schedule_id), as_json)


@schedule.command()
def resume(schedule_id: ScheduleId, as_json: Json = False) -> None:
    """Let a schedule go on, at its next time, in your name."""
    with Client() as client:
        _show(client.resume_schedule(schedule_id), as_json)


@schedule.command()
def run(schedule_id: ScheduleId, as_json: Json = False) -> None:
    """Do now what a schedule does, and wait for it."""
    with Client() as client:
        found = wait_retrieval(client, client.start_schedule(schedule_id))
    print_found(found, _print_outcome, as_json=as_json)


def _print_outcome(found: Retrieval) -> None:
    if found.application_id:
        say(f"{found.note} Have them: easeml task fetch {found.task_id} --out FILE")
    else:
        print_retrieval(found)


@schedule.command()
def delete(schedule_id: ScheduleId, as_json: Json = False) -> None:
    """Delete a schedule and the list of its retrievals; what it predicted stays with the tasks."""
    with Client() as client:
        found = client.delete_schedule(schedule_id)
    print_done(found, f"{found.id} is deleted.", as_json=as_json)


def _show(found: Schedule, as_json: bool) -> None:
    print_found(found, _print_one, as_json=as_json)


def _print_one(found: Schedule) -> None:
    print_resources([found], _SCHEDULES)


def _what(one: Schedule) -> str:
    """Return what is fetched, or what is predicted with the rows that are fetched."""
    if one.application_id:
        return f"predict {one.dataset} by {one.application}"
    return one.dataset


def _when(one: Schedule) -> str:
    every = f"every {one.every}".replace("every 1 hours", "every hour")
    return f"{every} at {one.at} {one.zone}" if one.at else every


def _last(one: Schedule) -> str:
    return f"{one.last.state} {moment(one.last.created)}" if one.last else "-"


def _state(one: Schedule) -> str:
    return first_holding(
        {
            f"paused: {one.error}": one.paused and one.error,
            "paused": one.paused,
            f"failed {one.failures} times: {one.error}": one.failures,
            "on": True,
        }
    )


_SCHEDULES = {
    "id": "id",
    "what": _what,
    "when": _when,
    "next": "next_time",
    "last": _last,
    "state": _state,
}

"""``app rename``, ``delete``, ``restore`` and ``share``: applications over the years."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json, exactly_one
from easeml.cli.output import (
    check_can_ask,
    moment,
    print_done,
    print_found,
    print_list,
    print_table,
    say,
)
from easeml.client import Client
from easeml.contract.jobs import Job
from easeml.contract.keeping import Deletion, Dependents
from easeml.contract.states import ShareRole
from easeml.errors import InvalidInput


def add_to(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(rename)
    app.command()(follow)
    app.command()(delete)
    app.command()(restore)
    app.command()(deleted)
    app.command()(share)
    app.command()(shared)


def rename(
    application_id: ApplicationId,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
    as_json: Json = False,
) -> None:
    """Give an application another name; no address changes."""
    with Client() as client:
        found = client.rename_application(application_id, name)
    print_done(found, f"{found.id} is called {found.name} now.", as_json=as_json)


def follow(
    application_id: ApplicationId,
    *,
    off: Annotated[bool, typer.Option("--off", help="Leave the data as it is.")] = False,
    as_json: Json = False,
) -> None:
    """Let an application take new rows when its data set is fetched again."""
    with Client() as client:
        found = client.set_follows(application_id, not off)
    print_done(
        found,
        f"{found.name} {'follows' if found.follows else 'does not follow'} its data set.",
        as_json=as_json,
    )


def delete(
    application_id: ApplicationId,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the deletion back.")] = False,
    as_json: Json = False,
) -> None:
    """Delete an application, after saying what hangs on it; for a day it can be restored."""
    if undo:
        restore(application_id, as_json)
        return
    if not yes:
        nobody = InvalidInput(
            "There is no terminal to ask whether to delete.",
            remedy="Say --yes to delete without being asked.",
            where="--yes",
        )
        check_can_ask(nobody)
    with Client() as client:
        found = client.dependents(application_id)
        if not as_json:
            _print_dependents(found)
        if not yes:
            typer.confirm(f"Delete {found.name}?", default=False, abort=True)
        done = client.delete_application(application_id)
    print_found(done, _say_deleted, as_json=as_json)


def _say_deleted(done: Deletion) -> None:
    say(f"{done.name} is deleted. Its endpoint answers no more.")
    say(f"Until {moment(done.until)}: easeml app restore {done.application_id}")


def restore(application_id: ApplicationId, as_json: Json = False) -> None:
    """Take back that an application was deleted, within a day; its search stays paused."""
    with Client() as client:
        found = client.restore_application(application_id)
    print_done(
        found,
        f"{found.name} is back. Its search stays as it is: {_search(found.job)}.",
        as_json=as_json,
    )


def deleted(as_json: Json = False) -> None:
    """List the applications that were deleted and can be restored."""
    with Client() as client:
        found = list(client.deleted_applications())
    columns = {
        "id": "application_id",
        "name": "name",
        "deleted": "deleted",
        "can be restored until": "until",
    }
    print_list(found, columns, as_json=as_json)


def share(
    application_id: ApplicationId,
    user: Annotated[
        str, typer.Argument(metavar="[USER]", help="Name; left out: list who has it.")
    ] = "",
    *,
    role: Annotated[ShareRole | None, typer.Option(help="What they may do.")] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Let them do nothing more.")] = False,
    as_json: Json = False,
) -> None:
    """Let other people of this easeml look and predict, label, or do all with an application."""
    if user:
        either = InvalidInput("Say either --role or --revoke.", where="--role")
        exactly_one(role, revoke, otherwise=either)
    with Client() as client:
        if user:
            found = client.share_application(application_id, user, role)
        else:
            found = client.shares(application_id)
    columns = {"user": "user", "role": "role", "since": "created"}
    print_list(found.items, columns, as_json=as_json, whole=found)


def shared(as_json: Json = False) -> None:
    """List the applications of others that are shared with you."""
    with Client() as client:
        found = client.shared()
    columns = {"id": "application_id", "name": "name", "you are": "role", "since": "created"}
    print_list(found.items, columns, as_json=as_json, whole=found)


def _search(job: Job | None) -> str:
    return job.state if job else "there is none"


def _print_dependents(found: Dependents) -> None:
    """Say what would stop or be lost."""
    facts = {
        "endpoint": found.endpoint,
        "models": found.models,
        "searches that have not ended": found.searches,
        "gates": found.gates,
        "open items of work": found.work_items,
        "answers of people": found.work_answers,
        "kept requests": found.kept_requests,
        "schedules that predict with it": found.schedules,
        "shared with": ", ".join(found.shared_with),
        "also use this version of the data, which stays": ", ".join(found.applications),
    }
    rows = [(what, value) for what, value in facts.items() if value]
    print_table([found.name, ""], rows)

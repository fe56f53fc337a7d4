"""``app rename``, ``delete``, ``restore`` and ``share``: applications over the years."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import is_interactive, moment, print_json, print_table, say
from easeml.client import Client
from easeml.contract.jobs import Job
from easeml.contract.keeping import Dependents
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
    if as_json:
        print_json(found)
    else:
        say(f"{found.id} is called {found.name} now.")


def follow(
    application_id: ApplicationId,
    *,
    off: Annotated[bool, typer.Option("--off", help="Leave the data as it is.")] = False,
    as_json: Json = False,
) -> None:
    """Let an application take the new rows of its data set when that is fetched again."""
    with Client() as client:
        found = client.set_follows(application_id, not off)
    if as_json:
        print_json(found)
    else:
        say(f"{found.name} {'follows' if found.follows else 'does not follow'} its data set.")


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
    if not (yes or is_interactive()):
        raise InvalidInput(
            "There is no terminal to ask whether to delete.",
            remedy="Say --yes to delete without being asked.",
            where="--yes",
        )
    with Client() as client:
        found = client.dependents(application_id)
        if not as_json:
            _print_dependents(found)
        if not yes:
            typer.confirm(f"Delete {found.name}?", default=False, abort=True)
        done = client.delete_application(application_id)
    if as_json:
        print_json(done)
    else:
        say(f"{done.name} is deleted. Its endpoint answers no more.")
        say(f"Until {moment(done.until)}: easeml app restore {application_id}")


def restore(application_id: ApplicationId, as_json: Json = False) -> None:
    """Take back that an application was deleted, within a day; its search stays paused."""
    with Client() as client:
        found = client.restore_application(application_id)
    if as_json:
        print_json(found)
    else:
        say(f"{found.name} is back. Its search stays as it is: {_search(found.job)}.")


def deleted(as_json: Json = False) -> None:
    """List the applications that were deleted and can be restored."""
    with Client() as client:
        found = list(client.deleted_applications())
    if as_json:
        return print_json(found)
    rows = [(one.application_id, one.name, moment(one.deleted), moment(one.until)) for one in found]
    return print_table(["id", "name", "deleted", "can be restored until"], rows)


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
    if user and (role is None) != revoke:
        raise InvalidInput("Say either --role or --revoke.", where="--role")
    with Client() as client:
        if user:
            found = client.share_application(application_id, user, role.value if role else None)
        else:
            found = client.shares(application_id)
    if as_json:
        return print_json(found)
    rows = [(one.user, one.role, moment(one.created)) for one in found.items]
    return print_table(["user", "role", "since"], rows)


def shared(as_json: Json = False) -> None:
    """List the applications of others that are shared with you."""
    with Client() as client:
        found = client.shared()
    if as_json:
        return print_json(found)
    rows = [(one.application_id, one.name, one.role, moment(one.created)) for one in found.items]
    return print_table(["id", "name", "you are", "since"], rows)


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
        "shared with": ", ".join(found.shared_with),
        "also use this version of the data, which stays": ", ".join(found.applications),
    }
    rows = [(what, value) for what, value in facts.items() if value]
    print_table([found.name, ""], rows)

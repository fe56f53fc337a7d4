"""``user sessions`` and ``user reset-password``: where one is signed in, and a password that is lost."""

import math
import time
from typing import Annotated

import typer

from easeml.cli.local_home import HomeOption, local_settings
from easeml.cli.options import Json, at_most_one
from easeml.cli.output import print_done, print_list
from easeml.cli.passwords import read_password
from easeml.client import Client
from easeml.contract.accounts import Key
from easeml.contract.states import KeyKind
from easeml.errors import InvalidInput, NotFound


def add_to(users: typer.Typer) -> None:
    """Add the commands to ``users``."""
    users.command()(sessions)
    users.command("reset-password")(reset_password)


def sessions(
    *,
    end: Annotated[
        str | None, typer.Option("--end", metavar="ID", help="End this sign-in.")
    ] = None,
    end_others: Annotated[
        bool, typer.Option("--end-others", help="End all sign-ins but this one.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List where you are signed in: program, address, since when, last use; or end sign-ins."""
    either = InvalidInput("Say either --end or --end-others.", where="--end")
    at_most_one(end, end_others, otherwise=either)
    with Client() as client:
        if end_others:
            client.end_sign_ins()
        elif end:
            _end(client, end)
        found = _open_sign_ins(client)
    columns = {"id": "id", "from": "origin", "since": "created", "last used": "used", "": _here}
    print_list(found, columns, as_json=as_json)


def _here(sign_in: Key) -> str:
    return "this one" if sign_in.is_yours_now else ""


def reset_password(
    name: Annotated[str, typer.Argument(help="Name of the user.")] = "admin",
    home: HomeOption = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Reset a lost password in the home's database, and end all keys of the user.

    easeml may run or not.
    """
    from easeml.service.accounts import users
    from easeml.store import Store

    settings = local_settings(home)
    password = read_password(f"New password of {name}", password_stdin, confirm=True)
    store = Store.found(settings)
    try:
        users.reset_password(store, name, password)
    finally:
        store.close()
    print_done(
        {"name": name},
        f"The password of {name} is changed; all sign-ins and keys of {name} are ended.",
        as_json=as_json,
    )


def _open_sign_ins(client: Client) -> list[Key]:
    now = time.time()
    return [key for key in client.api_keys() if _is_open(key, now)]


def _is_open(key: Key, now: float) -> bool:
    """Tell whether a key is of a sign-in that has not ended; ``now``: seconds of the epoch."""
    ends = key.expires or math.inf
    return key.kind == KeyKind.SIGN_IN and not key.revoked and ends >= now


def _end(client: Client, key_id: str) -> None:
    """End a sign-in. Raises ``NotFound``: no API key is ended by mistake."""
    if key_id not in [key.id for key in _open_sign_ins(client)]:
        raise NotFound(
            "You have no such sign-in.", where=key_id, remedy="See `easeml user sessions`."
        )
    client.revoke_key(key_id)

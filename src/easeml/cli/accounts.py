"""``login``, ``key`` and ``user``."""

from typing import Annotated

import typer

from easeml.cli import people, quotas, sign_ins
from easeml.cli.named_applications import application_or
from easeml.cli.options import Json
from easeml.cli.output import moment, print_done, print_found, print_list, say
from easeml.cli.passwords import read_password
from easeml.client import Client, find_credentials, save_credentials
from easeml.contract.accounts import Key, User
from easeml.contract.states import KeyScope

keys = typer.Typer(no_args_is_help=True, help="API keys.")
users = typer.Typer(no_args_is_help=True, help="People: invitations, members, users.")

PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.command()(login)
    app.add_typer(keys, name="key")
    people.add_to(users)
    quotas.add_to(users)
    sign_ins.add_to(users)
    app.add_typer(users, name="user")


def login(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Name of the user.")] = "admin",
    password_stdin: PasswordStdin = False,
    url: Annotated[
        str | None, typer.Option(help="Address of the service.", envvar="EASEML_URL")
    ] = None,
    as_json: Json = False,
) -> None:
    """Sign in and keep the key for the commands that follow."""
    address = find_credentials(url).url
    with Client(address) as client:
        key = client.login(name, read_password(f"Password of {name}", password_stdin))
    path = save_credentials(address, key.secret or "")
    until = f" until {moment(key.expires)}" if key.expires else ""
    sentence = f"Signed in at {address} as {name}{until}; the key is in {path}."
    print_done(key, sentence, as_json=as_json)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    *,
    days: Annotated[float | None, typer.Option(min=0.001, help="Days until it expires.")] = None,
    scope: Annotated[
        KeyScope, typer.Option(help="What it may be used for, among what you may do.")
    ] = KeyScope.ALL,
    application: Annotated[
        str,
        typer.Option(
            "--application",
            metavar="APPLICATION",
            help="The only application that it may ask.",
            callback=application_or(),
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Make an API key; its secret is shown once."""
    with Client() as client:
        key = client.create_key(
            name,
            expires_in=None if days is None else days * 86400,
            scope=scope,
            application_id=application,
        )
    print_found(key, _say_made, as_json=as_json)


def _say_made(key: Key) -> None:
    say(f"{key.id}: {key.secret}")
    say("Keep it: it is not shown again. Use it as EASEML_API_KEY.")


@keys.command("list")
def list_keys(
    user: Annotated[str | None, typer.Option(help="Whose keys (providers only).")] = None,
    as_json: Json = False,
) -> None:
    """List keys: yours, or those of a user."""
    with Client() as client:
        user_id = people.user_named(client, user).id if user else None
        found = list(client.api_keys(user_id))
    print_list(found, _KEYS, as_json=as_json)


def _origin(key: Key) -> str:
    return "this one" if key.is_yours_now else key.origin


def _scope(key: Key) -> str:
    return f"{key.scope} {key.application_id}".strip()


_KEYS = {
    "id": "id",
    "name": "name",
    "kind": "kind",
    "from": _origin,
    "scope": _scope,
    "created": "created",
    "last used": "used",
    "expires": "expires",
    "revoked": "revoked",
}


@keys.command("end-sign-ins")
def end_sign_ins(as_json: Json = False) -> None:
    """End all of your sign-ins but this one, here and in browsers; API keys stay."""
    with Client() as client:
        done = client.end_sign_ins()
    print_done(done, f"Other sign-ins that are ended: {done.ended}.", as_json=as_json)


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key.")],
    as_json: Json = False,
) -> None:
    """Make an API key useless."""
    with Client() as client:
        client.revoke_key(key_id)
    print_done({"id": key_id, "revoked": True}, f"{key_id} is revoked.", as_json=as_json)


@users.command("create")
def create_user(
    name: Annotated[str, typer.Argument(help="Name to sign in with.")],
    password_stdin: PasswordStdin = False,
    as_json: Json = False,
) -> None:
    """Make a user with a tenant of their own."""
    with Client() as client:
        user = client.create_user(
            name, read_password(f"Password for {name}", password_stdin, confirm=True)
        )
    print_done(user, f"{user.id}: {user.name}", as_json=as_json)


@users.command("list")
def list_users(as_json: Json = False) -> None:
    """List all users."""
    with Client() as client:
        found = list(client.users())
    print_list(found, _USERS, as_json=as_json)


def _role(user: User) -> str:
    return f"{user.role}, disabled" if user.disabled else user.role


_USERS = {
    "id": "id",
    "name": "name",
    "role": _role,
    "tenant": "tenant_id",
    "created": "created",
}


@users.command("password")
def change_password(
    name: Annotated[str | None, typer.Argument(help="Whose password; yours by default.")] = None,
    password_stdin: Annotated[
        bool,
        typer.Option(
            "--password-stdin",
            help="Read the old and the new password, one a line; for others the new one only.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Change a password."""
    with Client() as client:
        me = client.me()
        user = me if name in (None, me.name, me.id) else people.user_named(client, name)
        old = read_password("Old password", password_stdin) if user.id == me.id else ""
        client.change_password(
            user.id, read_password("New password", password_stdin, confirm=True), old=old
        )
    print_done(
        {"id": user.id, "name": user.name},
        f"The password of {user.name} is changed.",
        as_json=as_json,
    )


@users.command("role")
def change_role(
    name: Annotated[str, typer.Argument(help="Whose role.")],
    role: Annotated[str, typer.Argument(help="user, or provider: who runs this easeml.")],
    as_json: Json = False,
) -> None:
    """Change what a user may do; the last provider stays one."""
    with Client() as client:
        user = client.change_role(people.user_named(client, name).id, role)
    print_done(user, f"{user.name} is a {user.role}.", as_json=as_json)


@users.command("disable")
def disable_user(
    name: Annotated[str, typer.Argument(help="Name of the user to shut out.")],
    as_json: Json = False,
) -> None:
    """Shut a user out: no sign-in, and all keys end for good. Data and models stay."""
    _set_access(name, disabled=True, as_json=as_json)


@users.command("enable")
def enable_user(
    name: Annotated[str, typer.Argument(help="Name of the user.")], as_json: Json = False
) -> None:
    """Let a disabled user in again; keys that ended stay so."""
    _set_access(name, disabled=False, as_json=as_json)


def _set_access(name: str, *, disabled: bool, as_json: bool) -> None:
    with Client() as client:
        user = client.set_access(people.user_named(client, name).id, disabled=disabled)
    state = "disabled, and all keys are revoked" if disabled else "enabled"
    print_done(user, f"{user.name} is {state}.", as_json=as_json)

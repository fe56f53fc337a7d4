"""``user invite``, ``join``, ``members``: who belongs to a tenant, and links that let people in."""

import sys
from typing import Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import is_interactive, moment, print_json, print_table, say
from easeml.client import Client, find_credentials, save_credentials
from easeml.contract.accounts import Member, User
from easeml.contract.states import DataChoice, MemberRole, ShareRole
from easeml.errors import InvalidInput, NotFound

_DAY = 86400.0


def add_to(users: typer.Typer) -> None:
    """Add the commands to ``users``."""
    users.command()(invite)
    users.command()(invitations)
    users.command()(uninvite)
    users.command()(join)
    users.command()(members)
    users.command()(member)
    users.command()(tenants)
    users.command("act-in")(act_in)
    users.command()(remove)
    users.command()(add)
    users.command()(audit)


def invite(
    *,
    application: Annotated[
        str | None, typer.Option("--application", metavar="ID", help="To this application alone.")
    ] = None,
    role: Annotated[
        ShareRole | None, typer.Option(help="What they may do, there or in all of your tenant.")
    ] = None,
    own_tenant: Annotated[
        bool, typer.Option("--own-tenant", help="To a new tenant of their own (providers only).")
    ] = False,
    days: Annotated[float, typer.Option(min=0.001, max=90, help="Days until it ends.")] = 7.0,
    as_json: Json = False,
) -> None:
    """Make a link that lets one person in, once: to an application, your tenant, or a new one."""
    if own_tenant == (role is not None) or (own_tenant and application):
        raise InvalidInput("Say either --role or --own-tenant.", where="--role")
    with Client() as client:
        url = find_credentials(None).url.rstrip("/")
        if application and role:
            made = client.invite_to_application(
                application,
                role.value,
                expires_in=days * _DAY,
            )
        else:
            made = client.invite(role.value if role else None, expires_in=days * _DAY)
    link = f"{url}{made.path}"
    if as_json:
        return print_json({**made.model_dump(mode="json"), "link": link})
    say(link)
    say(f"It lets one person in, once, until {moment(made.expires)}. It is not shown again.")
    return say(f"Take it back: easeml user uninvite {made.id}")


def invitations(
    application: Annotated[
        str | None, typer.Option("--application", metavar="ID", help="To this application only.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the invitations that were made: open, used and taken back."""
    with Client() as client:
        every = client.application_invitations(application) if application else client.invitations()
        found = list(every)
    if as_json:
        return print_json(found)
    rows = []
    for one in found:
        leads_to = one.application or one.tenant or "a tenant of their own"
        until = moment(one.expires)
        rows.append((one.id, leads_to, one.role, one.by, one.state, until, one.used_by))
    return print_table(["id", "leads to", "as", "made by", "state", "until", "used by"], rows)


def uninvite(
    invitation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the invitation.")],
    application: Annotated[
        str | None,
        typer.Option("--application", metavar="ID", help="Where another tenant's was shared."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take an invitation back; who used it before stays."""
    with Client() as client:
        if application:
            done = client.revoke_application_invitation(application, invitation_id)
        else:
            done = client.revoke_invitation(invitation_id)
    if as_json:
        print_json(done)
    else:
        say(f"{done.id} is {done.state}.")


def join(
    link: Annotated[str, typer.Argument(help="The link that you were sent.")],
    name: Annotated[str, typer.Argument(help="Your name, new or the one that you have.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take an invitation and keep the key for the commands that follow."""
    address = link.partition("/join/")[0] if "/join/" in link else find_credentials(None).url
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = typer.prompt(f"Password of {name}", hide_input=True)
    with Client(address) as client:
        joined = client.accept_invitation(link, name, password)
    path = save_credentials(address, joined.key.secret or "")
    if as_json:
        print_json(joined)
    else:
        say(f"Signed in at {address} as {name}; the key is in {path}.")
        say(f"It led to {address}{joined.path}")


def members(as_json: Json = False) -> None:
    """List who belongs to your tenant, and what each may do."""
    with Client() as client:
        found = list(client.members())
    if as_json:
        return print_json(found)
    rows = []
    for one in found:
        shared = ", ".join(f"{role} of {name}" for name, role in one.applications.items())
        role = f"{one.role}, disabled" if one.disabled else one.role
        rows.append((one.user_id, one.name, role, moment(one.since), shared))
    return print_table(["id", "name", "role", "since", "shared with them"], rows)


def member(
    name: Annotated[str, typer.Argument(help="Who belongs to your tenant.")],
    *,
    role: Annotated[MemberRole | None, typer.Option(help="What they may do from now on.")] = None,
    end: Annotated[bool, typer.Option("--end", help="Let them do nothing more here.")] = False,
    as_json: Json = False,
) -> None:
    """Change what a member of your tenant may do, or end that they belong to it, at once."""
    if (role is None) != end:
        raise InvalidInput("Say either --role or --end.", where="--role")
    with Client() as client:
        user_id = _member_named(client, name).user_id
        if role is not None:
            changed = client.change_member(user_id, role.value)
        else:
            changed = client.end_member(user_id)
    if as_json:
        print_json(changed)
    elif end:
        say(f"{changed.name} does not belong to your tenant any more; their keys here are ended.")
    else:
        say(f"{changed.name} is {changed.role} now.")


def tenants(as_json: Json = False) -> None:
    """List the tenants that you belong to."""
    with Client() as client:
        me = client.me()
    if as_json:
        return print_json(me.tenants)
    rows = []
    for one in me.tenants:
        here = "here" if one.tenant_id == me.acts_in else ""
        rows.append((one.tenant_id, one.name, one.role, here))
    return print_table(["id", "name", "you are", ""], rows)


def act_in(
    tenant: Annotated[str, typer.Argument(help="Name or id of a tenant that you belong to.")],
    as_json: Json = False,
) -> None:
    """Go on in another tenant that you belong to: keeps a key that acts there."""
    address = find_credentials(None).url
    with Client() as client:
        ids = [one.tenant_id for one in client.me().tenants if tenant in (one.tenant_id, one.name)]
        if not ids:
            raise NotFound(
                f"You belong to no tenant {tenant!r}.", remedy="See `easeml user tenants`."
            )
        key = client.act_in(ids[0])
    save_credentials(address, key.secret or "")
    if as_json:
        print_json(key)
    else:
        say(f"What you do now is done in {tenant}.")


def remove(
    name: Annotated[str, typer.Argument(help="Who leaves for good.")],
    *,
    data: Annotated[
        DataChoice | None, typer.Option(help="What becomes of their tenant; asked where left out.")
    ] = None,
    to: Annotated[str, typer.Option(help="Who gets it, where it is handed over.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a user for good, and say what becomes of their data (providers only)."""
    choice = data or _asked_choice()
    if choice == DataChoice.HAND_OVER and not to and is_interactive():
        to = typer.prompt("Who gets it")
    if not yes:
        _confirm(f"Remove {name} for good?")
    with Client() as client:
        user = user_named(client, name)
        done = client.remove_user(user.id, choice.value, to=to)
    if as_json:
        return print_json(done)
    say(f"{done.name} is removed; their keys are ended, and the name is free.")
    if done.to:
        say(
            f"{done.to} owns their tenant {done.tenant_id} now: easeml user act-in {done.tenant_id}"
        )
    for application in done.applications:
        say(f"{application} is deleted. For a day an owner of {done.tenant_id} can restore it.")
    return None


def _asked_choice() -> DataChoice:
    """Ask what becomes of a tenant. Raises ``InvalidInput`` where nobody can be asked."""
    choices = ", ".join(DataChoice)
    if not is_interactive():
        raise InvalidInput(
            "Say what becomes of their tenant.",
            where="--data",
            remedy=f"One of {choices}; --to NAME with {DataChoice.HAND_OVER.value}.",
        )
    return DataChoice(typer.prompt(f"Their tenant ({choices})"))


def _confirm(question: str) -> None:
    """Go on only where somebody agrees. Raises ``InvalidInput`` where nobody can be asked."""
    if not is_interactive():
        raise InvalidInput("There is no terminal to ask.", where="--yes", remedy="Say --yes.")
    typer.confirm(question, default=False, abort=True)


def add(
    name: Annotated[str, typer.Argument(help="A user of this easeml.")],
    tenant: Annotated[str, typer.Argument(help="Id of the tenant.")],
    role: Annotated[MemberRole, typer.Option(help="What they may do there.")] = MemberRole.OWNER,
    as_json: Json = False,
) -> None:
    """Let a user belong to a tenant, such as one whose person left (providers only)."""
    with Client() as client:
        added = client.add_member(tenant, name, role.value)
    if as_json:
        print_json(added)
    else:
        say(f"{added.name} is {added.role} of {tenant} now.")


def user_named(client: Client, name: str) -> User:
    """Return the user of a name or id; raises ``NotFound``."""
    for user in client.users():
        if name in (user.name, user.id):
            return user
    raise NotFound(f"There is no user {name!r}.", remedy="See `easeml user list`.")


def _member_named(client: Client, name: str) -> Member:
    for one in client.members():
        if name in (one.name, one.user_id):
            return one
    raise NotFound(f"No {name!r} belongs to your tenant.", remedy="See `easeml user members`.")


def audit(
    *,
    person: Annotated[str, typer.Option(help="Name of a user: what concerns them.")] = "",
    kind: Annotated[
        str, typer.Option(help="Such as user.signed-in, or the beginning of a kind: user.")
    ] = "",
    number: Annotated[int, typer.Option("--number", min=1, max=200, help="How many.")] = 50,
    as_json: Json = False,
) -> None:
    """List what happened, newest first, sign-ins included (providers only)."""
    with Client() as client:
        found = client.audit(limit=number, kind=kind, person=person)
    if as_json:
        return print_json(found)
    rows = []
    for one in found.items:
        told = [f"{name} {value}" for name, value in one.data.items() if value not in (None, "")]
        rows.append((one.seq, moment(one.created), one.tenant, one.kind, ", ".join(told)))
    return print_table(["number", "when", "tenant", "what", "more"], rows)

"""``user invite``, ``join``, ``members``: who belongs to a tenant, and links that let people in."""

import time
from functools import partial
from typing import Annotated

import typer

from easeml.cli.lookup import first_that
from easeml.cli.named_applications import application_or
from easeml.cli.options import Json, at_most_one, exactly_one
from easeml.cli.output import (
    check_can_ask,
    is_interactive,
    moment,
    print_done,
    print_found,
    print_list,
    print_told,
    say,
)
from easeml.cli.passwords import read_password
from easeml.client import Client, find_credentials, save_credentials
from easeml.contract.accounts import Belonging, Invitation, Member, Removal, User
from easeml.contract.administration import AuditEvent
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
        str | None,
        typer.Option(
            "--application",
            metavar="APPLICATION",
            help="To this application alone.",
            callback=application_or(),
        ),
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
    either = InvalidInput("Say either --role or --own-tenant.", where="--role")
    exactly_one(role, own_tenant, otherwise=either)
    at_most_one(application, own_tenant, otherwise=either)
    with Client() as client:
        url = find_credentials(None).url.rstrip("/")
        made = _invited(client, application, role, days * _DAY)
    link = made.link or f"{url}{made.path}"
    told = {**made.model_dump(mode="json"), "link": link}
    print_told(told, partial(_say_invited, made, link), as_json=as_json)


def _say_invited(made: Invitation, link: str) -> None:
    say(link)
    say(f"It lets one person in, once, until {moment(made.expires)}. It is not shown again.")
    say(f"Take it back: easeml user uninvite {made.id}")


def _invited(
    client: Client, application: str | None, role: ShareRole | None, seconds: float
) -> Invitation:
    """Return an invitation to an application, to the caller's tenant, or (no role) to a new one."""
    if role is None:
        return client.invite(None, expires_in=seconds)
    if application:
        return client.invite_to_application(application, role, expires_in=seconds)
    return client.invite(role, expires_in=seconds)


def invitations(
    application: Annotated[
        str | None,
        typer.Option(
            "--application",
            metavar="APPLICATION",
            help="To this application only.",
            callback=application_or(),
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the invitations that were made: open, used, taken back and over."""
    with Client() as client:
        every = client.application_invitations(application) if application else client.invitations()
        found = list(every)
    columns = {
        "id": "id",
        "leads to": _leads_to,
        "as": "role",
        "made by": "by",
        "state": _state,
        "until": "expires",
        "used by": "used_by",
    }
    print_list(found, columns, as_json=as_json)


def _state(one: Invitation) -> str:
    return one.state_at(time.time())


def _leads_to(one: Invitation) -> str:
    return one.application or one.tenant or "a tenant of their own"


def uninvite(
    invitation_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the invitation.")],
    application: Annotated[
        str | None,
        typer.Option(
            "--application",
            metavar="APPLICATION",
            help="Of another tenant, which was shared with you.",
            callback=application_or(),
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Take an invitation back; people who used it before stay."""
    with Client() as client:
        if application:
            done = client.revoke_application_invitation(application, invitation_id)
        else:
            done = client.revoke_invitation(invitation_id)
    print_done(done, f"{done.id} is {done.state}.", as_json=as_json)


def join(
    link: Annotated[str, typer.Argument(help="The link that you were sent.")],
    name: Annotated[str, typer.Argument(help="Your name, new or the one that you have.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take an invitation and keep the key for the commands that follow."""
    address, sign, _ = link.partition("/join/")
    if not sign:
        address = find_credentials(None).url
    password = read_password(f"Password of {name}", password_stdin)
    with Client(address) as client:
        joined = client.accept_invitation(link, name, password)
    path = save_credentials(address, joined.key.secret or "")
    signed_in = f"Signed in at {address} as {name}; the key is in {path}."
    sentences = f"{signed_in}\nIt led to {address}{joined.path}"
    print_done(joined, sentences, as_json=as_json)


def members(as_json: Json = False) -> None:
    """List the members of your tenant, and what each may do."""
    with Client() as client:
        found = list(client.members())
    columns = {
        "id": "user_id",
        "name": "name",
        "role": _role,
        "since": "since",
        "shared with them": _shared_with,
    }
    print_list(found, columns, as_json=as_json)


def _role(one: Member) -> str:
    return f"{one.role}, disabled" if one.disabled else one.role


def _shared_with(one: Member) -> str:
    return ", ".join(f"{role} of {name}" for name, role in one.applications.items())


def member(
    name: Annotated[str, typer.Argument(help="Name of the member.")],
    *,
    role: Annotated[MemberRole | None, typer.Option(help="What they may do from now on.")] = None,
    end: Annotated[bool, typer.Option("--end", help="Let them do nothing more here.")] = False,
    as_json: Json = False,
) -> None:
    """Change what a member of your tenant may do, or end their membership, at once."""
    either = InvalidInput("Say either --role or --end.", where="--role")
    exactly_one(role, end, otherwise=either)
    with Client() as client:
        user_id = _member_named(client, name).user_id
        if role is not None:
            changed = client.change_member(user_id, role)
            told = f"{changed.name} is {changed.role} now."
        else:
            changed = client.end_member(user_id)
            left = f"{changed.name} does not belong to your tenant any more"
            told = f"{left}; their keys here are ended."
    print_done(changed, told, as_json=as_json)


def tenants(as_json: Json = False) -> None:
    """List the tenants that you belong to."""
    with Client() as client:
        me = client.me()
    here = partial(_here, me.acts_in)
    columns = {"id": "tenant_id", "name": "name", "you are": "role", "": here}
    print_list(me.tenants, columns, as_json=as_json)


def _here(acts_in: str, one: Belonging) -> str:
    return "here" if one.tenant_id == acts_in else ""


def act_in(
    tenant: Annotated[str, typer.Argument(help="Name or id of a tenant that you belong to.")],
    as_json: Json = False,
) -> None:
    """Switch to another tenant that you belong to: keeps a key that acts there."""
    address = find_credentials(None).url
    with Client() as client:
        key = client.act_in(_tenant_named(client, tenant))
    save_credentials(address, key.secret or "")
    print_done(key, f"What you do now is done in {tenant}.", as_json=as_json)


def _tenant_named(client: Client, tenant: str) -> str:
    """Return the id of a tenant that the caller belongs to, of its name or id."""
    no_such = NotFound(f"You belong to no tenant {tenant!r}.", remedy="See `easeml user tenants`.")
    tenants = client.me().tenants
    return first_that(lambda one: tenant in (one.tenant_id, one.name), tenants, no_such).tenant_id


def remove(
    name: Annotated[str, typer.Argument(help="Name of the user.")],
    *,
    data: Annotated[
        DataChoice | None,
        typer.Option(
            help="What becomes of their tenant: delete takes its applications and data sets. "
            "You are asked if it is left out."
        ),
    ] = None,
    to: Annotated[str, typer.Option(help="Who gets it, if it is handed over.")] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove a user for good, and say what becomes of their data (providers only)."""
    choice = data or _asked_choice()
    if choice == DataChoice.HAND_OVER:
        to = to or _asked_heir()
    if not yes:
        _confirm(f"Remove {name} for good?")
    with Client() as client:
        user = user_named(client, name)
        done = client.remove_user(user.id, choice, to=to)
    print_found(done, _say_removed, as_json=as_json)


def _say_removed(done: Removal) -> None:
    say(f"{done.name} is removed; their keys are ended, and the name is free.")
    if done.to:
        say(
            f"{done.to} owns their tenant {done.tenant_id} now: easeml user act-in {done.tenant_id}"
        )
    restored = f"For a day an owner of {done.tenant_id} can restore it."
    say(*(f"{application} is deleted. {restored}" for application in done.applications))
    if done.datasets:
        names = ", ".join(done.datasets)
        say(
            f"Data sets are deleted: {names}. In a day their rows are erased, but in backups made "
            "before."
        )
    for tenant in done.ownerless:
        say(f"Nobody owns {tenant} now. Make somebody its owner: easeml user add NAME {tenant}")


def _asked_heir() -> str:
    """Ask who gets a tenant; where nobody can be asked the service says that a name is missing."""
    return typer.prompt("Who gets it") if is_interactive() else ""


def _asked_choice() -> DataChoice:
    """Ask what becomes of a tenant. Raises ``InvalidInput`` where nobody can be asked."""
    choices = ", ".join(DataChoice)
    unsaid = InvalidInput(
        "Say what becomes of their tenant.",
        where="--data",
        remedy=f"One of {choices}; --to NAME with {DataChoice.HAND_OVER.value}.",
    )
    check_can_ask(unsaid)
    return DataChoice(typer.prompt(f"Their tenant ({choices})"))


def _confirm(question: str) -> None:
    """Go on only where somebody agrees. Raises ``InvalidInput`` where nobody can be asked."""
    nobody = InvalidInput("There is no terminal to ask.", where="--yes", remedy="Say --yes.")
    check_can_ask(nobody)
    typer.confirm(question, default=False, abort=True)


def add(
    name: Annotated[str, typer.Argument(help="A user of this easeml.")],
    tenant: Annotated[str, typer.Argument(help="Id of the tenant.")],
    role: Annotated[MemberRole, typer.Option(help="What they may do there.")] = MemberRole.OWNER,
    as_json: Json = False,
) -> None:
    """Make a user a member of a tenant, such as one whose owner left (providers only)."""
    with Client() as client:
        added = client.add_member(tenant, name, role)
    print_done(added, f"{added.name} is {added.role} of {tenant} now.", as_json=as_json)


def user_named(client: Client, name: str) -> User:
    """Return the user of a name or id; raises ``NotFound``."""
    no_such = NotFound(f"There is no user {name!r}.", remedy="See `easeml user list`.")
    return first_that(lambda user: name in (user.name, user.id), client.users(), no_such)


def _member_named(client: Client, name: str) -> Member:
    no_such = NotFound(f"No {name!r} belongs to your tenant.", remedy="See `easeml user members`.")
    return first_that(lambda one: name in (one.name, one.user_id), client.members(), no_such)


def audit(
    *,
    person: Annotated[
        str, typer.Option(help="Name of a user: what they did, and what concerns them.")
    ] = "",
    kind: Annotated[
        str, typer.Option(help="Such as user.signed-in, or all that begin so: user")
    ] = "",
    number: Annotated[int, typer.Option("--number", min=1, max=200, help="How many.")] = 50,
    as_json: Json = False,
) -> None:
    """List what happened, newest first, sign-ins included (providers only)."""
    with Client() as client:
        found = client.audit(limit=number, kind=kind, person=person)
    columns = {
        "number": "seq",
        "when": "created",
        "who": "by",
        "tenant": "tenant",
        "what": "kind",
        "more": _facts,
    }
    print_list(found.items, columns, as_json=as_json, whole=found)


def _facts(one: AuditEvent) -> str:
    """Say what a line has room for; ``--json`` tells the rest."""
    facts = {**one.data, "by": ""}
    told = [f"{name} {value}" for name, value in facts.items() if _is_short(value)]
    return ", ".join(told)


def _is_short(value: object) -> bool:
    return value not in (None, "") and not isinstance(value, dict | list)

"""Invitations: links that let one person in, once, of which only a hash is kept."""

import secrets
from typing import Annotated

from pydantic import Field

from easeml.contract.accounts import Invitation as InvitationAnswer
from easeml.contract.accounts import ShownInvitation
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import InvitationKind, InvitationState, MemberRole, Role, ShareRole
from easeml.errors import Conflict, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.accounts.keys import digest
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Invitation

PAGE = "/join/"
_WEEK = 7 * 86400.0
_LONGEST = 90 * 86400  # seconds
_MOST_OPEN = 200  # of a tenant
_ASK_AGAIN = "Ask who sent it to you for a new one."
_CLOSED = {
    InvitationState.USED: (
        "This invitation was used.",
        f"If it was you, sign in. If not: {_ASK_AGAIN}",
    ),
    InvitationState.REVOKED: ("This invitation was taken back.", _ASK_AGAIN),
}

GivenRole = Annotated[ShareRole, Field(description="viewer, labeller or owner")]
TenantRole = Annotated[
    ShareRole | None,
    Field(description="viewer, labeller or owner; null: in a tenant of their own (providers only)"),
]
Lifetime = Annotated[float, Field(gt=0, le=_LONGEST, description="seconds until it ends")]


def invite(
    store: Store,
    settings: Settings,
    caller: Caller,
    role: TenantRole = None,
    *,
    expires_in: Lifetime = _WEEK,
) -> InvitationAnswer:
    """Make a link that lets one person in to the caller's tenant, or to a new tenant of their own.

    ``secret``, ``path`` and ``link`` are shown this once. Raises ``NotAllowed`` where others than a
    provider ask for a new tenant, ``Conflict`` where too many are open.
    """
    if role is None:
        caller.require_provider()
    kind = InvitationKind.OWN_TENANT if role is None else InvitationKind.TENANT
    with store.write() as tx:
        made = _make(tx, caller, kind, MemberRole(role or ShareRole.OWNER), expires_in)
    return _with_link(made, settings)


def invite_to_application(
    store: Store,
    settings: Settings,
    caller: Caller,
    application_id: str,
    role: GivenRole,
    *,
    expires_in: Lifetime = _WEEK,
) -> InvitationAnswer:
    """Make a link that lets one person in to an application alone.

    A new person becomes a guest of the tenant. ``secret``, ``path`` and ``link`` are shown this
    once. Raises ``NotFound``, ``Conflict`` where too many are open.
    """
    with store.write() as tx:
        tx.scoped(caller.tenant_id).applications.get(application_id)
        kind = InvitationKind.APPLICATION
        made = _make(tx, caller, kind, MemberRole(role), expires_in, application_id)
    return _with_link(made, settings)


def list_invitations(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[InvitationAnswer]:
    """Return the invitations of the caller's tenant, oldest first, without their secrets."""
    with store.read() as tx:
        rows = tx.scoped(caller.tenant_id).invitations
        found, following = page_records(rows, after, limit)
        return Page(items=_shown(tx, found), next=following)


def list_of_application(
    store: Store, caller: Caller, application_id: str, *, after: After = None, limit: Limit = 50
) -> Page[InvitationAnswer]:
    """Return the invitations to an application, oldest first, without their secrets.

    Raises ``NotFound``.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.applications.get(application_id)
        found, following = page_records(
            tables.invitations, after, limit, application_id=application_id
        )
        return Page(items=_shown(tx, found), next=following)


def revoke(store: Store, caller: Caller, invitation_id: str) -> InvitationAnswer:
    """Make a link of the caller's tenant useless; people who came by it before stay.

    Raises ``NotFound``; repeated, or after it was used, it changes nothing.
    """
    return _revoke(store, caller, invitation_id)


def revoke_of_application(
    store: Store, caller: Caller, application_id: str, invitation_id: str
) -> InvitationAnswer:
    """Make a link to an application useless; people who came by it before stay.

    Raises ``NotFound``; repeated, or after it was used, it changes nothing.
    """
    return _revoke(store, caller, invitation_id, application_id=application_id)


def look(store: Store, secret: str) -> ShownInvitation:
    """Return what an invitation leads to, for a person who holds its secret.

    Raises ``NotFound`` where there is none, ``Conflict`` where it is used, revoked or over.
    """
    with store.read() as tx:
        found = usable(tx, secret)
        shown = _shown(tx, [found])[0]
    return ShownInvitation(
        kind=shown.kind,
        role=shown.role,
        tenant=shown.tenant,
        application=shown.application,
        by=shown.by,
        expires=shown.expires,
    )


def usable(tx: Transaction, secret: str) -> Invitation:
    """Return the invitation that ``secret`` opens.

    Raises ``NotFound`` where there is none, ``Conflict`` where it is used, revoked or over, or who
    made it may no longer invite.
    """
    found = tx.unscoped().invitations.find(hash=digest(secret))
    if found is None:
        raise NotFound("There is no such invitation.", remedy="Copy the whole link, or ask again.")
    if found.state in _CLOSED:
        message, remedy = _CLOSED[found.state]
        raise Conflict(message, remedy=remedy)
    if found.expires <= tx.now():
        raise Conflict("This invitation is over.", remedy=_ASK_AGAIN)
    if not _may_invite(tx, found):
        raise Conflict(
            "The person who made this invitation may no longer invite.", remedy=_ASK_AGAIN
        )
    if found.application_id:
        tables = tx.scoped(found.tenant_id)
        application = tables.applications.find(id=found.application_id, deleted=None)
        if application is None:
            raise Conflict("The application of this invitation is deleted.", remedy=_ASK_AGAIN)
    return found


def _may_invite(tx: Transaction, invitation: Invitation) -> bool:
    """May who made an invitation still make such a one?"""
    maker = tx.users.find(id=invitation.made_by, archived=False)
    if maker is None:
        return False
    if invitation.kind == InvitationKind.OWN_TENANT:
        return maker.role == Role.PROVIDER
    tables = tx.scoped(invitation.tenant_id)
    if tables.memberships.find(user_id=maker.id, role=MemberRole.OWNER) is not None:
        return True
    shared = {"application_id": invitation.application_id, "user_id": maker.id}
    return tables.shares.find(**shared, role=ShareRole.OWNER) is not None


def _make(
    tx: Transaction,
    caller: Caller,
    kind: InvitationKind,
    role: MemberRole,
    expires_in: float,
    application_id: str = "",
) -> InvitationAnswer:
    rows = tx.scoped(caller.tenant_id).invitations
    _check_number(tx, caller)
    secret = "inv_" + secrets.token_urlsafe(32)  # 256 bits
    made = Invitation(
        id=new_id("inv"),
        tenant_id=caller.tenant_id,
        hash=digest(secret),
        kind=kind,
        role=role,
        made_by=caller.user_id,
        expires=tx.now() + expires_in,
        application_id=application_id,
    )
    made = rows.add(made)
    data = {"to": kind, "role": role, "application": application_id, "by": caller.user_id}
    tx.events.append("invitation.created", made.id, data, caller.tenant_id)
    return _shown(tx, [made])[0].model_copy(update={"secret": secret, "path": PAGE + secret})


def _with_link(made: InvitationAnswer, settings: Settings) -> InvitationAnswer:
    """Return an invitation with the whole address, where settings say which one people use."""
    if not settings.public_url:
        return made
    return made.model_copy(update={"link": f"{settings.public_url.rstrip('/')}{made.path}"})


def _check_number(tx: Transaction, caller: Caller) -> None:
    """Raise ``Conflict`` where so many invitations are open that nobody looks through them."""
    rows = tx.scoped(caller.tenant_id).invitations
    ends = rows.column("expires", state=InvitationState.OPEN)
    now = tx.now()
    if sum(expires > now for expires in ends) >= _MOST_OPEN:
        raise Conflict(
            f"{_MOST_OPEN} invitations are open.", remedy="Take back those that nobody needs."
        )


def _revoke(store: Store, caller: Caller, invitation_id: str, **equals: str) -> InvitationAnswer:
    with store.write() as tx:
        rows = tx.scoped(caller.tenant_id).invitations
        found = rows.find(id=invitation_id, **equals)
        if found is None:
            raise NotFound("There is no such invitation.", where=invitation_id)
        if found.state == InvitationState.OPEN:
            found = rows.update(invitation_id, state=InvitationState.REVOKED)
            data = {"by": caller.user_id}
            tx.events.append("invitation.revoked", invitation_id, data, caller.tenant_id)
        return _shown(tx, [found])[0]


def _shown(tx: Transaction, found: list[Invitation]) -> list[InvitationAnswer]:
    """Return invitations with the names of what they are about, which are read together."""
    user_ids, application_ids, tenant_ids = set[str](), set[str](), set[str]()
    for one in found:
        user_ids |= {one.made_by, one.used_by}
        application_ids.add(one.application_id)
        tenant_ids.add(one.tenant_id)
    users = dict(tx.users.pick("id", "name", id=list(user_ids)))
    applications = dict(tx.unscoped().applications.pick("id", "name", id=list(application_ids)))
    tenants = dict(tx.tenants.pick("id", "name", id=list(tenant_ids)))
    answers = []
    for one in found:
        is_to_own_tenant = one.kind == InvitationKind.OWN_TENANT
        answer = InvitationAnswer(
            id=one.id,
            kind=one.kind,
            role=one.role,
            tenant="" if is_to_own_tenant else tenants[one.tenant_id],
            application_id=one.application_id,
            application=applications.get(one.application_id, ""),
            by=users.get(one.made_by, ""),
            state=one.state,
            created=one.created,
            expires=one.expires,
            used_by=users.get(one.used_by, ""),
        )
        answers.append(answer)
    return answers

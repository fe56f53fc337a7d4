"""Who belongs to a tenant, and what each may do there."""

from collections import defaultdict
from typing import Annotated

from pydantic import Field

from easeml.contract.accounts import Member
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import MemberRole, Role, ShareRole
from easeml.errors import Conflict, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.accounts import keys
from easeml.store import Store, Transaction
from easeml.store.records import Membership, User

WantedRole = Annotated[MemberRole, Field(description="owner, viewer, labeller or guest")]


def list_members(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[Member]:
    """Return who belongs to the caller's tenant, oldest first."""
    with store.read() as tx:
        rows = tx.scoped(caller.tenant_id).memberships
        found, following = page_records(rows, after, limit)
        return Page(items=_shown(tx, caller.tenant_id, found), next=following)


def change_member(store: Store, caller: Caller, user_id: str, role: WantedRole) -> Member:
    """Change what somebody may do in the caller's tenant, from their next request on.

    Raises ``NotFound`` for a person outside of it, ``Conflict`` for its last owner.
    """
    with store.write() as tx:
        membership, name = _found(tx, caller.tenant_id, user_id)
        if membership.role != role:
            _check_owner_stays(tx, membership, name)
            membership = tx.scoped(caller.tenant_id).memberships.update(membership.id, role=role)
            data = {"name": name, "role": role, "by": caller.user_id}
            tx.events.append("member.changed", user_id, data, caller.tenant_id)
        return _shown(tx, caller.tenant_id, [membership])[0]


def end_member(store: Store, caller: Caller, user_id: str) -> Member:
    """Let somebody do nothing more in the caller's tenant; return what they were.

    Their keys and sign-ins there end for good, and what was shared with them of it. What they did
    stays, and so do other tenants that they belong to. Raises ``NotFound`` for who does not belong
    to it, ``Conflict`` for its last owner.
    """
    with store.write() as tx:
        membership, name = _found(tx, caller.tenant_id, user_id)
        _check_owner_stays(tx, membership, name)
        was = _shown(tx, caller.tenant_id, [membership])[0]
        tables = tx.scoped(caller.tenant_id)
        later = tx.now() + 1.0
        tables.memberships.forget(later, id=membership.id)
        tables.shares.forget(later, user_id=user_id)
        keys.revoke_in(tx, user_id, caller.tenant_id)
        data = {"name": name, "role": membership.role, "by": caller.user_id}
        tx.events.append("member.ended", user_id, data, caller.tenant_id)
        return was


def add(tx: Transaction, tenant_id: str, person: User, role: MemberRole, by: str) -> Member:
    """Make a person a member; raises ``Conflict`` if they are one already."""
    rows = tx.scoped(tenant_id).memberships
    if rows.find(user_id=person.id) is not None:
        raise Conflict(f"{person.name} belongs to this tenant already.", where=person.name)
    made = rows.add(Membership(new_id("mem"), person.id, tenant_id, role=role))
    _tell(tx, "member.added", tenant_id, person, role, by)
    return _shown(tx, tenant_id, [made])[0]


def make_owner(tx: Transaction, tenant_id: str, person: User, by: str) -> None:
    """Make a person an owner of a tenant, whatever they were there."""
    rows = tx.scoped(tenant_id).memberships
    earlier = rows.find(user_id=person.id)
    if earlier is None:
        add(tx, tenant_id, person, MemberRole.OWNER, by)
    elif earlier.role != MemberRole.OWNER:
        rows.update(earlier.id, role=MemberRole.OWNER)
        _tell(tx, "member.changed", tenant_id, person, MemberRole.OWNER, by)


def _tell(
    tx: Transaction, kind: str, tenant_id: str, person: User, role: MemberRole, by: str
) -> None:
    tx.events.append(kind, person.id, {"name": person.name, "role": role, "by": by}, tenant_id)


def _check_provider_stays(tx: Transaction, membership: Membership) -> None:
    """Raise ``Conflict`` for a provider in the tenant of their own, where they act as one."""
    user = tx.users.get(membership.user_id)
    if user.role == Role.PROVIDER and user.tenant_id == membership.tenant_id:
        raise Conflict(
            f"{user.name} runs this easeml from this tenant.",
            remedy="Another provider can make them a user first: easeml user role.",
        )


def _found(tx: Transaction, tenant_id: str, user_id: str) -> tuple[Membership, str]:
    membership = tx.scoped(tenant_id).memberships.find(user_id=user_id)
    if membership is None:
        raise NotFound(
            "Nobody like this belongs to your tenant.",
            where=user_id,
            remedy="See `easeml user members`.",
        )
    return membership, tx.users.get(user_id).name


def _check_owner_stays(tx: Transaction, membership: Membership, name: str) -> None:
    """Raise ``Conflict`` for the last owner of a tenant who may sign in, and for a provider."""
    if membership.role != MemberRole.OWNER:
        return
    _check_provider_stays(tx, membership)
    rows = tx.scoped(membership.tenant_id).memberships
    others = set(rows.column("user_id", role=MemberRole.OWNER)) - {membership.user_id}
    if not tx.users.list(id=sorted(others), archived=False, limit=1):
        raise Conflict(
            f"{name} is the only owner of this tenant.", remedy="Make somebody else an owner first."
        )


def _shown(tx: Transaction, tenant_id: str, found: list[Membership]) -> list[Member]:
    """Return members with their names and what is shared with them, which are read together."""
    ids = [one.user_id for one in found]
    users = tx.users.by_id(id=ids)
    tables = tx.scoped(tenant_id)
    shares = tables.shares.list(user_id=ids, limit=None)
    wanted = [share.application_id for share in shares]
    names = dict(tables.applications.pick("id", "name", id=wanted, deleted=None))
    given: defaultdict[str, dict[str, ShareRole]] = defaultdict(dict)
    for share in shares:
        if share.application_id in names:
            given[share.user_id][names[share.application_id]] = share.role
    return [
        Member(
            user_id=one.user_id,
            name=users[one.user_id].name,
            role=one.role,
            since=one.created,
            disabled=users[one.user_id].archived,
            applications=given[one.user_id],
        )
        for one in found
    ]

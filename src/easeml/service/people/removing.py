"""Removing a person for good, once it is said what becomes of their data."""

from functools import partial
from itertools import filterfalse
from typing import Annotated

from pydantic import Field

from easeml.contract.accounts import Member, Removal
from easeml.contract.states import DataChoice, MemberRole, Role
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, members, users
from easeml.service.applications import deleting
from easeml.service.datasets import deleting as datasets
from easeml.store import Store, Transaction
from easeml.store.records import User

UserName = Annotated[str, Field(max_length=100, description="name of a user of this easeml")]
Data = Annotated[
    DataChoice,
    Field(description="keep the tenant, hand-over to somebody, or delete what it has"),
]
To = Annotated[str, Field(max_length=100, description="who gets it, where it is handed over")]
NewRole = Annotated[MemberRole, Field(description="owner, viewer, labeller or guest")]


def remove_user(store: Store, caller: Caller, user_id: str, data: Data, *, to: To = "") -> Removal:
    """Remove a user for good, and do what ``data`` says with their tenant (providers only).

    Their keys, memberships and shares end, their name is free again; what they did in other
    tenants stays. What is deleted, applications and data sets, can be restored for a day with the
    applications; then it is erased. Raises ``NotAllowed``; ``NotFound`` for the
    user, where others than a provider ask, and for the person who is to get the tenant;
    ``InvalidInput`` where that is not said; ``Conflict`` for the caller, and where others belong to
    a tenant whose applications were to be deleted.
    """
    caller.require_self_or_provider(user_id)
    caller.require_provider()
    if user_id == caller.user_id:
        raise Conflict("You cannot remove yourself.", remedy="Ask another provider.")
    if (data == DataChoice.HAND_OVER) != bool(to):
        raise InvalidInput(
            "Say who gets the tenant where it is handed over, and only there.", where="to"
        )
    with store.write() as tx:
        user = users.there(tx, user_id)
        deleted = _settle(tx, caller, user, data, to)
        is_deleted = data == DataChoice.DELETE
        emptied = datasets.delete_all(tx, user.tenant_id) if is_deleted else []
        owned = tx.unscoped().memberships.column(
            "tenant_id", user_id=user.id, role=MemberRole.OWNER
        )
        _forget(tx, user)
        ownerless = list(filterfalse(partial(_is_owned, tx), sorted(owned)))
        about = {"name": user.name, "data": data, "to": to, "by": caller.user_id}
        tx.events.append("user.removed", user_id, about, user.tenant_id)
    return Removal(
        user_id=user_id,
        name=user.name,
        tenant_id=user.tenant_id,
        data=data,
        to=to,
        applications=deleted,
        datasets=emptied,
        ownerless=ownerless,
    )


def add_member(
    store: Store, caller: Caller, tenant_id: str, user: UserName, role: NewRole
) -> Member:
    """Make a user a member of a tenant, such as one whose owner left (providers only).

    Raises ``NotAllowed``; ``NotFound`` for the tenant and the user; ``Conflict`` where they belong
    to it already.
    """
    caller.require_provider()
    with store.write() as tx:
        tx.tenants.get(tenant_id)
        person = users.named(tx, user)
        return members.add(tx, tenant_id, person, role, caller.user_id)


def _settle(tx: Transaction, caller: Caller, user: User, data: DataChoice, to: str) -> list[str]:
    """Do what was said with the tenant of a user; return the applications that were deleted."""
    if data == DataChoice.KEEP:
        return []
    tables = tx.scoped(user.tenant_id)
    owners = tables.memberships.column("user_id", role=MemberRole.OWNER)
    if owners != [user.id]:
        raise Conflict(
            f"{user.name} has no tenant that is theirs alone.",
            remedy="Say keep: what is there belongs to others.",
        )
    if data == DataChoice.HAND_OVER:
        person = users.named(tx, to)
        if person.id == user.id:
            raise InvalidInput("Nobody is handed what is theirs.", where="to")
        members.make_owner(tx, user.tenant_id, person, caller.user_id)
        return []
    others = tables.memberships.count() - 1
    if others:
        raise Conflict(
            f"Others belong to the tenant of {user.name}: {others}.",
            remedy="Keep it or hand it over, or end their membership first.",
        )
    found = tables.applications.list(deleted=None, limit=None)
    return [deleting.delete_in(tx, one, caller.user_id).name for one in found]


def _is_owned(tx: Transaction, tenant_id: str) -> bool:
    return tx.scoped(tenant_id).memberships.count(role=MemberRole.OWNER) > 0


def _forget(tx: Transaction, user: User) -> None:
    """End all that a user may do, and free their name."""
    keys.revoke_all(tx, user.id)
    later = tx.now() + 1.0
    every = tx.unscoped()
    every.memberships.forget(later, user_id=user.id)
    every.shares.forget(later, user_id=user.id)
    name = f"removed {user.id}"  # with a space: nobody can choose it
    gone = {"archived": True, "removed": True, "role": Role.USER}
    nobody = {"name": name, "password_hash": "", "identity": None, "identity_name": ""}
    tx.users.update(user.id, **nobody, **gone)

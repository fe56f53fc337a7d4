"""Applications shared with people of other tenants."""

from typing import Annotated

from pydantic import Field

from easeml.contract.keeping import Share as ShareAnswer
from easeml.contract.keeping import Shares
from easeml.contract.states import MemberRole, ShareRole
from easeml.errors import InvalidInput
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.accounts import users
from easeml.store import Store, Tables, Transaction
from easeml.store.records import Share, User

UserName = Annotated[str, Field(max_length=100, description="name of a user of this easeml")]
Wanted = Annotated[
    ShareRole | None, Field(description="viewer, labeller or owner; null: no more at all")
]


def share(
    store: Store, caller: Caller, application_id: str, user: UserName, role: Wanted = None
) -> Shares:
    """Let a person do something with an application, or (``role`` None) nothing any more.

    A viewer looks and predicts, a labeller answers items of work, an owner may do all. It counts from
    their next request on. Raises ``NotFound`` for the application and the person, ``InvalidInput``
    for an owner of the application's own tenant, who may do all.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        person = _person(tx, application.tenant_id, user)
        earlier = tables.shares.find(application_id=application_id, user_id=person.id)
        if earlier is not None:
            tables.shares.forget(tx.now() + 1.0, id=earlier.id)
        if role is not None:
            added = Share(new_id("share"), application.tenant_id, application_id, person.id, role)
            tables.shares.add(added)
        data = {"user": person.name, "role": role, "by": caller.user_id}
        tx.events.append("application.shared", application_id, data, application.tenant_id)
        return _show(tx, tables, application_id)


def list_shares(store: Store, caller: Caller, application_id: str) -> Shares:
    """Return whom an application is shared with; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        tables.applications.get(application_id)
        return _show(tx, tables, application_id)


def shared_with_me(store: Store, caller: Caller) -> Shares:
    """Return the applications that are shared with the caller.

    A labeller of a tenant has all of its applications.
    """
    with store.read() as tx:
        found = tx.unscoped().shares.list(user_id=caller.user_id, limit=None)
        if caller.member == MemberRole.LABELLER:
            own = tx.scoped(caller.tenant_id).shares
            shared = own.column("application_id", user_id=caller.user_id)
            found += _of_labeller(tx, caller, set(shared))
        return _answer(tx, found)


def _of_labeller(tx: Transaction, caller: Caller, but: set[str]) -> list[Share]:
    """Return the tenant's applications as if each were shared with who labels all of them."""
    tables = tx.scoped(caller.tenant_id)
    since = tables.memberships.list(user_id=caller.user_id, limit=1)[0].created
    shares = []
    for id in tables.applications.column("id", deleted=None):
        if id not in but:
            user_id = caller.user_id
            role = ShareRole.LABELLER
            shares.append(Share("", caller.tenant_id, id, user_id, role, since))
    return shares


def _person(tx: Transaction, tenant_id: str, name: str) -> User:
    person = users.named(tx, name)
    owner = {"user_id": person.id, "role": MemberRole.OWNER}
    if tx.scoped(tenant_id).memberships.find(**owner) is not None:
        raise InvalidInput(f"The application is {name}'s own.", where="user")
    return person


def _show(tx: Transaction, tables: Tables, application_id: str) -> Shares:
    return _answer(tx, tables.shares.list(application_id=application_id, limit=None))


def _answer(tx: Transaction, found: list[Share]) -> Shares:
    users = dict(tx.users.pick("id", "name", id=_all(found, "user_id")))
    ids = _all(found, "application_id")
    rows = tx.unscoped().applications.pick("id", "name", id=ids, deleted=None)
    names = dict(rows)
    items = []
    for one in found:
        if one.application_id not in names:
            continue
        items.append(
            ShareAnswer(
                application_id=one.application_id,
                name=names[one.application_id],
                user=users[one.user_id],
                role=one.role,
                created=one.created,
            )
        )
    return Shares(items=items)


def _all(found: list[Share], name: str) -> list[str]:
    return list({getattr(one, name) for one in found})

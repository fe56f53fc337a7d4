"""Users of this easeml, each with a tenant."""

import secrets

from easeml.contract.accounts import Access, Belonging, NewUser, PasswordChange, RoleChange
from easeml.contract.accounts import User as UserAnswer
from easeml.contract.parameters import After, Limit, OnceKey
from easeml.contract.resources import Page
from easeml.contract.states import KeyKind, MemberRole, Role
from easeml.errors import Conflict, NotAllowed, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_of
from easeml.service.accounts import keys, passwords
from easeml.service.events import notifications
from easeml.service.limits import quotas
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Membership, Tenant, User
from easeml.store.shapes import TenantLimits

FIRST_PROVIDER = "admin"


def create_first_provider(store: Store) -> tuple[str, str] | None:
    """Make the provider of a fresh home, and return their name and random password.

    Returns None where there are users already.
    """
    if are_there(store):
        return None
    password = secrets.token_urlsafe(16)
    password_hash = passwords.hash_of(password)
    try:
        with store.write() as tx:
            if tx.users.count():
                return None
            add_first_provider(tx, password_hash)
    except Conflict:  # another process was faster
        return None
    return FIRST_PROVIDER, password


def are_there(store: Store) -> bool:
    """Is there any user?"""
    with store.read() as tx:
        return tx.users.count() > 0


def add_first_provider(tx: Transaction, password_hash: str) -> User:
    """Make the provider of a fresh home.

    Raises ``Conflict`` where another process makes them at the same time.
    """
    return _add_user(tx, FIRST_PROVIDER, password_hash, Role.PROVIDER)


def create_user(
    store: Store, caller: Caller, wish: NewUser, idempotency_key: OnceKey = None
) -> UserAnswer:
    """Make a user with a tenant of their own (providers only).

    Raises ``NotAllowed``, and ``Conflict`` for a name that is taken.
    """
    caller.require_provider()
    once = Once(caller, "users", idempotency_key, {"name": wish.name})
    passwords.check_strength(wish.password, wish.name)
    password_hash = passwords.hash_of(wish.password)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return UserAnswer(**earlier)
        if tx.users.find(name=wish.name):
            raise Conflict(
                f"There is a user named {wish.name!r} already.", remedy="Choose another name."
            )
        user = _add_user(tx, wish.name, password_hash, Role.USER)
        answer = _show_user(user)
        tx.events.append(
            "user.created", user.id, {"name": user.name, "by": caller.user_id}, user.tenant_id
        )
        once.remember(tx, answer.model_dump())
    return answer


def list_users(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[UserAnswer]:
    """Return users: all for a provider, themselves for anybody else."""
    with store.read() as tx:
        if caller.is_provider:
            return page_of(tx.users, _show_user, after, limit, removed=False)
        return page_of(tx.users, _show_user, after, limit, id=caller.user_id)


def get_user(store: Store, settings: Settings, caller: Caller) -> UserAnswer:
    """Return the caller themselves, and how many notifications wait for them."""
    with store.read() as tx:
        user = _show_user(tx.users.get(caller.user_id))
        about = {
            "unread": notifications.unread(tx, caller),
            "member": caller.member,
            "looks": notifications.is_told(tx, caller),
            "acts_in": caller.tenant_id,
            "identity_provider": settings.identity_provider_name,
        }
        return user.model_copy(update={**about, "tenants": _belongings(tx, user.id)})


def change_password(store: Store, caller: Caller, user_id: str, change: PasswordChange) -> None:
    """Set a password. One's own ends one's sign-ins; one that a provider sets ends all keys.

    That also ends the sign-in by an identity provider, until it is connected again. A user proves
    who they are with the old password; a provider needs none for others. Raises ``NotFound`` for
    other users, ``NotAllowed`` for a wrong old password, ``InvalidInput`` for a password that is
    easy to guess.
    """
    caller.require_self_or_provider(user_id)
    with store.read() as tx:
        user = there(tx, user_id)
    if user_id == caller.user_id:
        _check_old(user, change.old)
    passwords.check_strength(change.new, user.name)
    password_hash = passwords.hash_of(change.new)
    with store.write() as tx:
        tx.users.update(user_id, password_hash=password_hash)
        if user_id == caller.user_id:
            keys.revoke_all(tx, user_id, kind=KeyKind.SIGN_IN)
        else:  # set because somebody else may have had it: what they made is not to be trusted either
            keys.revoke_all(tx, user_id)
            _end_identity(tx, user_id)
        tx.events.append(
            "password.changed", user_id, {"name": user.name, "by": caller.user_id}, user.tenant_id
        )


def reset_password(store: Store, name: str, password: str) -> None:
    """Set the password of a user who lost theirs, and end everything else that lets them in.

    The owner of the home asks for it. Raises ``NotFound``, ``InvalidInput`` for a password that is
    easy to guess.
    """
    with store.read() as tx:
        user = tx.users.find(name=name, removed=False)
    if user is None:
        raise NotFound("There is no such user.", where=name)
    passwords.check_strength(password, user.name)
    password_hash = passwords.hash_of(password)
    with store.write() as tx:
        tx.users.update(user.id, password_hash=password_hash)
        keys.revoke_all(tx, user.id)
        _end_identity(tx, user.id)
        tx.events.append("password.reset", user.id, {"name": user.name}, user.tenant_id)


def _check_old(user: User, password: str) -> None:
    """Raise ``NotAllowed`` unless this is the password that a user has."""
    if not user.password_hash:
        raise NotAllowed("You have no password.", remedy="Ask the provider to set one.")
    if not passwords.is_right(user.password_hash, password):
        raise NotAllowed("The old password is wrong.")


def change_role(store: Store, caller: Caller, user_id: str, change: RoleChange) -> UserAnswer:
    """Make a user a provider, or a provider a user (providers only); their keys act so from now on.

    Raises ``NotAllowed``, ``NotFound``, and ``Conflict`` where no provider would be left.
    """
    caller.require_self_or_provider(user_id)
    caller.require_provider()
    with store.write() as tx:
        user = there(tx, user_id)
        role = change.role
        if user.role == role:
            return _show_user(user)
        if role == Role.PROVIDER:
            _check_has_tenant(tx, user)
        else:
            _check_is_not_the_last(tx, user)
        data = {"name": user.name, "role": role, "by": caller.user_id}
        tx.events.append("role.changed", user_id, data, user.tenant_id)
        return _show_user(tx.users.update(user_id, role=role))


def set_access(store: Store, caller: Caller, user_id: str, change: Access) -> UserAnswer:
    """Shut a user out, all keys ended for good, or let them in again (providers only).

    Data, searches and endpoints of the tenant stay. Raises ``NotFound`` where others ask for
    somebody else, ``NotAllowed``, and ``Conflict`` for the caller, who would be shut out of this.
    """
    caller.require_self_or_provider(user_id)
    caller.require_provider()
    disabled = change.disabled
    if user_id == caller.user_id and disabled:
        raise Conflict("You cannot disable yourself.", remedy="Ask another provider.")
    with store.write() as tx:
        user = there(tx, user_id)
        if user.archived == disabled:
            return _show_user(user)
        if disabled:
            keys.revoke_all(tx, user_id)
        kind = "user.disabled" if disabled else "user.enabled"
        tx.events.append(kind, user_id, {"name": user.name, "by": caller.user_id}, user.tenant_id)
        return _show_user(tx.users.update(user_id, archived=disabled))


def _check_has_tenant(tx: Transaction, user: User) -> None:
    """Raise ``Conflict`` if they own no tenant: there would be none to act in as a provider."""
    rows = tx.scoped(user.tenant_id).memberships
    if rows.find(user_id=user.id, role=MemberRole.OWNER) is None:
        raise Conflict(
            f"{user.name} has no tenant of their own.",
            where=user.name,
            remedy="Let them take a link to one first: easeml user invite --own-tenant.",
        )


def _check_is_not_the_last(tx: Transaction, user: User) -> None:
    """Raise ``Conflict`` for the only provider."""
    if tx.users.count(role=Role.PROVIDER, archived=False) == 1:
        raise Conflict(
            f"{user.name} is the only provider of this easeml.",
            where=user.name,
            remedy="Make somebody else a provider first.",
        )


def there(tx: Transaction, user_id: str) -> User:
    """Return the user with this id; raises ``NotFound``, also for one who was removed."""
    user = tx.users.find(id=user_id, removed=False)
    if user is None:
        raise NotFound("There is no such user.", where=user_id)
    return user


def named(tx: Transaction, name: str) -> User:
    """Return the user of this name who may sign in; raises ``NotFound``."""
    user = tx.users.find(name=name, archived=False)
    if user is None:
        raise NotFound(
            f"There is no user named {name!r}.",
            where="user",
            remedy="Check the name; people without an account come by a link: easeml user invite.",
        )
    return user


def _belongings(tx: Transaction, user_id: str) -> list[Belonging]:
    found = tx.unscoped().memberships.list(user_id=user_id, limit=None)
    names = dict(tx.tenants.pick("id", "name", id=[one.tenant_id for one in found]))
    return [
        Belonging(tenant_id=one.tenant_id, name=names[one.tenant_id], role=one.role)
        for one in found
    ]


def _end_identity(tx: Transaction, user_id: str) -> None:
    """Let nobody sign in as this user by an identity provider, until they connect it again."""
    tx.users.update(user_id, identity=None, identity_name="")


def add_of_identity(tx: Transaction, name: str, identity: str, identity_name: str) -> User:
    """Make a user without a password, with a tenant of their own, for an identity."""
    user = _add_user(tx, name, "", Role.USER)
    user = tx.users.update(user.id, identity=identity, identity_name=identity_name)
    data = {"name": user.name, "by": user.id, "identity": identity_name}
    tx.events.append("user.created", user.id, data, user.tenant_id)
    return user


def _add_user(tx: Transaction, name: str, password_hash: str, role: Role) -> User:
    # The provider starts without limits: nobody else could lift them.
    limits = TenantLimits() if role == Role.PROVIDER else quotas.of_new_tenants(tx)
    tenant = tx.tenants.add(Tenant(new_id("ten"), name, limits=limits))
    user = tx.users.add(User(new_id("usr"), name, password_hash, role, tenant.id))
    tx.scoped(tenant.id).memberships.add(Membership(new_id("mem"), user.id, tenant.id))
    return user


def _show_user(user: User) -> UserAnswer:
    return UserAnswer(
        id=user.id,
        name=user.name,
        role=user.role,
        tenant_id=user.tenant_id,
        created=user.created,
        disabled=user.archived,
        has_password=bool(user.password_hash),
        identity=user.identity_name or (user.identity or "").partition(" ")[2],
    )

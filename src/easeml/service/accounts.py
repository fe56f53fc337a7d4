"""Accounts: users with passwords (argon2), and API keys of which only a hash is kept."""

import hashlib
import secrets
from dataclasses import replace
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from easeml.contract import resources
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from easeml.ids import new_id
from easeml.service import notifications
from easeml.service.caller import Caller
from easeml.service.idempotency import Once
from easeml.service.paging import page_of
from easeml.store import Store, Transaction
from easeml.store.records import ApiKey, Membership, Tenant, User

SIGN_IN_SECONDS = 12 * 3600.0
SIGN_IN_NAME = "sign-in"  # name of the keys that signing in makes
_FIRST_PROVIDER = "admin"

_LONGEST_KEY = 100 * 366 * 86400  # seconds: a century
_hasher = PasswordHasher()  # argon2id with the parameters of RFC 9106 for little memory


def create_first_provider(store: Store) -> tuple[str, str] | None:
    """Make the provider of a fresh home; return name and random password, or None if there are
    users already.
    """
    with store.read() as tx:
        if tx.users.count():
            return None
    password = secrets.token_urlsafe(16)
    password_hash = _hasher.hash(password)
    with store.write() as tx:
        if tx.users.count():
            return None
        _add_user(tx, _FIRST_PROVIDER, password_hash, "provider")
    return _FIRST_PROVIDER, password


def sign_in(store: Store, name: str, password: str) -> resources.Key:
    """Return a fresh key that expires after ``SIGN_IN_SECONDS``; its ``secret`` is shown this once.

    An unknown name costs the same time as a wrong password. Raises ``NotSignedIn`` for both.
    """
    decoy = _decoy_hash()
    with store.read() as tx:
        user = tx.users.find(name=name)
    usable = user is not None and not user.archived
    matches = _verify(user.password_hash if user and usable else decoy, password)
    if not (user and usable and matches):
        raise NotSignedIn("The name or the password is wrong.")
    with store.write() as tx:
        return _add_key(tx, user.id, user.tenant_id, SIGN_IN_NAME, SIGN_IN_SECONDS)


def authenticate(store: Store, secret: str) -> Caller:
    """Return who holds the key ``secret``; raises ``NotSignedIn`` unless it is known, unexpired and
    unrevoked.
    """
    with store.read() as tx:
        key = tx.unscoped().api_keys.find(hash=_digest(secret))
        if key is None or key.revoked:
            raise NotSignedIn
        if key.expires is not None and key.expires <= tx.now():
            raise NotSignedIn(
                "This API key has expired.", remedy="Sign in again, or make a new key."
            )
        user = tx.users.get(key.user_id)
    if user.archived:
        raise NotSignedIn
    return Caller(user.id, key.tenant_id, user.role, key.id)


def sign_out(store: Store, caller: Caller) -> None:
    """End the key that the caller sent, for good."""
    with store.write() as tx:
        tx.scoped(caller.tenant_id).api_keys.update(caller.key_id, revoked=True)


def create_user(
    store: Store, caller: Caller, wish: resources.NewUser, idempotency_key: str | None = None
) -> resources.User:
    """Make a user with a tenant of his own (providers only); raises ``NotAllowed``, ``Conflict``
    for a name taken.
    """
    caller.require_provider()
    once = Once(caller, "users", idempotency_key, {"name": wish.name})
    password_hash = _hasher.hash(wish.password)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return resources.User(**earlier)
        if tx.users.find(name=wish.name):
            raise Conflict(
                f"There is a user named {wish.name!r} already.", remedy="Choose another name."
            )
        user = _add_user(tx, wish.name, password_hash, "user")
        answer = _show_user(user)
        tx.events.append(
            "user.created", user.id, {"name": user.name, "by": caller.user_id}, user.tenant_id
        )
        once.remember(tx, answer.model_dump())
    return answer


def list_users(
    store: Store, caller: Caller, *, after: str | None = None, limit: int = 50
) -> resources.Page[resources.User]:
    """Return users: all for a provider, himself for anybody else."""
    with store.read() as tx:
        if caller.is_provider:
            return page_of(tx.users, _show_user, after, limit)
        return page_of(tx.users, _show_user, after, limit, id=caller.user_id)


def get_user(store: Store, caller: Caller) -> resources.User:
    """Return the caller himself, and how many notifications wait for him."""
    with store.read() as tx:
        user = _show_user(tx.users.get(caller.user_id))
        return user.model_copy(
            update={"unread": notifications.unread(tx, caller.user_id, caller.tenant_id)}
        )


def change_password(
    store: Store, caller: Caller, user_id: str, change: resources.PasswordChange
) -> None:
    """Set a password and revoke the user's sign-ins.

    A user proves himself with his old password; a provider needs none for others.
    Raises ``NotFound`` for other users, ``NotAllowed`` for a wrong old password.
    """
    if user_id != caller.user_id and not caller.is_provider:
        raise NotFound("There is no such user.", where=user_id)
    with store.read() as tx:
        user = tx.users.get(user_id)
    if user_id == caller.user_id and not _verify(user.password_hash, change.old):
        raise NotAllowed("The old password is wrong.")
    password_hash = _hasher.hash(change.new)
    with store.write() as tx:
        tx.users.update(user_id, password_hash=password_hash)
        keys = tx.unscoped().api_keys
        for key in keys.list(user_id=user_id, name=SIGN_IN_NAME, revoked=False, limit=None):
            keys.update(key.id, revoked=True)
        tx.events.append(
            "password.changed", user_id, {"name": user.name, "by": caller.user_id}, user.tenant_id
        )


def change_role(store: Store, caller: Caller, user_id: str, role: str) -> resources.User:
    """Make a user a provider, or a provider a user (providers only); his keys act so from now on.

    Raises ``NotAllowed``, ``NotFound``, and ``Conflict`` where no provider would be left.
    """
    if user_id != caller.user_id and not caller.is_provider:
        raise NotFound("There is no such user.", where=user_id)
    caller.require_provider()
    with store.write() as tx:
        user = tx.users.get(user_id)
        if user.role == role:
            return _show_user(user)
        if role != "provider" and tx.users.count(role="provider", archived=False) == 1:
            remedy = "Make somebody else a provider first."
            raise Conflict(
                f"{user.name} is the only provider of this easeml.", remedy=remedy, where=user.name
            )
        data = {"name": user.name, "role": role, "by": caller.user_id}
        tx.events.append("role.changed", user_id, data, user.tenant_id)
        return _show_user(tx.users.update(user_id, role=role))


def create_key(
    store: Store, caller: Caller, wish: resources.NewKey, idempotency_key: str | None = None
) -> resources.Key:
    """Make an API key of the caller; ``secret`` is shown this once.

    Raises ``InvalidInput`` for a name that cannot be shown and a time that no calendar has.
    Repeated with the same idempotency key (the first answer was lost), the same key gets a new
    secret.
    """
    if not wish.name.isprintable():
        raise InvalidInput("A key's name has printable characters only.", where="name")
    if wish.expires_in is not None and not wish.expires_in <= _LONGEST_KEY:
        remedy = "Leave it out for a key that does not expire."
        raise InvalidInput(
            f"A key expires within {_LONGEST_KEY} seconds.", where="expires_in", remedy=remedy
        )
    once = Once(caller, f"keys:{caller.user_id}", idempotency_key, wish.model_dump())
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return _renew_secret(tx, caller, earlier["id"])
        key = _add_key(tx, caller.user_id, caller.tenant_id, wish.name, wish.expires_in)
        tx.events.append(
            "key.created", key.id, {"name": key.name, "by": caller.user_id}, caller.tenant_id
        )
        once.remember(tx, {"id": key.id})
    return key


def list_keys(
    store: Store, caller: Caller, *, after: str | None = None, limit: int = 50
) -> resources.Page[resources.Key]:
    """Return the caller's keys, without their secrets."""
    with store.read() as tx:
        rows = tx.scoped(caller.tenant_id).api_keys
        return page_of(rows, _show_key, after, limit, user_id=caller.user_id)


def revoke_key(store: Store, caller: Caller, key_id: str) -> None:
    """End a key of the caller for good; raises ``NotFound`` for one that is not his."""
    with store.write() as tx:
        keys = tx.scoped(caller.tenant_id).api_keys
        key = keys.get(key_id)
        if key.user_id != caller.user_id:
            raise NotFound("There is no such key.", where=key_id)
        if not key.revoked:
            keys.update(key_id, revoked=True)
            tx.events.append(
                "key.revoked", key.id, {"name": key.name, "by": caller.user_id}, caller.tenant_id
            )


def _add_user(tx: Transaction, name: str, password_hash: str, role: str) -> User:
    tenant = tx.tenants.add(Tenant(new_id("ten"), name))
    user = tx.users.add(User(new_id("usr"), name, password_hash, role, tenant.id))
    tx.scoped(tenant.id).memberships.add(Membership(new_id("mem"), user.id, tenant.id))
    return user


def _add_key(
    tx: Transaction, user_id: str, tenant_id: str, name: str, expires_in: float | None
) -> resources.Key:
    secret = _new_secret()
    expires = None if expires_in is None else tx.now() + expires_in
    key = ApiKey(new_id("key"), user_id, tenant_id, name, _digest(secret), expires)
    return _show_key(tx.scoped(tenant_id).api_keys.add(key)).model_copy(update={"secret": secret})


def _renew_secret(tx: Transaction, caller: Caller, key_id: str) -> resources.Key:
    keys = tx.scoped(caller.tenant_id).api_keys
    secret = _new_secret()
    key = replace(keys.get(key_id), hash=_digest(secret))
    keys.update(key_id, where={"revoked": False}, hash=key.hash)
    return _show_key(key).model_copy(update={"secret": secret})


def _new_secret() -> str:
    return "eml_" + secrets.token_urlsafe(32)  # 256 bits


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _verify(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _decoy_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe(16))


def _show_user(user: User) -> resources.User:
    return resources.User(
        id=user.id, name=user.name, role=user.role, tenant_id=user.tenant_id, created=user.created
    )


def _show_key(key: ApiKey) -> resources.Key:
    return resources.Key(
        id=key.id,
        name=key.name,
        tenant_id=key.tenant_id,
        created=key.created,
        expires=key.expires,
        revoked=key.revoked,
    )

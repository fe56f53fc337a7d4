"""Signing in, and API keys, of which only a hash is kept."""

import hashlib
import secrets
from dataclasses import replace

from easeml.contract.accounts import EndedSignIns, Key, NewKey
from easeml.contract.parameters import OnceKey, TenantId
from easeml.contract.resources import Page
from easeml.contract.states import KeyKind, MemberRole, Role
from easeml.errors import InvalidInput, NotFound, NotSignedIn
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_of
from easeml.service.accounts import passwords
from easeml.store import Store, Transaction
from easeml.store.records import ApiKey, User

SIGN_IN_SECONDS = 12 * 3600.0
SIGN_IN_NAME = "sign-in"  # name of the keys that signing in makes
SIGNED_IN, SIGN_IN_FAILED = "user.signed-in", "user.sign-in-failed"
_OF_NO_TENANT = ""  # events that providers alone see

_ASK_OWNER = "Ask an owner of the tenant for an invitation."
_LONGEST_KEY = 100 * 366 * 86400  # seconds: a century


def sign_in(store: Store, name: str, password: str, origin: str = "") -> Key:
    """Return a fresh key that expires after ``SIGN_IN_SECONDS``; its ``secret`` is shown this once.

    ``origin``: see ``ApiKey``. An unknown name costs the same time as a wrong password. Raises
    ``NotSignedIn`` for both. Both, and who signs in, are in the audit.
    """
    decoy = passwords.decoy_hash()
    with store.read() as tx:
        user = tx.users.find(name=name)
    usable = user is not None and not user.archived
    matches = passwords.is_right(user.password_hash if user and usable else decoy, password)
    # A name that nobody has is not kept: people type their password there by mistake.
    about = {"name": user.name if user else "", "origin": origin}
    if not (user and usable and matches):
        with store.write() as tx:  # also for a name that nobody has: it costs the same time
            tx.events.append(SIGN_IN_FAILED, user.id if user else "", about, _OF_NO_TENANT)
        raise NotSignedIn("The name or the password is wrong.")
    with store.write() as tx:
        tx.events.append(SIGNED_IN, user.id, about, _OF_NO_TENANT)
        return signed_in(tx, user.id, _first_tenant(tx, user), origin)


def signed_in(tx: Transaction, user_id: str, tenant_id: str, origin: str) -> Key:
    """Make the key of a sign-in, which acts in one tenant; its ``secret`` is shown this once."""
    expires = tx.now() + SIGN_IN_SECONDS
    key = ApiKey(
        new_id("key"),
        user_id,
        tenant_id,
        SIGN_IN_NAME,
        "",
        expires,
        kind=KeyKind.SIGN_IN,
        origin=origin,
    )
    return _added(tx, key)


def act_in(store: Store, caller: Caller, tenant_id: TenantId) -> Key:
    """Act in another tenant that the caller belongs to: a fresh sign-in there, as long as one.

    Its ``secret`` is shown this once. A sign-in that asks ends; an API key stays. Raises
    ``NotFound`` for a tenant that they do not belong to.
    """
    with store.write() as tx:
        if tx.scoped(tenant_id).memberships.find(user_id=caller.user_id) is None:
            raise NotFound(
                "You belong to no such tenant.",
                where=tenant_id,
                remedy="See `easeml user tenants`.",
            )
        keys = tx.unscoped().api_keys
        asking = keys.get(caller.key_id)
        if asking.kind == KeyKind.SIGN_IN:
            keys.update(caller.key_id, revoked=True)
        return signed_in(tx, caller.user_id, tenant_id, asking.origin)


def authenticate(store: Store, secret: str) -> Caller:
    """Return who holds the key ``secret``.

    Raises ``NotSignedIn`` unless it is known, unexpired and unrevoked.
    """
    with store.read() as tx:
        key = tx.unscoped().api_keys.find(hash=digest(secret))
        if key is None or key.revoked:
            raise NotSignedIn
        if key.expires is not None and key.expires <= tx.now():
            raise NotSignedIn(
                "This API key has expired.", remedy="Sign in again, or make a new key."
            )
        user = tx.users.get(key.user_id)
        membership = tx.scoped(key.tenant_id).memberships.find(user_id=user.id)
    if user.archived:
        raise NotSignedIn
    if membership is None:
        raise NotSignedIn("You do not belong to this tenant any more.", remedy=_ASK_OWNER)
    is_home = user.tenant_id == key.tenant_id and membership.role == MemberRole.OWNER
    role = user.role if is_home else Role.USER  # a provider is a user where they are a guest
    return Caller(user.id, key.tenant_id, role, key.id, membership.role)


def sign_out(store: Store, caller: Caller) -> None:
    """End the key that the caller sent, for good."""
    with store.write() as tx:
        tx.scoped(caller.tenant_id).api_keys.update(caller.key_id, revoked=True)


def create_key(store: Store, caller: Caller, wish: NewKey, idempotency_key: OnceKey = None) -> Key:
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
    once = Once(caller, f"keys:{caller.user_id}", idempotency_key, wish)
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
    store: Store,
    caller: Caller,
    *,
    user_id: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> Page[Key]:
    """Return the caller's keys, or for a provider those of any user, without their secrets.

    Raises ``NotFound`` where others ask for somebody else's.
    """
    whose = user_id or caller.user_id
    if whose != caller.user_id and not caller.is_provider:
        raise NotFound("There is no such user.", where=whose)
    with store.read() as tx:
        shown = page_of(tx.unscoped().api_keys, _show_key, after, limit, user_id=whose)
    items = []
    for key in shown.items:
        items.append(key.model_copy(update={"is_yours_now": key.id == caller.key_id}))
    return shown.model_copy(update={"items": items})


def end_sign_ins(store: Store, caller: Caller) -> EndedSignIns:
    """End all sign-ins of the caller for good, but for the one that asks. API keys stay."""
    with store.write() as tx:
        keys = tx.unscoped().api_keys
        found = keys.list(user_id=caller.user_id, kind=KeyKind.SIGN_IN, revoked=False, limit=None)
        others = [key for key in found if key.id != caller.key_id]
        for key in others:
            keys.update(key.id, revoked=True)
            data = {"name": key.name, "by": caller.user_id}
            tx.events.append("key.revoked", key.id, data, key.tenant_id)
        now = tx.now()
    ended = [key for key in others if key.expires is None or key.expires > now]
    return EndedSignIns(ended=len(ended))


def revoke_key(store: Store, caller: Caller, key_id: str) -> None:
    """End a key for good: one's own, or as a provider anybody's.

    Raises ``NotFound`` for a key of somebody else.
    """
    with store.write() as tx:
        keys = tx.unscoped().api_keys
        key = keys.find(id=key_id)
        if key is None or (key.user_id != caller.user_id and not caller.is_provider):
            raise NotFound("There is no such key.", where=key_id)
        if key.revoked:
            return
        keys.update(key_id, revoked=True)
        data = {"name": key.name, "by": caller.user_id}
        tx.events.append("key.revoked", key.id, data, key.tenant_id)


def revoke_all(tx: Transaction, user_id: str, kind: KeyKind | None = None) -> None:
    """End all keys of a user for good, or those of one ``kind``."""
    keys = tx.unscoped().api_keys
    for key in keys.list(user_id=user_id, revoked=False, limit=None):
        if kind in (None, key.kind):
            keys.update(key.id, revoked=True)


def revoke_in(tx: Transaction, user_id: str, tenant_id: str) -> None:
    """End all keys of a user that act in a tenant, for good."""
    keys = tx.scoped(tenant_id).api_keys
    for key in keys.list(user_id=user_id, revoked=False, limit=None):
        keys.update(key.id, revoked=True)


def digest(secret: str) -> str:
    """Return what is kept of a secret of 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _first_tenant(tx: Transaction, user: User) -> str:
    """Return the tenant that somebody acts in after signing in: their own, or the first other."""
    found = tx.unscoped().memberships.list(user_id=user.id, limit=None)
    tenants = [membership.tenant_id for membership in found]
    if not tenants:
        raise NotSignedIn("You belong to no tenant of this easeml any more.", remedy=_ASK_OWNER)
    return user.tenant_id if user.tenant_id in tenants else tenants[0]


def _add_key(
    tx: Transaction, user_id: str, tenant_id: str, name: str, expires_in: float | None
) -> Key:
    expires = None if expires_in is None else tx.now() + expires_in
    return _added(tx, ApiKey(new_id("key"), user_id, tenant_id, name, "", expires))


def _added(tx: Transaction, key: ApiKey) -> Key:
    """Keep a key with a new secret, which is shown this once."""
    secret = _new_secret()
    kept = tx.scoped(key.tenant_id).api_keys.add(replace(key, hash=digest(secret)))
    return _show_key(kept).model_copy(update={"secret": secret})


def _renew_secret(tx: Transaction, caller: Caller, key_id: str) -> Key:
    keys = tx.scoped(caller.tenant_id).api_keys
    secret = _new_secret()
    key = replace(keys.get(key_id), hash=digest(secret))
    keys.update(key_id, where={"revoked": False}, hash=key.hash)
    return _show_key(key).model_copy(update={"secret": secret})


def _new_secret() -> str:
    return "eml_" + secrets.token_urlsafe(32)  # 256 bits


def _show_key(key: ApiKey) -> Key:
    return Key(
        id=key.id,
        name=key.name,
        tenant_id=key.tenant_id,
        created=key.created,
        expires=key.expires,
        revoked=key.revoked,
        kind=key.kind,  # pyright: ignore[reportArgumentType]  one of two, by its writers
        origin=key.origin,
    )

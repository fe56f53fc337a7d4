"""Signing in, and API keys, of which only a hash is kept."""

import hashlib
import secrets
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from easeml.contract.accounts import EndedSignIns, Key, NewKey
from easeml.contract.parameters import After, Limit, OnceKey, TenantId
from easeml.contract.resources import Page
from easeml.contract.states import KeyKind, KeyScope, MemberRole, Role
from easeml.errors import InvalidInput, NotFound, NotSignedIn
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.idempotency import Once
from easeml.service.access.paging import page_of
from easeml.service.accounts import passwords
from easeml.store import Rows, Store, Transaction
from easeml.store.records import ApiKey, Membership, User
from easeml.store.shapes import given

OfUser = Annotated[str | None, Field(alias="user", max_length=100, description="id of a user")]

SIGN_IN_SECONDS = 12 * 3600.0
SIGN_IN_NAME = "sign-in"  # name of the keys that signing in makes
SIGNED_IN, SIGN_IN_FAILED = "user.signed-in", "user.sign-in-failed"
_OF_NO_TENANT = ""  # events that providers alone see

_TRY_AGAIN = "Type both again; a provider can set a new password."
_NO_KEY = "Copy the whole key again, or make a new one: POST /api/v1/login."
_SIGN_IN_AGAIN = "Sign in again, or make a new key."
_ASK_PROVIDER = "Ask a provider of this easeml."
_ASK_OWNER = "Ask an owner of the tenant for an invitation."
_LONGEST_KEY = 100 * 366 * 86400  # seconds: a century


def sign_in(store: Store, name: str, password: str, origin: str = "") -> Key:
    """Return a fresh key that expires after ``SIGN_IN_SECONDS``; its ``secret`` is shown this once.

    ``origin``: see ``ApiKey``. An unknown name costs the same time as a wrong password. Raises
    ``NotSignedIn`` for both. Both, and who signs in, are in the audit.
    """
    with store.read() as tx:
        user = tx.users.find(name=name)
    matches = passwords.is_right(_usable_hash(user) or passwords.decoy_hash(), password)
    if user is None or not matches:
        _note_failure(store, user, origin)
        raise NotSignedIn("The name or the password is wrong.", remedy=_TRY_AGAIN)
    with store.write() as tx:
        return sign_in_as(tx, user, origin)


def _usable_hash(user: User | None) -> str:
    """Return the hash of the password that lets a user in; empty: no password does."""
    if user is None or user.archived:
        return ""
    return user.password_hash  # empty, too, for users who sign in otherwise


def _note_failure(store: Store, user: User | None, origin: str) -> None:
    """Keep that somebody could not sign in, also for a name that nobody has: it costs the same.

    Such a name is not kept: people type their password there by mistake.
    """
    user_id, name = (user.id, user.name) if user else ("", "")
    about = {"name": name, "origin": origin}
    with store.write() as tx:
        tx.events.append(SIGN_IN_FAILED, user_id, about, _OF_NO_TENANT)


def sign_in_as(tx: Transaction, user: User, origin: str) -> Key:
    """Let in who has proven to be this user: a fresh key, and a line in the audit."""
    about = {"name": user.name, "origin": origin}
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

    Its ``secret`` is shown this once. A sign-in that asks ends; an API key stays, and makes a key
    that ends no later than itself. Raises ``NotFound`` for a tenant that they do not belong to.
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
            _end(tx, asking, caller)
            return signed_in(tx, caller.user_id, tenant_id, asking.origin)
        expires = _no_later_than(asking, tx.now() + SIGN_IN_SECONDS)
        key = ApiKey(new_id("key"), caller.user_id, tenant_id, asking.name, "", expires)
        return _added(tx, key)


def authenticate(store: Store, secret: str) -> Caller:
    """Return who holds the key ``secret``.

    Raises ``NotSignedIn``, which says why, unless it is known, unexpired and unrevoked.
    """
    with store.read() as tx:
        key = _found(tx, secret)
        seconds = _seconds_left(tx, key)
        user = tx.users.get(key.user_id)
        membership = tx.scoped(key.tenant_id).memberships.find(user_id=user.id)
    if user.archived:
        raise NotSignedIn("The user of this key was removed.", remedy=_ASK_PROVIDER)
    if membership is None:
        raise NotSignedIn("You do not belong to this tenant any more.", remedy=_ASK_OWNER)
    return Caller(
        user.id,
        key.tenant_id,
        _role(user, membership),
        key.id,
        membership.role,
        key.scope,
        key.application_id,
        seconds,
    )


def _found(tx: Transaction, secret: str) -> ApiKey:
    """Return the key with this secret. Raises ``NotSignedIn`` where it was ended."""
    key = tx.unscoped().api_keys.find(hash=digest(secret))
    if key is None:
        raise NotSignedIn("There is no such API key.", remedy=_NO_KEY)
    if key.revoked:
        raise NotSignedIn("This API key was revoked.", remedy=_SIGN_IN_AGAIN)
    return key


def _seconds_left(tx: Transaction, key: ApiKey) -> float | None:
    """Return how long a key is good for; None: it does not expire. Raises ``NotSignedIn``."""
    if key.expires is None:
        return None
    seconds = key.expires - tx.now()
    if seconds <= 0:
        raise NotSignedIn("This API key has expired.", remedy=_SIGN_IN_AGAIN)
    return seconds


def _role(user: User, membership: Membership) -> Role:
    """Return as what a user acts in a tenant: a provider is a user where they are a guest."""
    is_home = user.tenant_id == membership.tenant_id
    if is_home and membership.role == MemberRole.OWNER:
        return user.role
    return Role.USER


def note_use(store: Store, key_id: str) -> None:
    """Note that a key was used now."""
    with store.write() as tx:
        tx.unscoped().api_keys.update(key_id, used=tx.now())


def sign_out(store: Store, caller: Caller) -> None:
    """End the key that the caller sent, for good."""
    with store.write() as tx:
        _end(tx, tx.scoped(caller.tenant_id).api_keys.get(caller.key_id), caller)


def create_key(store: Store, caller: Caller, wish: NewKey, idempotency_key: OnceKey = None) -> Key:
    """Make an API key of the caller; ``secret`` is shown this once.

    A key that expires makes none that outlives it. Repeated with the same idempotency key (the
    first answer was lost), the same key gets a new secret. Raises ``InvalidInput`` for a name that
    cannot be shown, a time that no calendar has and a scope that names an application in vain,
    ``NotFound`` for an application that the caller may not ask.
    """
    _check_wish(wish)
    once = Once(caller, f"keys:{caller.user_id}", idempotency_key, wish)
    with store.write() as tx:
        if earlier := once.earlier(tx):
            return _renew_secret(tx, caller, earlier["id"])
        _check_application(tx, caller, wish.application_id)
        key = _add_key(tx, caller, wish)
        data = {"name": key.name, "scope": key.scope, "by": caller.user_id}
        tx.events.append("key.created", key.id, data, caller.tenant_id)
        once.remember(tx, {"id": key.id})
    return key


def add_given(tx: Transaction, user: User, name: str, scope: KeyScope, secret: str) -> None:
    """Keep a key that was made elsewhere, which acts in the user's own tenant without an end."""
    key = ApiKey(new_id("key"), user.id, user.tenant_id, name, digest(secret), scope=scope)
    tx.scoped(user.tenant_id).api_keys.add(key)
    data = {"name": name, "scope": scope, "by": user.id}
    tx.events.append("key.created", key.id, data, user.tenant_id)


def _check_wish(wish: NewKey) -> None:
    if not wish.name.isprintable():
        raise InvalidInput("A key's name has printable characters only.", where="name")
    if wish.expires_in is not None and not wish.expires_in <= _LONGEST_KEY:  # NaN neither
        raise InvalidInput(
            f"A key expires within {_LONGEST_KEY} seconds.",
            where="expires_in",
            remedy="Leave it out for a key that does not expire.",
        )
    if wish.application_id and wish.scope != KeyScope.PREDICT:
        raise InvalidInput(
            "Only a key for predictions is of one application.",
            where="application_id",
            remedy=f"Leave it out, or say the scope {KeyScope.PREDICT.value}.",
        )


def list_keys(
    store: Store,
    caller: Caller,
    user_id: OfUser = None,
    *,
    after: After = None,
    limit: Limit = 50,
) -> Page[Key]:
    """Return a page of the caller's keys, or for a provider of those of any user.

    They come without their secrets.

    Raises ``NotFound`` where others ask for somebody else's.
    """
    whose = user_id or caller.user_id
    caller.require_self_or_provider(whose)
    with store.read() as tx:
        shown = page_of(tx.unscoped().api_keys, _show_key, after, limit, user_id=whose)
    for key in shown.items:
        key.is_yours_now = key.id == caller.key_id
    return shown


def end_sign_ins(store: Store, caller: Caller) -> EndedSignIns:
    """End all sign-ins of the caller for good, but for the one that asks. API keys stay."""
    with store.write() as tx:
        keys = tx.unscoped().api_keys
        found = keys.list(user_id=caller.user_id, kind=KeyKind.SIGN_IN, revoked=False, limit=None)
        others = [key for key in found if key.id != caller.key_id]
        for key in others:
            _end(tx, key, caller)
        now = tx.now()
    ended = [key for key in others if key.expires is None or key.expires > now]
    return EndedSignIns(ended=len(ended))


def revoke_key(store: Store, caller: Caller, key_id: str) -> None:
    """End a key for good: one's own, or as a provider anybody's.

    Raises ``NotFound`` for a key of somebody else.
    """
    with store.write() as tx:
        keys = tx.unscoped().api_keys
        whose = {} if caller.is_provider else {"user_id": caller.user_id}
        key = keys.find(id=key_id, **whose)
        if key is None:
            raise NotFound("There is no such key.", where=key_id)
        if not key.revoked:
            _end(tx, key, caller)


def revoke_all(tx: Transaction, user_id: str, kind: KeyKind | None = None) -> None:
    """End all keys of a user for good, or those of one ``kind``."""
    _revoke(tx.unscoped().api_keys, user_id=user_id, **given(kind=kind))


def revoke_in(tx: Transaction, user_id: str, tenant_id: str) -> None:
    """End all keys of a user that act in a tenant, for good."""
    _revoke(tx.scoped(tenant_id).api_keys, user_id=user_id)


def _revoke(keys: Rows[ApiKey], **equals: Any) -> None:
    ended = keys.column("id", revoked=False, **equals)
    keys.set_each("revoked", dict.fromkeys(ended, True))


def digest(secret: str) -> str:
    """Return what is kept of a secret of 256 random bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _first_tenant(tx: Transaction, user: User) -> str:
    """Return the tenant that somebody acts in after signing in: their own, or the first other."""
    tenants = tx.unscoped().memberships.column("tenant_id", user_id=user.id)
    if not tenants:
        raise NotSignedIn("You belong to no tenant of this easeml any more.", remedy=_ASK_OWNER)
    if user.tenant_id in tenants:
        return user.tenant_id
    return tenants[0]


def _end(tx: Transaction, key: ApiKey, caller: Caller) -> None:
    """End a key for good, and tell the controllers that may remember it."""
    tx.unscoped().api_keys.update(key.id, revoked=True)
    data = {"name": key.name, "by": caller.user_id}
    tx.events.append("key.revoked", key.id, data, key.tenant_id)


def _check_application(tx: Transaction, caller: Caller, application_id: str) -> None:
    """Raise ``NotFound`` for an application that is neither the tenant's nor shared with them."""
    if not application_id:
        return
    shared = {"application_id": application_id, "user_id": caller.user_id}
    if tx.unscoped().shares.find(**shared) is None:
        tx.scoped(caller.tenant_id).applications.get(application_id)


def _add_key(tx: Transaction, caller: Caller, wish: NewKey) -> Key:
    expires = None if wish.expires_in is None else tx.now() + wish.expires_in
    asking = tx.unscoped().api_keys.find(id=caller.key_id)
    if asking is not None and asking.kind == KeyKind.API:
        expires = _no_later_than(asking, expires)
    key = ApiKey(new_id("key"), caller.user_id, caller.tenant_id, wish.name, "", expires)
    return _added(tx, replace(key, scope=wish.scope, application_id=wish.application_id))


def _no_later_than(asking: ApiKey, expires: float | None) -> float | None:
    """Return when a key ends that another makes: who holds the one gains no time by the other."""
    ends = given(asking=asking.expires, made=expires)
    return min(ends.values(), default=None)


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
        scope=key.scope,
        application_id=key.application_id,
        used=key.used,
    )

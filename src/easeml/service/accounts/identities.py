"""Signing in as whom an identity provider knows."""

import re
from urllib.parse import urlsplit

from easeml.contract.accounts import IdentityAsked, Joined, SeenAt, SignInWays
from easeml.contract.accounts import User as UserAnswer
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound
from easeml.ids import new_id
from easeml.openid import Identity, IdentityProvider
from easeml.service.access.caller import Caller
from easeml.service.accounts import invitations, joining, keys, users
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import User

EVERYBODY, INVITED = "everybody", "invited"
_FIRST_PAGE = "/"
_COME_BACK = "/sign-in/identity/back"  # the page that the identity provider sends people to
_NO_LETTERS = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 50  # letters of a name that is made here


def ways(settings: Settings) -> SignInWays:
    """Return how one can sign in beside a password; needs no key."""
    return SignInWays(identity_provider=settings.identity_provider_name)


async def ask(
    settings: Settings, identity_provider: IdentityProvider | None, site: SeenAt
) -> IdentityAsked:
    """Begin a sign-in by the identity provider in a browser; needs no key.

    Raises ``NotFound`` where this easeml has none, ``NotReady`` where it does not answer.
    """
    provider = there(identity_provider)
    asked = await provider.ask(come_back(settings, site))
    return IdentityAsked(
        url=asked.url, state=asked.state, nonce=asked.nonce, verifier=asked.verifier
    )


def there(provider: IdentityProvider | None) -> IdentityProvider:
    """Return the identity provider. Raises ``NotFound`` where this easeml has none."""
    if provider is None:
        raise NotFound("This easeml has no identity provider.", remedy="Sign in with a password.")
    return provider


def come_back(settings: Settings, site: str) -> str:
    """Return the address that people come back to, which has to be registered at the provider.

    Raises ``InvalidInput`` for what is no address.
    """
    place = urlsplit(settings.public_url or site)
    if place.scheme not in ("http", "https") or not place.netloc:
        raise InvalidInput(f"{site!r} is not an address of easeml.", where="site")
    return f"{place.scheme}://{place.netloc}{_COME_BACK}"


def sign_in(store: Store, identity: Identity, admitted: str, origin: str = "") -> Joined:
    """Return a fresh key of the user with this identity, and the page to begin with.

    ``admitted``: who may come without an invitation: ``EVERYBODY`` whom the provider knows, those
    of mail domains (with commas; the provider has to have verified the address), or ``INVITED``
    for nobody. They become a user with a tenant of their own. ``origin``: see ``ApiKey``.

    Raises ``NotAllowed`` for a person who is not admitted or is disabled.
    """
    with store.write() as tx:
        user = _known(tx, identity)
        if user is None:
            _check_admitted(identity, admitted)
            name = _free_name(tx, identity)
            user = users.add_of_identity(tx, name, _key(identity), identity.name)
        _check_may_sign_in(user)
        key = keys.sign_in_as(tx, user, origin)
    return Joined(key=key, user_id=user.id, path=_FIRST_PAGE)


def accept(store: Store, identity: Identity, secret: str, origin: str = "") -> Joined:
    """Take an invitation as who has this identity, a new user where nobody has it yet.

    Raises what ``invitations.usable`` does, ``NotAllowed`` for a disabled user, and ``Conflict``
    for who has already what it leads to.
    """
    with store.write() as tx:
        invitation = invitations.usable(tx, secret)
        user = _known(tx, identity)
        if user is None:
            user = joining.new_user(tx, _free_name(tx, identity), "", invitation)
            user = _given(tx, user, identity)
        _check_may_sign_in(user)
        return joining.take(tx, invitation, user, origin)


def connect(store: Store, caller: Caller, identity: Identity) -> None:
    """Let the caller sign in by this identity from now on, instead of another of theirs.

    Raises ``Conflict`` where it is somebody else's.
    """
    with store.write() as tx:
        owner = _known(tx, identity)
        if owner is not None and owner.id != caller.user_id:
            raise Conflict(
                f"{identity.name or 'This identity'} signs in here as {owner.name!r}.",
                remedy="Sign in as that user and end it there first.",
            )
        user = _given(tx, tx.users.get(caller.user_id), identity)
        data = {"name": user.name, "identity": identity.name}
        tx.events.append("identity.connected", user.id, data, user.tenant_id)


def disconnect(store: Store, settings: Settings, caller: Caller) -> UserAnswer:
    """End the caller's sign-in by an identity provider; their password stays.

    Raises ``Conflict`` for a user without a password: nothing would let them in.
    """
    with store.write() as tx:
        user = tx.users.get(caller.user_id)
        if not user.password_hash:
            raise Conflict(
                "You have no password to sign in with.",
                remedy="Ask the provider of this easeml to set one first.",
            )
        data = {"name": user.name, "identity": user.identity_name}
        tx.users.update(user.id, identity=None, identity_name="")
        tx.events.append("identity.disconnected", user.id, data, user.tenant_id)
    return users.get_user(store, settings, caller)


def _key(identity: Identity) -> str:
    """Return what tells an identity from all others; issuers have no spaces."""
    return f"{identity.issuer} {identity.subject}"


def _known(tx: Transaction, identity: Identity) -> User | None:
    return tx.users.find(identity=_key(identity))


def _given(tx: Transaction, user: User, identity: Identity) -> User:
    return tx.users.update(user.id, identity=_key(identity), identity_name=identity.name)


def _check_may_sign_in(user: User) -> None:
    if user.archived:
        raise NotAllowed(f"{user.name} is disabled.", remedy="Ask the provider of this easeml.")


def _is_of_domain(email: str, domains: str) -> bool:
    """Tell whether an address is of one of these domains, which commas separate."""
    known = [one.strip().lower().lstrip("@") for one in domains.split(",")]
    _, at, domain = email.lower().rpartition("@")
    return bool(at) and domain in known


def _check_admitted(identity: Identity, admitted: str) -> None:
    if admitted == EVERYBODY:
        return
    if admitted != INVITED and _is_of_domain(identity.email, admitted):
        return
    raise NotAllowed(
        f"Nobody here is known as {identity.name or 'whom you signed in as'}.",
        remedy="Open the link of an invitation; or, if you have a password here, sign in with it "
        "and connect the two on the page Account.",
    )


def _free_name(tx: Transaction, identity: Identity) -> str:
    """Return a name that nobody has: of an address what stands before the @."""
    wanted = identity.name.partition("@")[0].lower()
    wanted = _NO_LETTERS.sub("-", wanted).strip("._-")[:_LONGEST] or new_id("user").lower()
    taken = set(tx.users.column("name"))
    name = wanted
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name

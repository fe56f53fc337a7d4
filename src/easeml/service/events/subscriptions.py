"""Notifications that are sent elsewhere: who wants to be told of what, where."""

import base64
import re
import secrets
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import filterfalse
from typing import Any
from urllib.parse import urlsplit

from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import SubscriptionState, SubscriptionWay
from easeml.contract.subscriptions import Confirmation, NewSubscription, SecretRenewal
from easeml.contract.subscriptions import Subscription as SubscriptionAnswer
from easeml.errors import Conflict, InvalidInput, NotFound
from easeml.fetching.guard import check_written, trusted_hosts
from easeml.fetching.origin import check_web_address
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_of
from easeml.service.events.notifications import KINDS, is_told_of
from easeml.settings import Settings
from easeml.store import Store, Transaction
from easeml.store.records import Subscription

SECRET_PREFIX = "whsec_"  # noqa: S105 of the secrets of Standard Webhooks
TEST = "subscription.test"
NO_FAILURE: Mapping[str, Any] = {
    "failures": 0,
    "failing_since": 0.0,
    "error": "",
    "next_try": 0.0,
}
"""What a subscription keeps of failures while there are none."""
_MOST = 20  # of a tenant
_MAIL_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_SECRET_BYTES = 32
_CODE_BYTES = 6
_MOST_WRONG_CODES = 5
_HOURS = frozenset(range(24))
_LIVING = [one for one in SubscriptionState if one != SubscriptionState.ENDED]


def subscribe(
    store: Store, settings: Settings, caller: Caller, wish: NewSubscription
) -> SubscriptionAnswer:
    """Have the caller's notifications sent to an address from now on: those of ``notifications``.

    The answer to this alone has the ``secret`` that signs what is posted. An address of mail gets a
    code first, that confirms it. Raises ``InvalidInput`` for an address or kinds that cannot be,
    ``NotAllowed`` for one that lies in an own network as it is written, ``NotFound`` for an
    application, ``Conflict`` where too many are there or no mail is sent.
    """
    _check_address(settings, wish)
    kinds = _checked_kinds(wish.kinds or [])
    quiet = _checked_quiet(wish)
    is_mail = wish.way == SubscriptionWay.MAIL
    if is_mail:
        secret, state = _code(), SubscriptionState.UNCONFIRMED
    else:
        secret, state = _signing_secret(), SubscriptionState.ACTIVE
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        if wish.application_id:
            _check_application(tx, caller, wish.application_id)
        if tables.subscriptions.count(state=_LIVING) >= _MOST:
            raise Conflict(f"There are {_MOST} already.", remedy="End one first.")
        made = Subscription(
            new_id("sub"),
            caller.tenant_id,
            caller.user_id,
            wish.way,
            wish.address,
            kinds,
            wish.application_id,
            secret,
            tx.events.last(),
            state,
            quiet,
        )
        added = tables.subscriptions.add(made)
        _tell(tx, added, "subscription.created")
    return _show(added, secret="" if is_mail else added.secret)


def list_page(
    store: Store, caller: Caller, *, after: After = None, limit: Limit = 50
) -> Page[SubscriptionAnswer]:
    """Return where the tenant's notifications are sent, oldest first, without secrets."""
    with store.read() as tx:
        rows = tx.scoped(caller.tenant_id).subscriptions
        return page_of(rows, _show, after, limit, state=_LIVING)


def confirm(
    store: Store, caller: Caller, subscription_id: str, wish: Confirmation
) -> SubscriptionAnswer:
    """Confirm an address of mail by the code that it got; from then on it is told.

    Raises ``NotFound``, and ``Conflict`` for a wrong code; after five of them the subscription
    ends.
    """
    with store.write() as tx:
        rows = tx.scoped(caller.tenant_id).subscriptions
        found = _living(tx, caller, subscription_id)
        if found.state != SubscriptionState.UNCONFIRMED:
            return _show(found)
        if secrets.compare_digest(found.secret.encode(), wish.code.strip().upper().encode()):
            active = SubscriptionState.ACTIVE
            seq = tx.events.last()
            return _show(rows.update(found.id, state=active, secret="", seq=seq, failures=0))
        tries = found.failures + 1
        is_over = tries >= _MOST_WRONG_CODES
        state = SubscriptionState.ENDED if is_over else found.state
        rows.update(found.id, failures=tries, state=state)
    if is_over:
        raise Conflict("This was the fifth wrong code: the subscription is ended.")
    raise Conflict("This is not the code.", remedy="Copy it from the mail that you got.")


def try_out(store: Store, caller: Caller, subscription_id: str) -> SubscriptionAnswer:
    """Send a test; one that is paused goes on with it. Raises ``NotFound``, ``Conflict``."""
    with store.write() as tx:
        found = _living(tx, caller, subscription_id)
        if found.state == SubscriptionState.UNCONFIRMED:
            raise Conflict("The address is not confirmed.", remedy="Send the code that it got.")
        changes = dict(NO_FAILURE)
        if found.state == SubscriptionState.PAUSED:
            changes["seq"] = tx.events.last()
        rows = tx.scoped(caller.tenant_id).subscriptions
        changed = rows.update(found.id, state=SubscriptionState.ACTIVE, **changes)
        tx.events.append(TEST, found.id, {}, caller.tenant_id)
    return _show(changed)


def renew_secret(
    store: Store, caller: Caller, subscription_id: str, wish: SecretRenewal
) -> SubscriptionAnswer:
    """Sign what is posted with a new secret, which the answer to this alone has.

    For ``overlap_hours`` the old one signs as well, so that the listener can change over. Raises
    ``NotFound``, and ``Conflict`` for mail, which is not signed.
    """
    with store.write() as tx:
        found = _living(tx, caller, subscription_id)
        if found.way == SubscriptionWay.MAIL:
            raise Conflict("Mail is not signed.", remedy="End it, if nobody should get it.")
        rows = tx.scoped(caller.tenant_id).subscriptions
        renewed = rows.update(
            found.id,
            secret=_signing_secret(),
            old_secret=found.secret if wish.overlap_hours else "",
            old_secret_until=tx.now() + 3600.0 * wish.overlap_hours,
        )
        _tell(tx, renewed, "subscription.secret-renewed")
    return _show(renewed, secret=renewed.secret)


def unsubscribe(store: Store, caller: Caller, subscription_id: str) -> SubscriptionAnswer:
    """Send nothing there any more, for good. Raises ``NotFound``."""
    with store.write() as tx:
        found = _living(tx, caller, subscription_id)
        rows = tx.scoped(caller.tenant_id).subscriptions
        ended = rows.update(found.id, state=SubscriptionState.ENDED, secret="", old_secret="")
        _tell(tx, ended, "subscription.ended")
    return _show(ended)


def _check_application(tx: Transaction, caller: Caller, application_id: str) -> None:
    """Raise ``NotFound`` where the caller may not look at an application."""
    if not is_told_of(tx, caller.user_id, caller.tenant_id, application_id):
        tx.scoped(caller.tenant_id).applications.get(application_id)


def _living(tx: Transaction, caller: Caller, subscription_id: str) -> Subscription:
    found = tx.scoped(caller.tenant_id).subscriptions.get(subscription_id)
    if found.state == SubscriptionState.ENDED:
        raise NotFound("This subscription is ended.", where=subscription_id)
    return found


def _tell(tx: Transaction, subscription: Subscription, kind: str) -> None:
    """Keep in the audit who is told elsewhere."""
    about = {"way": subscription.way, "host": host_of(subscription)}
    tx.events.append(kind, subscription.id, about, subscription.tenant_id)


def host_of(subscription: Subscription) -> str:
    """Return where messages go; whole addresses of webhooks are secrets, which owners alone see."""
    if subscription.way == SubscriptionWay.MAIL:
        return subscription.address.rpartition("@")[2]
    return urlsplit(subscription.address).hostname or ""


def _check_address(settings: Settings, wish: NewSubscription) -> None:
    if wish.way == SubscriptionWay.MAIL:
        _check_mail(settings, wish.address)
        return
    parts = check_web_address(wish.address)
    check_written(str(parts.hostname), trusted_hosts(settings.outgoing_hosts))


def _check_mail(settings: Settings, address: str) -> None:
    if not settings.smtp_url:
        raise Conflict(
            "This easeml sends no mail.",
            where="way",
            remedy="Ask who runs it to set smtp_url, or take a webhook.",
        )
    if not _MAIL_ADDRESS.fullmatch(address):
        raise InvalidInput(
            f"{address!r} is not a mail address.", where="address", remedy="Such as ann@lab.org."
        )


def _checked_kinds(kinds: list[str]) -> list[str]:
    groups = {kind.partition(".")[0] for kind in KINDS}
    known = sorted(groups | set(KINDS))
    unknown = list(filterfalse(known.__contains__, kinds))
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise InvalidInput(
            f"There is no kind of notification {unknown[0]!r}.",
            where="kinds",
            remedy=f"{hint}There are: {', '.join(known)}.",
        )
    return list(dict.fromkeys(kinds))


def _checked_quiet(wish: NewSubscription) -> list[int]:
    if not wish.quiet:
        return []
    if wish.way != SubscriptionWay.MAIL:
        raise InvalidInput("Only mail has quiet hours.", where="quiet")
    if len(set(wish.quiet)) != 2 or not _HOURS.issuperset(wish.quiet):
        raise InvalidInput(
            "Quiet hours are two different hours of the day, from 0 to 23.",
            where="quiet",
            remedy="[22, 7] is from ten in the evening until seven.",
        )
    return wish.quiet


def _signing_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _code() -> str:
    return secrets.token_hex(_CODE_BYTES).upper()


def _show(one: Subscription, secret: str = "") -> SubscriptionAnswer:
    is_failing = one.state == SubscriptionState.ACTIVE and one.failures > 0
    return SubscriptionAnswer(
        id=one.id,
        way=one.way,
        address=one.address,
        kinds=one.kinds,
        application_id=one.application_id,
        quiet=one.quiet,
        state=one.state,
        secret=secret,
        failures=one.failures,
        error=one.error,
        next_try=one.next_try if is_failing else None,
        last_sent=one.last_sent or None,
        created=one.created,
    )

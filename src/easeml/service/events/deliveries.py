"""What is to be sent elsewhere now, and what came of it.

Each subscription has the number of the last event that it was sent: so nothing is lost by a killed
process, everything comes in order, and what was sent as a process died may come twice.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from easeml.contract.notifications import Notification
from easeml.contract.states import MemberRole, SubscriptionState, SubscriptionWay
from easeml.service.events import notifications, subscriptions
from easeml.service.events.subscriptions import NO_FAILURE
from easeml.store import Store, Transaction
from easeml.store.records import Subscription

_SECONDS_BETWEEN_MAILS = 600.0
_MOST_AT_ONCE = 50
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 3600.0  # seconds before another try; doubles each time
_GIVEN_UP_AFTER = 3 * 86400.0  # seconds of failures
_LONGEST_ERROR = 500  # characters


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one subscription is to be sent: notifications, or the code that confirms its address.

    ``seq``: of the newest event that was looked at for it.
    """

    subscription: Subscription
    notifications: tuple[Notification, ...] = ()
    code: str = ""
    seq: int = 0


def due(store: Store) -> list[Delivery]:
    """Return what is to be sent now; of each subscription the oldest 50.

    A delivery with neither notifications nor a code has nothing to send: its events are to be
    noted as sent, so that the next are looked at.
    """
    with store.read() as tx:
        now = tx.now()
        open_states = [SubscriptionState.ACTIVE, SubscriptionState.UNCONFIRMED]
        found = tx.unscoped().subscriptions.list(state=open_states, limit=None)
        waiting = [one for one in found if one.next_try <= now]
        deliveries = [_delivery(tx, one, now) for one in waiting]
    return list(filter(None, deliveries))


def note_sent(store: Store, subscription: Subscription, seq: int) -> None:
    """Keep that everything up to event ``seq`` has arrived."""
    with store.write() as tx:
        rows = tx.unscoped().subscriptions
        now = tx.now()
        is_mail = subscription.way == SubscriptionWay.MAIL
        next_try = now + _SECONDS_BETWEEN_MAILS if is_mail else 0.0
        rows.update(subscription.id, seq=seq, last_sent=now, **{**NO_FAILURE, "next_try": next_try})


def note_passed_over(store: Store, subscription: Subscription, seq: int) -> None:
    """Keep that of the events up to ``seq`` none was for this subscription."""
    with store.write() as tx:
        tx.unscoped().subscriptions.update(subscription.id, seq=seq)


def note_code_sent(store: Store, subscription: Subscription) -> None:
    """Keep that the code was mailed; it is mailed once."""
    with store.write() as tx:
        rows = tx.unscoped().subscriptions
        rows.update(subscription.id, last_sent=tx.now(), **NO_FAILURE)


def note_failed(store: Store, subscription: Subscription, error: str) -> None:
    """Keep that nothing arrived: it is tried again later, and given up after three days."""
    with store.write() as tx:
        rows = tx.unscoped().subscriptions
        now = tx.now()
        known = rows.get(subscription.id)
        since = known.failing_since or now
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(known.failures, 20))
        is_over = now - since >= _GIVEN_UP_AFTER
        state = SubscriptionState.PAUSED if is_over else known.state
        error = error[:_LONGEST_ERROR]
        rows.update(
            known.id,
            state=state,
            failures=known.failures + 1,
            failing_since=since,
            next_try=now + pause,
            error=error,
        )
        if is_over:
            about = {"host": subscriptions.host_of(known), "error": error}
            tx.events.append("subscription.paused", known.id, about, known.tenant_id)


def _delivery(tx: Transaction, one: Subscription, now: float) -> Delivery | None:
    if not _may_still_hear(tx, one):
        return None
    if one.state == SubscriptionState.UNCONFIRMED:
        return _code(one)
    if _is_quiet(one, now):
        return None
    found, last = notifications.following(
        tx, one.user_id, one.tenant_id, _kinds(one), after=one.seq, limit=_MOST_AT_ONCE
    )
    if last == one.seq:
        return None
    wanted = tuple(note for note in found if _is_wanted(one, note))
    return Delivery(one, wanted, seq=last)


def _code(one: Subscription) -> Delivery | None:
    """Return the code that confirms an address, which is sent once."""
    if one.last_sent:
        return None
    return Delivery(one, code=one.secret)


def _may_still_hear(tx: Transaction, one: Subscription) -> bool:
    """Tell whether who asked for it is still an owner of the tenant."""
    user = tx.users.find(id=one.user_id, archived=False, removed=False)
    if user is None:
        return False
    memberships = tx.scoped(one.tenant_id).memberships
    return memberships.find(user_id=user.id, role=MemberRole.OWNER) is not None


def _kinds(one: Subscription) -> list[str]:
    """Return the whole names of the kinds that a subscription asks for, and its tests."""
    if not one.kinds:
        return [*notifications.KINDS, subscriptions.TEST]
    asked = set(one.kinds)
    chosen = [kind for kind in notifications.KINDS if asked & {kind, kind.partition(".")[0]}]
    return [*chosen, subscriptions.TEST]


def _is_wanted(one: Subscription, note: Notification) -> bool:
    if note.kind == subscriptions.TEST:
        return note.subject == one.id
    return not one.application_id or note.subject == one.application_id


def _is_quiet(one: Subscription, now: float) -> bool:
    if not one.quiet:
        return False
    begin, end = one.quiet
    hour = datetime.fromtimestamp(now, UTC).hour
    return (hour - begin) % 24 < (end - begin) % 24  # hours since it began, also past midnight

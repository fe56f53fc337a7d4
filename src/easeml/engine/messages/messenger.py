"""The messenger: sends notifications elsewhere, off the path of requests and decisions."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import structlog

from easeml.contract.states import SubscriptionWay
from easeml.errors import EasemlError
from easeml.fetching.guard import trusted_hosts
from easeml.service.events import deliveries
from easeml.service.events.deliveries import Delivery
from easeml.settings import Settings
from easeml.store import Store

from .mail import Mail, home_page, mail_of
from .webhooks import Webhooks

LEASE = "messenger"
_EVERY = 1.0  # seconds between looks
_AT_ONCE = 4  # addresses
_TURN = 10.0  # seconds after which an address waits for the next look with what is left
_log = structlog.get_logger()


class Messenger:
    """Sends what is due, where it holds the lease: of several schedulers one sends.

    An address that is slow or does not answer holds up others for seconds only: each has a turn.
    """

    def __init__(self, store: Store, settings: Settings, holder: str):
        self._store = store
        self._holder = holder
        self._lease_seconds = settings.lease_seconds
        own_hosts = trusted_hosts(settings.outgoing_hosts)
        self._webhooks = Webhooks(home_page(settings), own_hosts)
        self._mail = mail_of(settings)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="messenger", daemon=True)

    def start(self) -> None:
        """Send from now on, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Send nothing more; what is being sent may still arrive, and be sent again."""
        self._ended.set()
        self._thread.join(timeout=_EVERY)
        self._webhooks.close()

    def send_due(self) -> int:
        """Send what is due; returns how many subscriptions that was. Nothing without the lease."""
        found = deliveries.due(self._store)
        if not (found and self._leads()):
            return 0
        # The other side may have sent them while it still had the lease.
        found = deliveries.due(self._store)
        with ThreadPoolExecutor(_AT_ONCE, "messenger") as pool:
            list(pool.map(self._deliver, found))
        return len(found)

    def _leads(self) -> bool:
        with self._store.write() as tx:
            return tx.leases.acquire(LEASE, self._holder, self._lease_seconds) is not None

    def _run(self) -> None:
        while not self._ended.wait(_EVERY):
            try:
                self.send_due()
            except Exception:
                # Whatever it is, messages are not worth the scheduler; the next look tries again.
                _log.exception("messages could not be sent")

    def _deliver(self, delivery: Delivery) -> None:
        subscription = delivery.subscription
        try:
            self._send(delivery)
        except EasemlError as error:
            deliveries.note_failed(self._store, subscription, str(error))
        except Exception:
            # It would come again with each look: it has to wait as well.
            _log.exception("a message could not be sent", subscription=subscription.id)
            deliveries.note_failed(self._store, subscription, "Something went wrong inside easeml.")

    def _send(self, delivery: Delivery) -> None:
        one = delivery.subscription
        if one.way == SubscriptionWay.WEBHOOK:
            self._post_each(delivery)
        elif delivery.code:
            self._mailing().send_code(one.address, delivery.code)
            deliveries.note_code_sent(self._store, one)
            return
        elif delivery.notifications:
            self._mailing().send_notes(one.address, delivery.notifications)
            deliveries.note_sent(self._store, one, delivery.seq)
        if not delivery.notifications:
            deliveries.note_passed_over(self._store, one, delivery.seq)

    def _post_each(self, delivery: Delivery) -> None:
        one = delivery.subscription
        ends = time.monotonic() + _TURN
        for note in delivery.notifications:
            if time.monotonic() > ends or not self._leads():
                return
            with self._store.read() as tx:
                now = tx.now()
            self._webhooks.post(one.address, one.secrets_at(now), note, now)
            deliveries.note_sent(self._store, one, note.seq)

    def _mailing(self) -> Mail:
        if self._mail is None:
            raise EasemlError("This easeml sends no mail any more.", where="smtp_url")
        return self._mail

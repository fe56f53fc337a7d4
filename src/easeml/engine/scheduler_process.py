"""The process of a scheduler: it leads, or stands by, until it is asked to stop."""

import time

from easeml.contract.states import ProcessKind
from easeml.modules import load_registry
from easeml.search import policy_named
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.optimizers import optimizer_of
from easeml.settings import Settings
from easeml.store import Store

from .fork_server import import_early
from .logs import configure_logging
from .membership import HEARTBEAT_SECONDS, beat, register, sign_off
from .messages.messenger import Messenger
from .retaining import Retaining
from .scheduler import Scheduler
from .signals import Stop
from .tracking.reporter import reporter_of

IMPORTS = ("scipy.stats",)  # early, or the first search waits for it, and all writers with it
_LONGEST_WAIT = 0.2  # seconds until a stop signal is noticed
# Between looks that nothing asked for: for work that was lost, for a lease to take.
_ROUND_SECONDS = 1.0


def run_scheduler(settings: Settings) -> None:
    """Lead, or stand by to lead, until SIGTERM or SIGINT."""
    configure_logging("scheduler", has_file=True)
    stop = Stop.on_signals()
    store = Store.found(settings)
    process = register(store, ProcessKind.SCHEDULER)
    import_early(IMPORTS)
    policy = policy_named(settings.policy)
    with store.read() as tx:
        optimizer = optimizer_of(knowledge_base.current(tx), settings.optimizer)
    scheduler = Scheduler(
        store,
        load_registry(),
        policy,
        settings.lease_seconds,
        process.id,
        optimizer,
        settings,
    )
    wakeup = store.wakeup()
    messenger = Messenger(store, settings, process.id)
    messenger.start()
    retaining = Retaining(store, settings, process.id)
    retaining.start()
    reporter = reporter_of(store, settings, process.id)
    if reporter is not None:
        reporter.start()
    beat_seconds = min(HEARTBEAT_SECONDS, settings.lease_seconds / 3)
    try:
        next_beat = next_round = 0.0
        changed = True
        while not stop.asked:
            if time.monotonic() >= next_beat:
                with store.write() as tx:
                    beat(tx, process.id)
                next_beat = time.monotonic() + beat_seconds
            if time.monotonic() >= next_round:
                scheduler.keep_house()
                next_round = time.monotonic() + _ROUND_SECONDS
                changed = True
            if changed:
                scheduler.step()
            changed = wakeup.wait(_LONGEST_WAIT) and scheduler.has_news()
    finally:
        messenger.close()
        retaining.close()
        if reporter is not None:
            reporter.close()
        wakeup.close()
        scheduler.step_down()
        sign_off(store, process.id)
        store.close()

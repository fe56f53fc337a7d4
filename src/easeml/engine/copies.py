"""What a machine keeps of a bucket goes when the bucket has it no more: erased rows, above all."""

import threading

import structlog

from easeml.errors import EasemlError
from easeml.store import ArtefactStore

_EVERY = 3600.0  # seconds
_log = structlog.get_logger()


def look_after(artefacts: ArtefactStore) -> None:
    """Look every hour, first of all at once, in a thread of its own."""
    threading.Thread(target=_look_for_ever, args=(artefacts,), name="copies", daemon=True).start()


def _look_for_ever(artefacts: ArtefactStore) -> None:
    waiting = threading.Event()
    while True:
        try:
            dropped = artefacts.drop_gone_copies()
            if dropped:
                _log.info("copies dropped", files=dropped)
        except (EasemlError, OSError) as error:  # the next look tries again
            _log.info("copies not looked after", error=str(error))
        waiting.wait(_EVERY)

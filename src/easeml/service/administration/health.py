"""Whether the service can keep what it is told: its database, its disk, its folder of files."""

import shutil
import time
from collections.abc import Callable
from threading import Lock

from easeml.contract.status import Health
from easeml.errors import EasemlError
from easeml.settings import Settings
from easeml.store import Store

LEAST_FREE = 64 * 2**20  # bytes: below this the next model may not fit any more
_STORAGE_SECONDS = 5.0  # how long a look at the disk is good for
_PAGES_SECONDS = 300.0  # reading every page of the database takes longer


class HealthCheck:
    """Looks at the storage when it is asked, but not more often than that helps.

    Anyone may ask: problems name neither paths nor tenants.
    """

    def __init__(
        self, store: Store, settings: Settings, clock: Callable[[], float] = time.monotonic
    ):
        self._store = store
        self._settings = settings
        self._clock = clock
        self._lock = Lock()
        self._checks = [
            _Remembered(self._check_database, _STORAGE_SECONDS),
            _Remembered(self._check_pages, _PAGES_SECONDS),
            _Remembered(self._check_folder, _STORAGE_SECONDS),
            _Remembered(self._check_space, _STORAGE_SECONDS),
        ]

    def ask(self) -> Health:
        """Return what is wrong now."""
        with self._lock:
            found = [check.problem(self._clock()) for check in self._checks]
        problems = list(dict.fromkeys(filter(None, found)))
        return Health(status="failing" if problems else "ok", problems=problems)

    def _check_database(self) -> None:
        with self._store.read() as tx:
            tx.now()

    def _check_pages(self) -> None:
        self._store.check_integrity()

    def _check_folder(self) -> None:
        self._store.artefacts.check_writable()

    def _check_space(self) -> None:
        try:
            free = shutil.disk_usage(self._settings.artefacts).free
        except OSError:
            return  # a folder that is missing is told of by the check that writes to it
        if free < LEAST_FREE:
            raise EasemlError(
                f"The disk is nearly full: {free / 2**20:.0f} MiB are free.",
                remedy="The provider has to free space, or move the home to a larger disk.",
            )


class _Remembered:
    """One check, and what it found in the last ``seconds``."""

    def __init__(self, check: Callable[[], None], seconds: float):
        self._check = check
        self._seconds = seconds
        self._due = float("-inf")
        self._problem = ""

    def problem(self, now: float) -> str:
        """Return the problem in a sentence, or nothing."""
        if now < self._due:
            return self._problem
        self._due = now + self._seconds
        self._problem = ""
        try:
            self._check()
        except EasemlError as error:
            self._problem = f"{error.message} {error.remedy}".strip()
        return self._problem

"""Tells an MLflow tracking server of runs, off the path of decisions and results."""

import threading
import time

import structlog

from easeml.errors import Unreachable
from easeml.service.search import finished_runs
from easeml.service.search.finished_runs import FinishedRun
from easeml.settings import Settings
from easeml.store import Store

from .mlflow_server import SEQ, MlflowServer

LEASE = "tracking"
_EVERY = 1.0  # seconds between looks
_FIRST_PAUSE, _LONGEST_PAUSE = 2.0, 60.0  # seconds until a server that is away is asked again
_BOOK = "easeml"  # the experiment whose tag says how far the server was told
_log = structlog.get_logger("easeml.tracking")


class Reporter:
    """Tells a server of each run that ends after this is made for the first time, in order and once.

    How far it came is kept in the server itself. One that is away is told later what it missed; of
    several schedulers the one with the lease tells.
    """

    def __init__(self, store: Store, server: MlflowServer, holder: str, lease_seconds: float):
        self._store = store
        self._server = server
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._experiments: dict[str, str] = {}
        self._book = ""
        self._begin = finished_runs.newest(store)
        self._seq: int | None = None
        self._pause = 0.0
        self._not_before = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tracking", daemon=True)

    def start(self) -> None:
        """Tell from now on, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """Tell nothing more; what is being told may be told again."""
        self._ended.set()
        self._thread.join(timeout=_EVERY)
        self._server.close()

    def report(self) -> int:
        """Tell what is new; returns how many runs that were. Raises ``Unreachable``."""
        if self._seq is not None and self._seq == finished_runs.newest(self._store):
            return 0
        if not self._leads():
            self._seq = None  # whoever leads meanwhile goes on from what the server knows
            return 0
        if self._seq is None:
            self._seq = self._known_by_server()
        runs, seq = finished_runs.ended_after(self._store, self._seq)
        for run in runs:
            self._server.add_run(self._experiment_of(run), run)
            self._note(run.seq)
        self._seq = seq
        return len(runs)

    def _known_by_server(self) -> int:
        """Return the newest event that the server was told; where it knows none, that of the start."""
        self._book = self._server.experiment(_BOOK, {})
        known = self._server.tag_of(self._book, SEQ)
        if known.isdecimal():
            return int(known)
        self._note(self._begin)
        return self._begin

    def _note(self, seq: int) -> None:
        self._server.set_tag(self._book, SEQ, str(seq))
        self._seq = seq

    def _experiment_of(self, run: FinishedRun) -> str:
        if run.application_id not in self._experiments:
            tags = {"easeml.application_id": run.application_id}
            found = self._server.experiment(run.experiment, tags)
            self._experiments[run.application_id] = found
        return self._experiments[run.application_id]

    def _leads(self) -> bool:
        with self._store.write() as tx:
            return tx.leases.acquire(LEASE, self._holder, self._lease_seconds) is not None

    def _run(self) -> None:
        while not self._ended.wait(_EVERY):
            if time.monotonic() < self._not_before:
                continue
            try:
                self.report()
                if self._pause:
                    _log.info("MLflow answers again", host=self._server.host)
                self._pause = 0.0
            except Unreachable as error:
                self._wait(str(error))
            except Exception:  # whatever it is, a picture elsewhere is not worth the scheduler
                _log.exception("runs could not be told to MLflow")
                self._wait("")

    def _wait(self, error: str) -> None:
        """Ask less and less often; the log tells it at the first time."""
        self._experiments.clear()  # it may be another server, or one that lost them
        if not self._pause:
            _log.warning("MLflow is not told of runs for now", error=error)
        self._pause = min(_LONGEST_PAUSE, 2 * self._pause or _FIRST_PAUSE)
        self._not_before = time.monotonic() + self._pause


def reporter_of(store: Store, settings: Settings, holder: str) -> Reporter | None:
    """Return who tells the server of the settings; None where they name none.

    Raises ``InvalidInput`` for an address that is none.
    """
    if not settings.mlflow_tracking_uri:
        return None
    server = MlflowServer(settings.mlflow_tracking_uri)
    return Reporter(store, server, holder, settings.lease_seconds)

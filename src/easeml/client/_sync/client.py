# Made from ../_async/client.py by scripts/unasync.py: change that file, then run the script.
"""The client as users see it: every use case, and the waits between them."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self

import httpx

from easeml.client._sync.accounts import Accounts
from easeml.client._sync.applications import Applications
from easeml.client._sync.calls import M
from easeml.client._sync.datasets import Datasets
from easeml.client._sync.identities import Identities
from easeml.client._sync.operations import Operations
from easeml.client._sync.tasks import Tasks
from easeml.client._sync.transport import Transport
from easeml.client._sync.versions import Versions
from easeml.client.credentials import find_credentials
from easeml.client.timing import sleep
from easeml.client.waiting import Milestone, has_reached, is_done, is_ready
from easeml.contract.applications import Application
from easeml.contract.datasets import Version
from easeml.contract.task_views import Task
from easeml.errors import TimedOut, Unreachable

_POLL_SECONDS = (0.1, 1.0)  # the first wait between two looks, and the longest


class Client(
    Accounts,
    Identities,
    Datasets,
    Versions,
    Applications,
    Tasks,
    Operations,
):
    """A connection to an easeml service. Use it as a context manager, or close it.

    ``url`` and ``key`` default to ``EASEML_URL`` and ``EASEML_API_KEY``, then to what ``easeml
    login`` saved. ``timeout``: seconds without an answer to a request. ``retries``: further
    attempts at what may be repeated.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        found = find_credentials(url, key)
        self._transport = Transport(
            found.url, found.key, timeout=timeout, retries=retries, transport=transport
        )

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._transport.url

    def wait_version_ready(self, version_id: str, *, timeout: float | None = None) -> Version:
        """Wait until a version is ingested. Raises InvalidInput saying why it failed, TimedOut."""
        patience = _Patience(f"Version {version_id} is still being ingested", timeout)
        path = f"/versions/{version_id}"
        return self._seen_until(is_ready, Version, path, patience)

    def wait_task(
        self,
        task_id: str,
        *,
        timeout: float | None = None,
        on_look: Callable[[Task], None] | None = None,
    ) -> Task:
        """Wait until a task is done. Raises Conflict saying why it failed, TimedOut.

        ``on_look`` is given the task as it is at each look.
        """
        patience = _Patience(f"Task {task_id} is not done yet", timeout)
        path = f"/tasks/{task_id}"
        return self._seen_until(is_done, Task, path, patience, on_look)

    def wait(
        self,
        application_id: str,
        *,
        until: Literal["first-model", "converged"] = "first-model",
        timeout: float | None = None,
        on_look: Callable[[Application], None] | None = None,
    ) -> Application:
        """Wait until an application has its first model, or until its search rests or was stopped.

        ``timeout`` in seconds; None waits without end. A service that is away for half a minute is
        waited for. ``on_look`` is given the application as it is at each look. Raises TimedOut, which
        says why nothing runs, Conflict where it can no longer happen, Unreachable.
        """
        milestone = Milestone(until)
        patience = _Patience(f"Application {application_id} is not there yet ({until})", timeout)

        def is_there(application: Application) -> bool:
            patience.why = application.job.waiting_reason if application.job else ""
            return has_reached(application, milestone)

        path = f"/applications/{application_id}"
        return self._seen_until(is_there, Application, path, patience, on_look)

    def _seen_until(
        self,
        is_over: Callable[[M], bool],
        model: type[M],
        path: str,
        patience: "_Patience",
        on_look: Callable[[M], None] | None = None,
    ) -> M:
        """Look at a thing until the wait for it is over, and return it as it is then."""
        while True:
            try:
                seen = self._get(model, path)
            except (Unreachable, TimedOut) as error:
                patience.why = ""  # what was seen before says nothing of now
                patience.wait(error)
                continue
            if is_over(seen):
                return seen
            if on_look is not None:
                on_look(seen)
            patience.wait()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Patience:
    """Waits longer and longer between two looks, until it is enough.

    ``why``: it takes so long, in a sentence; may be empty.
    """

    _AWAY_SECONDS = 30.0

    def __init__(self, what: str, timeout: float | None) -> None:
        self.why = ""
        self._what = what
        self._timeout = timeout
        self._start = time.monotonic()
        self._away_since: float | None = None
        self._delay = _POLL_SECONDS[0]

    def wait(self, unreachable: Unreachable | TimedOut | None = None) -> None:
        """Sleep till the next look. Raises TimedOut, or what is given after half a minute of it."""
        now = time.monotonic()
        if unreachable is None:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = now
        elif now - self._away_since > self._AWAY_SECONDS:
            raise unreachable
        left = float("inf") if self._timeout is None else self._timeout - (now - self._start)
        if left <= 0:
            message = f"{self._what} after {self._timeout:g} s. {self.why}".strip()
            raise TimedOut(message, remedy="Wait on, or ask for its state.")
        sleep(min(self._delay, left))
        self._delay = min(self._delay * 1.5, _POLL_SECONDS[1])

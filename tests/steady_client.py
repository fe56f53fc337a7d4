"""A client that asks for the same predictions all the time, and keeps count of what it was told."""

import threading
import time
from collections import Counter
from types import TracebackType

import httpx

from service_process import EasemlProcess

_SECONDS = 60.0  # of patience with one answer
_PACE = 0.04  # seconds between an answer and the next question
_ANEW = httpx.Limits(max_keepalive_connections=0)  # a connection for each question


class SteadyClient:
    """Asks from two threads, 25 times a second each: on a connection that is kept, and on a new
    one each time.

    ``wrong``: all that is not the first answer; ``longest``: seconds of the longest wait;
    ``versions``: how many answers each version of the service gave.
    """

    def __init__(self, service: EasemlProcess, application: str, rows: bytes):
        """``rows``: a table as CSV."""
        self._url = f"{service.url}/api/v1/applications/{application}/predict"
        self._rows = rows
        self._headers = {"Authorization": f"Bearer {service.key}", "Content-Type": "text/csv"}
        self._over = threading.Event()
        self._answered = threading.Condition()
        with httpx.Client() as client:
            self._right = self._ask(client).json()["predictions"]
        self.wrong: list[str] = []
        self.longest = 0.0
        self.versions: Counter[str] = Counter()

    def __enter__(self) -> "SteadyClient":
        clients = (httpx.Client(), httpx.Client(limits=_ANEW))
        self._threads = [
            threading.Thread(target=self._keep_asking, args=(client,), daemon=True)
            for client in clients
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def wait_for_version(self, version: str, seconds: float, answers: int = 1) -> None:
        """Return once this version gave so many answers.

        Raises ``AssertionError`` if it does not in time.
        """
        with self._answered:
            is_enough = self._answered.wait_for(lambda: self.versions[version] >= answers, seconds)
        assert is_enough, self.versions

    def _keep_asking(self, client: httpx.Client) -> None:
        with client:
            while not self._over.wait(_PACE):
                self._note(client)

    def _ask(self, client: httpx.Client) -> httpx.Response:
        return client.post(self._url, content=self._rows, headers=self._headers, timeout=_SECONDS)

    def _note(self, client: httpx.Client) -> None:
        began = time.monotonic()
        try:
            answer = self._ask(client)
            right = answer.is_success and answer.json()["predictions"] == self._right
            fault = "" if right else f"{answer.status_code} {answer.text}"
            version = answer.headers.get("x-easeml-version", "")
        except httpx.HTTPError as error:
            fault, version = repr(error), ""
        with self._answered:
            self.longest = max(self.longest, time.monotonic() - began)
            self.versions[version] += 1
            self.wrong += [fault] if fault else []
            self._answered.notify_all()

"""What the controller looked up in the database about who may do what, remembered for a moment."""

import asyncio
import math
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

SECONDS = 1.0  # how long what another controller changed is not seen here
RENEW_SECONDS = 0.5
_MOST = 10_000
_THREADS = 4  # look-ups at once: they are short


def own_threads() -> Executor:
    """Return threads for look-ups alone: those that other work shares may all wait for bytes.

    They take what waits by themselves. To hand a thread on by the event loop, as ``anyio`` does,
    takes a step of the loop each, which is long while thousands of connections begin.
    """
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="look-ups")


class _LookUp(NamedTuple, Generic[T]):
    """One under way, and when it began (of ``time.monotonic``)."""

    begun: float
    answer: "asyncio.Future[T]"


class Remembered(Generic[T]):
    """Answers of look-ups by key, each for a second; one event loop at a time may ask.

    Look-ups run in ``threads`` (see ``own_threads``). Who asks for the same meanwhile joins the one
    that is under way. What is in steady use is looked up again before its second is over, beside
    the requests, so that none waits for it.
    """

    def __init__(self, threads: Executor, seconds: Callable[[T], float] = lambda answer: SECONDS):
        """``seconds``: how long an answer counts, from when its look-up began."""
        self._threads = threads
        self._seconds = seconds
        self._known: dict[Hashable, tuple[float, T]] = {}
        self._under_way: dict[Hashable, _LookUp[T]] = {}

    async def get(self, key: Hashable, look: Callable[[], T]) -> T:
        """Return the answer of ``look``, called in a thread or remembered; raises what it raises."""
        begun, answer = self._known.get(key, (-math.inf, None))
        age = time.monotonic() - begun
        if answer is None or age >= self._seconds(answer):
            return await asyncio.shield(self._asked(key, look))  # others may have joined
        if age >= RENEW_SECONDS:
            self._asked(key, look)
        return answer

    def forget(self) -> None:
        """Look up everything anew: who asks from now on joins nothing that began before."""
        self._known.clear()
        self._under_way.clear()

    def _asked(self, key: Hashable, look: Callable[[], T]) -> "asyncio.Future[T]":
        """Return the look-up of a key, begun now unless one is under way since a moment."""
        now = time.monotonic()
        loop = asyncio.get_running_loop()
        begun, answer = self._under_way.get(key, (-math.inf, None))
        # One of a loop that has ended answers nobody.
        if answer is not None and now - begun < SECONDS and answer.get_loop() is loop:
            return answer
        answer = loop.run_in_executor(self._threads, look)
        self._under_way[key] = _LookUp(now, answer)
        answer.add_done_callback(partial(self._keep, key))
        return answer

    def _keep(self, key: Hashable, answer: "asyncio.Future[T]") -> None:
        """Remember an answer, unless it was forgotten or overtaken while it was looked up."""
        has_failed = answer.cancelled() or answer.exception() is not None
        look_up = self._under_way.get(key)
        if look_up is None or look_up.answer is not answer:
            return
        del self._under_way[key]
        if has_failed:
            self._known.pop(key, None)  # the next request looks for itself, and learns why
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = look_up.begun, answer.result()

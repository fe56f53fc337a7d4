"""An endpoint as a controller sees it: the connections over which it is asked, and its load."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from operator import attrgetter

import structlog

from easeml.engine.serving.frames import Header
from easeml.engine.serving.lines import STALLED_SECONDS, Line
from easeml.engine.serving.load import Load

log = structlog.get_logger()

Reply = tuple[Header, bytes]
"""Head and body of an answer."""


class Endpoint:
    """Asks the least busy of the predictors that answer for an application."""

    def __init__(self, application: str):
        self.wants_more = False
        self._application = application
        self._lines: list[Line] = []  # that may be asked, the oldest first
        self._load = Load()
        self._told = 1  # predictors, as the log says

    def add(self, line: Line) -> None:
        """Ask a predictor, too, until its connection ends."""
        self._lines.append(line)
        line.when_over(self._lines.remove)

    @property
    def predictors(self) -> list[str]:
        """The ids of those that answer."""
        return [line.place.process for line in self._lines]

    @property
    def is_idle(self) -> bool:
        """Does nobody wait for an answer?"""
        return self._busy() == 0

    @property
    def others(self) -> list[Line]:
        """The connections to other machines."""
        return [line for line in self._lines if line.place.certificate]

    @property
    def needs_places(self) -> bool:
        """Does it matter where predictors are?"""
        return self.wants_more or bool(self.others)

    def least_busy(self) -> Line | None:
        """Return the connection to ask next, of equals the oldest; None where there is none."""
        return min(self._lines, key=attrgetter("busyness"), default=None)

    async def answer(self, line: Line, request: bytes) -> Reply:
        """Return the answer of a predictor; where it may be stalled, of another if that is first.

        Raises ``OSError`` where their connections end before.
        """
        self._load.note(line.oldest_wait)
        answer = line.ask(request)
        if len(self._lines) == 1:
            return await answer
        await asyncio.wait([answer], timeout=STALLED_SECONDS)
        beside = set(self._lines) - {line}
        if answer.done() or not beside:
            return await answer
        second = min(beside, key=attrgetter("busyness"))
        return await _first_of(answer, second.ask(request))

    def look(self) -> None:
        """Decide, once a second, whether more or fewer predictors should answer."""
        self._tell()
        change = self._load.change(len(self._lines), self._busy())
        others = self.others
        if change < 0:
            # Of this machine there are two while one takes over from another.
            (others or self._lines)[-1].close()
        own_is_away = 0 < len(others) == len(self._lines)
        self.wants_more = change > 0 or own_is_away

    def leave(self, there: Collection[str]) -> None:
        """Ask no machine that is silent: it may not know what it should serve."""
        for line in self.others:
            if line.place.process not in there:
                line.abort()

    def close(self) -> None:
        """Close all connections."""
        for line in self._lines.copy():
            line.abort()

    def _busy(self) -> int:
        return sum(map(attrgetter("is_busy"), self._lines))

    def _tell(self) -> None:
        count = max(1, len(self._lines))
        if count != self._told:
            log.info("predictors", application=self._application, predictors=count)
            self._told = count


async def _first_of(*answers: "asyncio.Future[Reply]") -> Reply:
    """Return the first answer that comes. Raises ``OSError`` where none does."""
    try:
        for answer in asyncio.as_completed(answers):
            with suppress(OSError):
                return await answer
    finally:
        for answer in answers:
            answer.cancel()  # nobody waits for it any more
    raise ConnectionResetError("the serving processes ended")

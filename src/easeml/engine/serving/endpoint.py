"""An endpoint as a controller sees it: the connections over which it is asked, and its load."""

import asyncio
import time
from collections.abc import Collection, Mapping
from operator import attrgetter

import structlog

from easeml.engine.serving.backups import Backups
from easeml.engine.serving.frames import TAKEN_BACK, Header
from easeml.engine.serving.lines import STALLED_SECONDS, Line
from easeml.engine.serving.load import Load

log = structlog.get_logger()

Reply = tuple[Header, bytes]
"""Head and body of an answer."""

Asked = asyncio.Future[Reply]


class Endpoint:
    """Asks the least busy of the predictors that answer for an application."""

    def __init__(self, application: str):
        self.wants_more = False
        self._application = application
        self._lines: list[Line] = []  # that may be asked, the oldest first
        self._load = Load()
        self._backups = Backups()
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
        """Return the answer of a predictor; where it keeps us waiting, of another if that is first.

        Raises ``OSError`` where their connections end before.
        """
        self._load.note(line.oldest_wait)
        asked = line.ask(request)
        if len(self._lines) == 1:
            return await asked
        began = time.monotonic()
        answers = {asked: line}
        try:
            second = await self._second(line, asked)
            if second is not None:
                answers[second.ask(request)] = second
                self._backups.note_asked_twice()
            reply = await self._first_of(answers)
        finally:  # also where whoever asked goes away
            self._take_back(answers)
        self._backups.note_answer(time.monotonic() - began)
        return reply

    async def _second(self, line: Line, asked: Asked) -> Line | None:
        """Return whom else to ask, once one waits too long for a line; None where it answers.

        One that is idle is asked soon; after ``STALLED_SECONDS`` any will do.
        """
        deadline = time.monotonic() + STALLED_SECONDS
        while time.monotonic() < deadline:
            left = deadline - time.monotonic()
            await asyncio.wait([asked], timeout=min(left, self._backups.patience))
            if asked.done():
                return None
            second = self._beside(line)
            if second is not None and not second.is_busy and self._backups.may_ask:
                return second
        return self._beside(line)

    def _beside(self, line: Line) -> Line | None:
        """Return the least busy beside one; None where it is alone."""
        beside = set(self._lines) - {line}
        return min(beside, key=attrgetter("busyness"), default=None)

    async def _first_of(self, answers: Collection[Asked]) -> Reply:
        """Return the first answer that comes. Raises ``OSError`` where none comes."""
        waiting = set(answers)
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for answer in done:
                if answer.exception() is None:
                    return answer.result()
        raise ConnectionResetError("the serving processes ended")

    def _take_back(self, answers: Mapping[Asked, Line]) -> None:
        """Wait no longer for the answers that have not come."""
        waiting = [answer for answer in answers if not answer.done()]
        was_answered = len(waiting) < len(answers)
        for answer in waiting:
            answers[answer].take_back(answer)
            if was_answered:
                answer.add_done_callback(self._note_second)

    def _note_second(self, answer: Asked) -> None:
        """Note whether an answer that comes second, or not at all, took no time."""
        if answer.exception() is not None or answer.result()[0]["status"] == TAKEN_BACK:
            self._backups.note_spared()

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

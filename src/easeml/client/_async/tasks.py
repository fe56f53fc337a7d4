"""Tasks and events: read page by page, and as they happen; and whether the service is well."""

from collections.abc import AsyncIterator
from pathlib import Path

from easeml.client._async.calls import API, AsyncCalls
from easeml.client.sse import EventParser
from easeml.client.timing import async_sleep, backoff
from easeml.contract.evaluation import AttemptLog
from easeml.contract.resources import Page
from easeml.contract.status import Event
from easeml.contract.task_views import Task
from easeml.errors import EasemlError, Unreachable


class AsyncTasks(AsyncCalls):
    """What the service does: its tasks and its events."""

    async def task_log(
        self, task_id: str, *, attempt: int | None = None, offset: int = 0
    ) -> AttemptLog:
        """Return what an attempt (None: the newest) printed from byte ``offset`` on.

        Raises NotFound.
        """
        return await self._get(AttemptLog, f"/tasks/{task_id}/log", attempt=attempt, offset=offset)

    async def download_trace(
        self, task_id: str, path: str | Path, *, attempt: int | None = None
    ) -> None:
        """Write what an attempt (None: the newest traced) did into ``path``: Chrome's trace format.

        Raises NotFound, and InvalidInput where there is no folder to write into.
        """
        wanted = {"attempt": attempt}
        address = f"{API}/tasks/{task_id}/trace"
        await self._transport.save(address, Path(path), params=wanted)

    async def newest_tasks(
        self,
        *,
        job_id: str | None = None,
        state: str | None = None,
        kind: str | None = None,
        subject: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> Page[Task]:
        """Return one page of tasks, the newest first; send its ``next`` as ``after`` for older
        ones.

        Raises ``NotFound`` where there is no such job.
        """
        wanted = {
            "state": state,
            "kind": kind,
            "subject": subject,
            "after": after,
            "limit": limit,
        }
        path = f"/jobs/{job_id}/tasks" if job_id else "/tasks"
        return await self._get(Page[Task], path, newest_first=True, **wanted)

    def past_events(self, *, after: int | None = None) -> AsyncIterator[Event]:
        """Give the events so far, those after number ``after`` only, and end."""
        return self._list(Event, "/events/list", after=after)

    async def events(
        self, *, after: int | None = None, patience: float = 60.0
    ) -> AsyncIterator[Event]:
        """Give events as they happen, without end; a lost connection is taken up where it broke.

        ``after``: the number of the last event already known. Raises Unreachable when the service
        did not answer for about ``patience`` seconds.
        """
        last, failures, waited = after, 0, 0.0
        while True:
            parser = EventParser()
            headers, params = {}, {}
            if last is not None:
                headers["last-event-id"], params["after"] = str(last), last
            try:
                async for line in self._transport.lines(
                    f"{API}/events", params=params, headers=headers
                ):
                    failures = 0
                    waited = 0.0
                    event = parser.feed(line)
                    if event is not None:
                        last = event.seq
                        yield event
            except Unreachable:
                if waited >= patience:
                    raise
            delay = backoff(failures)
            failures, waited = failures + 1, waited + delay
            await async_sleep(delay)

    async def is_healthy(self) -> bool:
        """Tell whether the service answers that it is well; needs no key."""
        try:
            await self._transport.request("GET", "/healthz", repeatable=True)
        except EasemlError:
            return False
        return True

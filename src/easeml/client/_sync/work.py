# Made from ../_async/work.py by scripts/unasync.py: change that file, then run the script.
"""Jobs, tasks, decisions, events and the service itself."""

from collections.abc import Iterator
from datetime import datetime

from easeml.client._sync.calls import API, Calls
from easeml.client.answers import made_request
from easeml.client.sse import EventParser
from easeml.client.timing import backoff, sleep
from easeml.contract.evaluation import AttemptLog, TaskReport
from easeml.contract.progress import Progress
from easeml.contract.resources import (
    Decision,
    Event,
    Job,
    JobLimits,
    Page,
    Status,
    Task,
    TaskDetail,
)
from easeml.errors import EasemlError, Unreachable


class Work(Calls):
    """What the service does."""

    def job(self, job_id: str) -> Job:
        """Return a job. Raises NotFound."""
        return self._get(Job, f"/jobs/{job_id}")

    def jobs(self, *, application_id: str | None = None) -> Iterator[Job]:
        """Give all jobs of the tenant, or of one application, oldest first."""
        return self._list(Job, "/jobs", application_id=application_id)

    def progress(self, job_id: str, *, points: int = 1000) -> Progress:
        """Return the finished tasks of a job: what was better than before or went live, and about
        ``points`` others.

        Raises NotFound.
        """
        return self._get(Progress, f"/jobs/{job_id}/progress", points=points)

    def pause_job(self, job_id: str) -> Job:
        """Start nothing new for a job. Raises Conflict where its state does not allow it."""
        return self._send(Job, f"/jobs/{job_id}/pause")

    def resume_job(self, job_id: str) -> Job:
        """Go on with a paused job. Raises Conflict where its state does not allow it."""
        return self._send(Job, f"/jobs/{job_id}/resume")

    def stop_job(self, job_id: str) -> Job:
        """End a job for good; what it found stays.

        Raises Conflict where its state does not allow it.
        """
        return self._send(Job, f"/jobs/{job_id}/stop")

    def limit_job(
        self,
        job_id: str,
        *,
        max_tasks: int | None = None,
        max_seconds: float | None = None,
        deadline: datetime | None = None,
    ) -> Job:
        """Set what a job may use in all (None: no limit); a job that rests because of its limits
        may go on.

        Raises InvalidInput, Conflict for a job that has ended.
        """
        limits = made_request(
            JobLimits, max_tasks=max_tasks, max_seconds=max_seconds, deadline=deadline
        )
        return self._send(Job, f"/jobs/{job_id}/limits", limits.model_dump(mode="json"))

    def task(self, task_id: str) -> Task:
        """Return a task. Raises NotFound."""
        return self._get(Task, f"/tasks/{task_id}")

    def task_detail(self, task_id: str) -> TaskDetail:
        """Return what a task was told to do, and its attempts. Raises NotFound."""
        return self._get(TaskDetail, f"/tasks/{task_id}/detail")

    def task_report(self, task_id: str) -> TaskReport:
        """Return how the model of a training task does on validation rows, as far as it is known.

        Raises NotFound.
        """
        return self._get(TaskReport, f"/tasks/{task_id}/report")

    def task_log(self, task_id: str, *, attempt: int | None = None, offset: int = 0) -> AttemptLog:
        """Return what an attempt (None: the newest) printed from byte ``offset`` on.

        Raises NotFound.
        """
        return self._get(AttemptLog, f"/tasks/{task_id}/log", attempt=attempt, offset=offset)

    def tasks(
        self, *, job_id: str | None = None, state: str | None = None, kind: str | None = None
    ) -> Iterator[Task]:
        """Give the tasks of the tenant: of one job, in one state, of one kind."""
        return self._list(Task, "/tasks", job_id=job_id, state=state, kind=kind)

    def newest_tasks(
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
        """
        wanted = {
            "job_id": job_id,
            "state": state,
            "kind": kind,
            "subject": subject,
            "after": after,
            "limit": limit,
        }
        return self._get(Page[Task], "/tasks", newest_first=True, **wanted)

    def decisions(self, *, job_id: str | None = None) -> Iterator[Decision]:
        """Give what the scheduler decided, for all jobs of the tenant or one."""
        return self._list(Decision, "/decisions", job_id=job_id)

    def past_events(self, *, after: int | None = None) -> Iterator[Event]:
        """Give the events so far, those after number ``after`` only, and end."""
        return self._list(Event, "/events/list", after=after)

    def events(self, *, after: int | None = None, patience: float = 60.0) -> Iterator[Event]:
        """Give events as they happen, without end; a lost connection is taken up where it broke.

        ``after``: the number of the last event already known. Raises Unreachable when the service
        did not answer for about ``patience`` seconds.
        """
        last, failures, waited = after, 0, 0.0
        while True:
            parser = EventParser()
            headers = {} if last is None else {"last-event-id": str(last)}
            params = {} if last is None else {"after": last}
            try:
                for line in self._transport.lines(f"{API}/events", params=params, headers=headers):
                    failures, waited = 0, 0.0
                    event = parser.feed(line)
                    if event is not None:
                        last = event.seq
                        yield event
            except Unreachable:
                if waited >= patience:
                    raise
            delay = backoff(failures)
            failures, waited = failures + 1, waited + delay
            sleep(delay)

    def status(self) -> Status:
        """Return the service in a few numbers."""
        return self._get(Status, "/status")

    def is_healthy(self) -> bool:
        """Tell whether the service answers that it is well; needs no key."""
        try:
            self._transport.request("GET", "/healthz", repeatable=True)
        except EasemlError:
            return False
        return True

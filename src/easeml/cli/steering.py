"""``task cancel``, ``task retry``, ``task trace``, ``task fetch`` and ``job limit``."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli import long_files
from easeml.cli.named_applications import application_or
from easeml.cli.options import Json, KeepFormulas, exactly_one, given
from easeml.cli.output import moment, print_done, say
from easeml.client import Client
from easeml.contract.jobs import Job
from easeml.errors import Conflict, InvalidInput

TaskId = Annotated[str, typer.Argument(metavar="ID", help="Id of the task.")]
WorkId = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="Id of the job, or id or name of its application.",
        callback=application_or("job"),
    ),
]
_TRACED = {True: "traced from now on", False: "traced no more"}


def add_to(tasks: typer.Typer, jobs: typer.Typer) -> None:
    """Add the commands to ``task`` and ``job``."""
    tasks.command()(cancel)
    tasks.command()(retry)
    tasks.command()(trace)
    tasks.command()(fetch)
    jobs.command()(limit)


def cancel(task_id: TaskId, as_json: Json = False) -> None:
    """End a task that waits or runs."""
    with Client() as client:
        task = client.cancel_task(task_id)
    print_done(task, f"{task.id} is {task.state}.", as_json=as_json)


def retry(task_id: TaskId, as_json: Json = False) -> None:
    """Repeat a task that failed or was cancelled."""
    with Client() as client:
        task = client.retry_task(task_id)
    print_done(task, f"{task.id} takes its place, and is {task.state}.", as_json=as_json)


def trace(
    task_id: TaskId,
    *,
    on: Annotated[
        bool | None, typer.Option("--on/--off", help="Trace what the task does, or stop tracing.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the trace into this file, in Chrome's trace format.")
    ] = None,
    attempt: Annotated[
        int | None, typer.Option(min=1, help="Number of the attempt; the newest by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Switch the trace of a task on or off while it runs, or download it."""
    if on is None and out is None:
        raise InvalidInput("Name what to do.", where="trace", remedy="Say --on, --off or --out.")
    with Client() as client:
        if on is not None:
            task = client.trace_task(task_id, on=on)
            print_done(task, f"{task.id} is {_TRACED[on]}.", as_json=as_json)
        if out is not None:
            client.download_trace(task_id, out, attempt=attempt)
            say(f"The trace is in {out}: open it in ui.perfetto.dev or chrome://tracing.")


def fetch(
    task_id: TaskId,
    out: Annotated[Path, typer.Option(help="The file: CSV, .jsonl or .parquet.")],
    timeout: Annotated[
        float | None, typer.Option(min=1, help="Seconds to wait for the task at most.")
    ] = None,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Wait for a task of `easeml predict --detach`, and write what it predicted."""
    with Client() as client:
        rows = long_files.fetch(client, task_id, out, keep_formulas=keep_formulas, timeout=timeout)
    say(f"{rows:,} rows with their predictions are in {out}.")


def limit(
    work_id: WorkId,
    *,
    max_tasks: Annotated[int | None, typer.Option(min=1, help="Most candidates to train.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.001, help="Most device seconds to spend.")
    ] = None,
    deadline: Annotated[
        datetime | None, typer.Option(help="Local time by which training must be expected to end.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="Remove all limits.")] = False,
    as_json: Json = False,
) -> None:
    """Change what a search may use in total; limits that are not named stay."""
    ends = None if deadline is None else deadline.astimezone()
    told = given(max_tasks=max_tasks, max_seconds=max_seconds, deadline=ends)
    either = InvalidInput("Name a limit, or --none.", where="--max-seconds")
    exactly_one(told, none, otherwise=either)
    with Client() as client:
        job_id = job_of(client, work_id)
        kept = {} if none else _limits_of(client.job(job_id))
        job = client.limit_job(job_id, **{**kept, **told})
    print_done(job, f"{job.id} is {job.state}; its limits: {_told(job)}.", as_json=as_json)


def _limits_of(job: Job) -> dict[str, Any]:
    """Return the limits of a job as they are asked for."""
    limits = job.limits
    ends = limits.get("deadline")
    return given(
        max_tasks=limits.get("tasks"),
        max_seconds=limits.get("seconds"),
        deadline=None if ends is None else datetime.fromtimestamp(ends).astimezone(),
    )


def job_of(client: Client, work_id: str) -> str:
    """Return a job's id, also from its application's. Raises ``Conflict`` where there is none."""
    if not work_id.startswith("app_"):
        return work_id
    job = client.application(work_id).job
    if job is None:
        raise Conflict("The application has no job yet.", where=work_id)
    return job.id


def _told(job: Job) -> str:
    limits = dict(job.limits)
    deadline = limits.pop("deadline", None)
    told = [f"{value:g} {name}" for name, value in limits.items()]
    if deadline is not None:
        told.append(f"ends at {moment(deadline)}")
    return ", ".join(told) or "none"

"""``task``, ``job`` and ``status``."""

import time
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from easeml.cli import steering
from easeml.cli.named_applications import application_or
from easeml.cli.options import Json
from easeml.cli.output import (
    counted,
    moment,
    plural,
    print_done,
    print_found,
    print_list,
    print_pairs,
    print_resources,
    print_table,
    say,
)
from easeml.cli.steering import WorkId, job_of
from easeml.client import Client
from easeml.contract.evaluation import LabelFound, TaskReport
from easeml.contract.jobs import Job
from easeml.contract.measures import best_of, figure, named
from easeml.contract.models import Measure
from easeml.contract.status import Process, Status
from easeml.contract.task_views import Task
from easeml.optional import if_known

_MIB = 2**20

tasks = typer.Typer(no_args_is_help=True, help="Pieces of work.")
jobs = typer.Typer(no_args_is_help=True, help="Model searches.")


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.command()(status)
    steering.add_to(tasks, jobs)
    app.add_typer(tasks, name="task")
    app.add_typer(jobs, name="job")


@tasks.command("list")
def list_tasks(
    job: Annotated[
        str | None,
        typer.Option(
            help="Of this job, or application, only.",
            callback=application_or("job"),
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option(help="waiting, running, done, failed or cancelled.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List tasks."""
    with Client() as client:
        job_id = None if job is None else job_of(client, job)
        found = list(client.tasks(job_id=job_id, state=state))
        print_found(found, partial(_print_tasks, client), as_json=as_json)


def _print_tasks(client: Client, found: list[Task]) -> None:
    titles = client.module_titles()
    columns = {
        "id": "id",
        "kind": "kind",
        "name": lambda task: titles.of(task.name),
        "state": "state",
        "attempts": "attempts",
        "measured": lambda task: _told(task.measure),
        "seconds": _seconds,
        "error": _last_line,
    }
    print_resources(found, columns)


def _last_line(task: Task) -> str:
    """Return what an error comes to: the last line of a traceback."""
    return task.error.strip().rpartition("\n")[2]


def _told(measure: Measure | None) -> str | None:
    """Return a measure with its name, in its own unit; None where nothing was measured."""
    return named(measure) if measure else None


@tasks.command("show")
def show_task(
    task_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the task.")],
    as_json: Json = False,
) -> None:
    """Show a task, with the traceback where it failed."""
    with Client() as client:
        print_found(client.task(task_id), partial(_print_task, client), as_json=as_json)


def _print_task(client: Client, task: Task) -> None:
    titles = client.module_titles()
    print_pairs(
        [
            ("id", task.id),
            ("kind", task.kind),
            ("name", titles.of(task.name)),
            ("state", task.state),
            ("subject", task.subject),
            ("job", task.job_id),
            ("attempts", task.attempts),
            ("measured", _told(task.measure)),
            ("score (1 is best)", task.quality),
            ("device seconds", f"{task.cost:.2f}"),
            ("created", moment(task.created)),
            ("started", moment(task.started)),
            ("finished", moment(task.finished)),
            ("needs", _needs(task)),
            ("waits for a machine", task.waits),
            ("error", task.error),
        ]
    )


def _needs(task: Task) -> str:
    """Return what a task is placed by: threads, and what is known of memory and disk."""
    parts = [f"{task.threads} {plural(task.threads, 'thread')}"]
    sizes = {"memory": task.memory, "disk": task.disk}
    parts += [f"{size / _MIB:,.0f} MiB of {name}" for name, size in sizes.items() if size]
    return ", ".join(parts)


@tasks.command("report")
def report_task(
    task_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a training task.")],
    as_json: Json = False,
) -> None:
    """Show how the model of a training task does on validation rows, and where it errs."""
    with Client() as client:
        report = client.task_report(task_id)
    print_found(report, _print_report, as_json=as_json)


def _print_report(report: TaskReport) -> None:
    found = report.evaluation
    if found is None:
        return say("This task has no evaluation: it has trained no model (yet).")
    if found.weight:
        say(f"Each row counts once here, whatever its weight in column '{found.weight}'.")
    if found.confusion:
        _print_confusion(found.labels, found.confusion)
    last = "error" if found.residuals else "probability of actual"
    if found.by_label:
        _print_by_label(found.by_label)
        last = "F1 of its labels"
    worst = [(one.row, one.actual, one.predicted, figure(one.score)) for one in found.worst]
    return print_table(["row id", "actual", "predicted", last], worst)


def _print_by_label(found: list[LabelFound]) -> None:
    """Print how each label is found."""
    rows = []
    for one in found:
        shares = (one.precision, one.recall, one.f1)
        told = [if_known(share, figure) for share in shares]
        rows.append((one.label, one.rows, one.said, *told))
    print_table(["label", "rows", "said", "precision", "recall", "F1"], rows)


def _print_confusion(labels: list[str], confusion: list[list[int]]) -> None:
    """Print how often each label (a row) was predicted as which (a column)."""
    rows = [(label, *counts) for label, counts in zip(labels, confusion, strict=True)]
    print_table(["actual / predicted", *labels], rows)


@tasks.command("log")
def log_task(
    task_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the task.")],
    attempt: Annotated[
        int | None, typer.Option(help="Number of the attempt; the newest by default.")
    ] = None,
) -> None:
    """Show what a task printed."""
    with Client() as client:
        typer.echo(client.task_log(task_id, attempt=attempt).text, nl=False)


@jobs.command("list")
def list_jobs(
    application: Annotated[
        str | None,
        typer.Option(
            "--app",
            metavar="APPLICATION",
            help="Of this application only.",
            callback=application_or(),
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List model searches."""
    with Client() as client:
        found = list(client.jobs(application_id=application))
    columns = {
        "id": "id",
        "application": "application_id",
        "state": "state",
        "best so far": lambda job: _told(best_of(job)),
        "best score": "best_quality",
        "expected improvement": "expected_improvement",
        "tasks": _done,
        "seconds": _seconds,
    }
    print_list(found, columns, as_json=as_json)


def _seconds(work: Job | Task) -> str:
    return f"{work.cost:.1f}"


@jobs.command("show")
def show_job(work_id: WorkId, as_json: Json = False) -> None:
    """Show a model search."""
    with Client() as client:
        job = client.job(job_of(client, work_id))
    print_found(job, _print_job, as_json=as_json)


def _print_job(job: Job) -> None:
    limits = dict(job.limits)
    deadline = limits.pop("deadline", None)
    print_pairs(
        [
            ("id", job.id),
            ("application", job.application_id),
            ("state", job.state),
            ("best so far", _told(best_of(job))),
            ("best score (1 is best)", job.best_quality),
            ("expected improvement", job.expected_improvement),
            ("its standard error", job.expected_improvement_error),
            ("tasks", _done(job)),
            ("device seconds", f"{job.cost:.1f}"),
            ("limits", counted(limits)),
            ("deadline", if_known(deadline, moment)),
            ("tolerance", job.tolerance),
            ("created", moment(job.created)),
            ("error", job.error),
        ]
    )


@jobs.command("pause")
def pause(work_id: WorkId, as_json: Json = False) -> None:
    """Start nothing new for a job."""
    _change(work_id, Client.pause_job, as_json)


@jobs.command("resume")
def resume(work_id: WorkId, as_json: Json = False) -> None:
    """Go on with a paused job."""
    _change(work_id, Client.resume_job, as_json)


@jobs.command("stop")
def stop(work_id: WorkId, as_json: Json = False) -> None:
    """End a job for good; what it found stays."""
    _change(work_id, Client.stop_job, as_json)


def status(as_json: Json = False) -> None:
    """Show the service in a few numbers."""
    with Client() as client:
        found = client.status()
    print_found(found, _print_status, as_json=as_json)


def _print_status(found: Status) -> None:
    print_pairs(
        [
            ("version", found.version),
            ("database", found.database or "for providers"),
            ("isolation", found.isolation or "for providers"),
            ("applications", found.applications),
            ("tasks", counted(found.tasks) or "none"),
        ]
    )
    columns = {
        "process": "kind",
        "pid": "pid",
        "host": "host",
        "state": "state",
        "heartbeat": partial(_age, time.time()),
    }
    print_resources(found.processes, columns)


def _age(now: float, one: Process) -> str:
    return f"{max(0.0, now - one.heartbeat):.0f} s ago"


def _done(job: Job) -> str:
    failed = f", {job.tasks_failed} failed" if job.tasks_failed else ""
    return f"{job.tasks_done} of {job.candidates}{failed}"


def _change(work_id: str, change: Callable[[Client, str], Job], as_json: bool) -> None:
    with Client() as client:
        job = change(client, job_of(client, work_id))
    print_done(job, f"{job.id} is {job.state}.", as_json=as_json)

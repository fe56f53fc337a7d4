"""Live progress of applications: a table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from easeml.cli.output import console, folded_column, say_aside, text
from easeml.cli.showing import expected_improvement, served_title
from easeml.client import Client, Milestone, has_reached
from easeml.contract.applications import Application
from easeml.contract.knowledge import Titles
from easeml.contract.measures import best_found
from easeml.contract.states import JobState

_LOOK_SECONDS = 1.0
_LASTING_SECONDS = 3.0  # less is the time between two tasks
_HEADINGS = (
    "application",
    "state",
    "best so far",
    "running",
    "expected improvement",
    "cost",
    "serves",
)


class Progress:
    """Shows the state of some applications; each call of ``show`` replaces what was shown before."""

    def __init__(self, out: Console, live: Live | None, titles: Titles) -> None:
        self._out = out
        self._titles = titles
        self._live = live
        self._lines: dict[str, str] = {}

    def show(self, applications: Mapping[str, Application]) -> None:
        """Show applications by label. Without a terminal, print a line for each that changed."""
        if self._live is not None:
            self._live.update(progress_table(applications.items(), self._titles), refresh=True)
            return
        for label, application in applications.items():
            line = progress_line(label, application, self._titles)
            if self._lines.get(label) != line:
                self._lines[label] = line
                self._out.print(line, markup=False, soft_wrap=True)


class LastingReason:
    """Prints why nothing of a search runs, once it has been so for some seconds."""

    def __init__(self) -> None:
        self._reason = ""
        self._due = 0.0

    def look(self, application: Application) -> None:
        """Take the application as it is now."""
        reason = _waiting_reason(application)
        now = time.monotonic()
        if reason != self._reason:
            self._reason = reason
            self._due = now + _LASTING_SECONDS
        elif reason and now >= self._due:
            self._due = float("inf")
            say_aside(reason)


@contextmanager
def progress_on(out: Console, titles: Titles) -> Iterator[Progress]:
    """Give a ``Progress`` on a console, and leave the last table standing."""
    if not out.is_terminal:
        yield Progress(out, None, titles)
        return
    with Live(console=out, auto_refresh=False) as live:
        yield Progress(out, live, titles)


def progress_table(applications: Iterable[tuple[str, Application]], titles: Titles) -> Table:
    """Return the table of some applications: what each has, what runs, what is still to come."""
    table = Table(*map(folded_column, _HEADINGS), header_style="bold")
    for label, one in applications:
        table.add_row(*map(escape, _cells(label, one, titles)))
    return table


def _cells(label: str, one: Application, titles: Titles) -> tuple[str, ...]:
    cost = one.job.cost if one.job else 0.0
    running = list(map(titles.of, one.running))
    return (
        label,
        state_of(one),
        text(best_found(one)),
        text(running or _waiting_reason(one)),
        text(expected_improvement(one)),
        f"{cost:.1f} s",
        text(served_title(one, titles)),
    )


def progress_line(label: str, one: Application, titles: Titles) -> str:
    """Return what is worth a new line when it changes: state, what was found and is served."""
    best = text(best_found(one))
    done = "no candidates yet"
    if one.job is not None:
        done = f"{one.job.tasks_done} of {one.job.candidates} candidates"
    serves = served_title(one, titles) or "nothing yet"
    line = f"{label}: {state_of(one)}; best so far {best}; {done}; serves {serves}"
    reason = _lasting_reason(one)
    return f"{line}; {reason}" if reason else line


def state_of(one: Application) -> str:
    """Return the state of an application and of its search in one word or two."""
    if one.job is None or one.job.state == JobState.RUNNING:
        return one.state
    return f"{one.state}, {one.job.state}"


def _waiting_reason(one: Application) -> str:
    """Return why nothing of a search runs; empty while something does, or there is no search."""
    return one.job.waiting_reason if one.job else ""


def _lasting_reason(one: Application) -> str:
    """Return why nothing runs, except while tasks follow one another."""
    if one.job is not None and one.job.tasks_under_way:
        return ""
    return _waiting_reason(one)


def watch_application(client: Client, application_id: str, *, quiet: bool = False) -> Application:
    """Show an application until its search ends or Ctrl-C; return it as last seen.

    Raises Conflict if it fails.
    """
    application = client.application(application_id)
    out = Console(quiet=True) if quiet else console()
    try:
        with progress_on(out, client.module_titles()) as progress:
            progress.show({application.name: application})
            while not has_reached(application, Milestone.CONVERGED):
                time.sleep(_LOOK_SECONDS)
                application = client.application(application_id)
                progress.show({application.name: application})
    except KeyboardInterrupt:
        out.print("The search goes on.")
    return application

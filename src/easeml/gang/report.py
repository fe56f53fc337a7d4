"""What is told of a job: a page that follows it, and a report at its end."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from pydantic import TypeAdapter, ValidationError

from easeml.folders import whole_file

from .page import MOST_ATTEMPTS, Shown, page
from .plan import Member
from .states import Death, Ending, State
from .usage import Needs, Usage, needs_after, suggestions

TAIL_LINES = 20
_TAIL_BYTES = 20_000  # of a log that are looked at for its last lines
_NEEDS = TypeAdapter(dict[str, Needs])


@dataclass(frozen=True, slots=True)
class Report:
    """How a job ended.

    ``attempts``: how often it was started. ``page``: the file that shows it. ``deaths``: who died
    first in each attempt that failed. ``log`` and ``tail``: the log of the last of these, and its
    last lines. ``usages``: what each process used. ``suggestions``: sentences on settings that fit
    what this and earlier runs used.
    """

    ending: Ending
    attempts: int
    page: Path
    deaths: tuple[Death, ...]
    log: Path | None
    tail: tuple[str, ...]
    usages: tuple[Usage, ...]
    suggestions: tuple[str, ...]


class Progress:
    """Tells of a job that runs. ``name``: what its page calls it; ``folder``: of logs and page."""

    def __init__(self, name: str, folder: Path):
        self._name = name
        self._folder = folder
        self._before = _read_needs(folder / "usage.json")

    def show(self, state: State, usages: Sequence[Usage]) -> None:
        """Write the page of a job that has not ended."""
        self._write(self._report(state, usages), state, is_over=False)

    def end(self, state: State, usages: Sequence[Usage]) -> Report:
        """Write the page of a job that has ended and keep what it needed; return its report."""
        needs = needs_after(self._before, usages)
        with suppress(OSError), whole_file(self._folder / "usage.json") as file:
            file.write_bytes(_NEEDS.dump_json(needs))
        report = self._report(state, usages)
        self._write(report, state, is_over=True)
        return report

    def _report(self, state: State, usages: Sequence[Usage]) -> Report:
        needs = needs_after(self._before, usages)
        log = None
        if state.deaths:
            last = state.deaths[-1]
            log = log_of(self._folder, last.member, last.attempt)
        return Report(
            ending=state.ending,
            attempts=state.attempt,
            page=self._folder / "report.html",
            deaths=state.deaths,
            log=log,
            tail=last_lines(log) if log else (),
            usages=tuple(usages),
            suggestions=suggestions(state.job, needs),
        )

    def _write(self, report: Report, state: State, *, is_over: bool) -> None:
        attempts = tuple(range(state.attempt, 0, -1))[:MOST_ATTEMPTS]
        logs = {}
        for attempt in attempts:
            for member in state.job.members:
                log = log_of(self._folder, member, attempt)
                logs[attempt, member] = log.relative_to(self._folder).as_posix()
        shown = Shown(
            name=self._name,
            state=state,
            is_over=is_over,
            attempts=attempts,
            usages={(one.attempt, one.member): one for one in report.usages},
            logs=logs,
            reasons=tuple(map(_why, state.deaths[-MOST_ATTEMPTS:])),
            tail=report.tail,
            suggestions=report.suggestions,
        )
        with suppress(OSError), whole_file(report.page) as file:  # a full disk ends no job
            file.write_text(page(shown), "utf-8")


def log_of(folder: Path, member: Member, attempt: int) -> Path:
    """Return where the output of a process goes."""
    return folder / "logs" / f"{member.role}-{member.index}-attempt-{attempt}.log"


def last_lines(log: Path) -> tuple[str, ...]:
    """Return the last lines of a log."""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    return tuple(text.splitlines()[-TAIL_LINES:])


def reason(death: Death) -> str:
    """Return in words how a process ended."""
    if death.code >= 0:
        return f"{death.member} ended with exit code {death.code}"
    return f"{death.member} was ended by {Signals(-death.code).name}"


def _why(death: Death) -> str:
    return f"Attempt {death.attempt}: {reason(death)}."


def _read_needs(file: Path) -> dict[str, Needs]:
    """Return what earlier runs needed: nothing where the file was changed by hand."""
    try:
        return _NEEDS.validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return {}

"""``gang``: jobs of several processes on this machine."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import print_told, say
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.gang import Report
    from easeml.gang.states import Death
    from easeml.gang.usage import Usage

gang = typer.Typer(
    no_args_is_help=True, help="Jobs of several processes that start and end together."
)
_EXIT_CODES = {"done": 0, "failed": 1, "interrupted": 130}  # 130: as shells tell of Ctrl-C


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.add_typer(gang, name="gang")


@gang.command("run")
def run_gang(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The job, as TOML.")],
    folder: Annotated[
        Path | None,
        typer.Option(help="Where logs, page and checkpoint are kept; else FILE's name with .gang."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a job of several roles on this machine, all started together or none.

    When one dies, all are ended and started again from their checkpoint. Ctrl-C ends all. A page
    in the folder shows the job while it runs and afterwards. Exit code 0: done; 1: one died, and no
    restart was left; 130: interrupted.
    """
    from easeml.gang import read_job, run_job

    job = read_job(_text(file), file.name)
    place = folder or file.with_suffix(".gang")
    tell = _keep_quiet if as_json else say
    report = run_job(job, file.parent.resolve(), place.resolve(), tell, name=file.stem)
    print_told(_shown(report, place), partial(_say, report, place), as_json=as_json)
    raise typer.Exit(_EXIT_CODES[report.ending])


def _keep_quiet(said: str) -> None:
    """Print nothing while a job runs: its report is printed as JSON at the end."""


def _say(report: "Report", place: Path) -> None:
    """Tell how a job ended; where it failed, with the end of the log of the process that died first."""
    from easeml.gang.report import reason

    started = "once" if report.attempts == 1 else f"{report.attempts} times"
    say(f"The job is {report.ending}; it was started {started}. Look at {place / report.page.name}")
    say(*report.suggestions)
    if report.ending == "failed":
        say(f"{reason(report.deaths[-1])}. The end of {report.log}:")
        say(*map("  {}".format, report.tail))


def _shown(report: "Report", place: Path) -> dict[str, object]:
    """Return a report as JSON."""
    return {
        "ending": report.ending,
        "attempts": report.attempts,
        "deaths": list(map(_death_told, report.deaths)),
        "log": str(report.log) if report.log else None,
        "tail": list(report.tail),
        "folder": str(place.resolve()),
        "page": str(report.page),
        "usages": list(map(_usage_told, report.usages)),
        "suggestions": list(report.suggestions),
    }


def _usage_told(one: "Usage") -> dict[str, object]:
    return {
        "role": one.member.role,
        "index": one.member.index,
        "attempt": one.attempt,
        "exit_code": one.code,
        "seconds": one.seconds,
        "cpu_seconds": one.cpu_seconds,
        "memory": one.memory,
    }


def _death_told(one: "Death") -> dict[str, object]:
    from easeml.gang.report import reason

    return {
        "role": one.member.role,
        "index": one.member.index,
        "attempt": one.attempt,
        "exit_code": one.code,
        "reason": reason(one),
    }


def _text(file: Path) -> str:
    """Return the text of a file. Raises ``InvalidInput``."""
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "This file cannot be read as text.", where=str(file), remedy="Check the path."
        ) from error

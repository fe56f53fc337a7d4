"""``doctor``: is everything there that a home needs, and what can be repaired."""

from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.exit_codes import fail_if
from easeml.cli.local_home import HomeOption, local_settings
from easeml.cli.options import Json
from easeml.cli.output import print_found, print_table, say
from easeml.cli.progress import progress
from easeml.confinement import check_available
from easeml.contract.upkeep import Finding, FindingState
from easeml.errors import Conflict, EasemlError, InvalidInput
from easeml.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command of this module to the root."""
    app.command()(doctor)


def doctor(
    home: HomeOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    backup: Annotated[
        Path | None,
        typer.Option(help="With --repair: fetch lost data and models from this backup."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Look at everything that a home needs; easeml may run meanwhile. It reads every stored byte.

    Exit codes: 0 all is well, 1 something is failing.
    """
    from easeml.engine import running_supervisor
    from easeml.service.upkeep.doctor import examine

    if backup is not None and not repair:
        raise InvalidInput("A backup is used to repair.", where="--backup", remedy="Add --repair.")
    settings = local_settings(home)
    pid = running_supervisor(settings.home)
    state = f"easeml runs (process {pid})." if pid else "easeml does not run."
    with progress("Reading what is stored") as move:
        found = examine(
            settings, repair=repair, backup=backup, progress=move, in_use=pid is not None
        )
    findings = [Finding(check="processes", state=FindingState.OK, message=state)]
    findings += [_isolation(settings), _containers(), *found]
    print_found(findings, _show, as_json=as_json)
    fail_if(_failing(findings))


def _failing(findings: list[Finding]) -> int:
    """Return how many of the findings are failing."""
    return sum(one.state == FindingState.FAILING for one in findings)


def _isolation(settings: Settings) -> Finding:
    """Try whether this machine reaches the level of isolation that the settings demand."""
    try:
        check_available(settings.home, settings.isolation)
    except Conflict as error:
        return Finding(
            check="isolation",
            state=FindingState.FAILING,
            message=error.message,
            remedy=error.remedy,
        )
    message = f"Tasks and serving children are confined to level {settings.isolation}."
    return Finding(check="isolation", state=FindingState.OK, message=message)


def _containers() -> Finding:
    """Try whether this machine runs a container with the limits that programs of modules have."""
    from easeml.modules.containers import trial

    try:
        engine = trial.run()
    except EasemlError as error:
        return Finding(
            check="containers",
            state=FindingState.WARNING,
            message=error.message,
            remedy=f"{error.remedy} Modules that live in images cannot be used here.".strip(),
        )
    message = f"{engine.name} {engine.version} runs containers with all limits."
    return Finding(check="containers", state=FindingState.OK, message=message)


def _show(findings: list[Finding]) -> None:
    print_table(["check", "state", "what was found"], map(_row, findings))
    failing = _failing(findings)
    say(
        f"Failing: {failing} of {len(findings)} checks."
        if failing
        else "All is well enough to run."
    )


def _row(one: Finding) -> tuple[str, ...]:
    state = "repaired" if one.repaired else one.state
    return one.check, state, f"{one.message} {one.remedy}".strip()

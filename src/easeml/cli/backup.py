"""``backup`` and ``restore``: a copy of everything, made while easeml runs."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easeml.cli.exit_codes import fail_if
from easeml.cli.local_home import HomeOption, local_settings
from easeml.cli.options import Json
from easeml.cli.output import print_found, print_list, print_told, say, say_aside
from easeml.cli.progress import progress
from easeml.contract.upkeep import Drilled, Snapshot

if TYPE_CHECKING:
    from easeml.settings import Settings

_MIB = 2**20


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    app.command()(backup)
    app.command()(restore)


def backup(
    path: Annotated[
        Path, typer.Argument(help="Folder of the backup: a new one, or that of earlier ones.")
    ],
    home: HomeOption = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Show the snapshots; make none.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a snapshot of everything to a backup; easeml may run meanwhile.

    The database is copied in one state; of data and models only what the backup lacks.
    Exit codes: 0 done, 1 something could not be read any more and is lost.
    """
    from easeml.store import Store
    from easeml.store.backup import back_up, snapshots

    if list_only:
        _list(snapshots(path), as_json=as_json)
        return
    settings = local_settings(home)
    store = Store.found(settings)
    try:
        with progress("Backing up") as move:
            made = back_up(store, settings.home / "config.toml", path, move)
    finally:
        store.close()
    print_found(made, partial(_say_made, path), as_json=as_json)
    fail_if(made.lost)


def _say_made(path: Path, made: Snapshot) -> None:
    new = f"{made.added / _MIB:.1f} of {made.size / _MIB:.1f} MiB are new"
    say(f"Snapshot {made.name} in {path}: {made.artefacts} artefacts, {new}.")
    say(f"Try it: easeml restore {path} --home NEW_FOLDER --verify")
    _name_lost(made)


def restore(
    path: Annotated[Path, typer.Argument(help="Folder of the backup.")],
    home: Annotated[Path, typer.Option(help="New folder that becomes the home.")],
    snapshot: Annotated[
        str | None, typer.Option(help="Name of the snapshot; the newest by default.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Load every live model of the copy, and let it predict."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a home from a backup; every byte is checked. It starts nothing: `easeml up --home` does.

    Exit codes: 0 done, 1 with --verify: a live model does not predict.
    """
    from easeml.store.backup import choose, move_to_database
    from easeml.store.backup import restore as make_home

    chosen = choose(path, snapshot)
    with progress("Restoring") as move:
        make_home(path, chosen, home, move)
    settings = local_settings(home)
    if not settings.database.startswith("sqlite"):
        move_to_database(home, settings.database)
    drilled = _drill(settings) if verify else None
    told = {"home": str(home), "snapshot": chosen, "drill": drilled or []}
    print_told(told, partial(_say_restored, chosen, home, drilled), as_json=as_json)
    fail_if(any(one.error for one in drilled or ()))


def _drill(settings: "Settings") -> list[Drilled]:
    from easeml.engine.restore_drill import drill_live_models
    from easeml.store import Store

    store = Store.of(settings)
    try:
        store.check_integrity()
        return drill_live_models(store, settings)
    finally:
        store.close()


def _say_restored(chosen: Snapshot, home: Path, drilled: list[Drilled] | None) -> None:
    say(f"Snapshot {chosen.name} is restored: {chosen.artefacts} artefacts, each as it was.")
    _name_lost(chosen)
    if drilled is not None:
        _say_drilled(drilled)
    say(f"Start it: easeml up --home {home}")


def _say_drilled(drilled: list[Drilled]) -> None:
    well = 0
    for one in drilled:
        well += not one.error
        say(f"{one.name} ({one.application_id}), {one.model_name}: {one.error or 'as before'}")
    say(f"{well} of {len(drilled)} live models predict as before.")


def _name_lost(snapshot: Snapshot) -> None:
    lost = "This could not be read any more when the snapshot was made: {}"
    say_aside(*map(lost.format, snapshot.lost))


def _list(found: list[Snapshot], *, as_json: bool) -> None:
    columns = {
        "snapshot": "name",
        "artefacts": "artefacts",
        "MiB": lambda one: f"{one.size / _MIB:.1f}",
        "new MiB": lambda one: f"{one.added / _MIB:.1f}",
        "lost": lambda one: len(one.lost),
    }
    print_list(found, columns, as_json=as_json)

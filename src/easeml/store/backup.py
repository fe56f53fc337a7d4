"""Backups: a folder that grows by one snapshot a time, and shares the stored bytes among them.

``artefacts/`` holds stored bytes by content, as a home does; ``snapshots/NAME/`` one state of the
database (``easeml.db``), the ``config.toml`` of that moment, and ``snapshot.json``, which is
written last: a snapshot without it was interrupted, and counts as none.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from pydantic import ValidationError

from easeml.contract.upkeep import Snapshot
from easeml.errors import Conflict, Damaged, InvalidInput, NotFound
from easeml.store.artefacts import ArtefactStore
from easeml.store.database import connect
from easeml.store.faults import storage_faults
from easeml.store.files import LocalFiles
from easeml.store.migrate import SCHEMA_VERSION
from easeml.store.snapshots import load_snapshot
from easeml.store.store import Store
from easeml.store.tables import artefacts as artefact_table
from easeml.version import __version__

_DATABASE = "easeml.db"
_FACTS = "snapshot.json"
_CONFIG = "config.toml"
_STAMP = "%Y-%m-%dT%H-%M-%S-%fZ"

Progress = Callable[[float], None]


def back_up(store: Store, config: Path, folder: Path, progress: Progress) -> Snapshot:
    """Add a snapshot of ``store`` to the backup in ``folder``, which is made if needed.

    The service may run meanwhile: the database is copied first, in one state; stored bytes never
    change. Raises ``InvalidInput`` where ``folder`` holds something else, ``StorageFull``.
    """
    _check_folder(folder)
    name = datetime.now(UTC).strftime(_STAMP)
    place = folder / "snapshots" / name
    with storage_faults():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # it holds everybody's data
        place.mkdir(parents=True)
        store.write_snapshot(place / _DATABASE)
        if config.exists():
            shutil.copyfile(config, place / _CONFIG)
        kept = ArtefactStore(LocalFiles(folder / "artefacts"))
        digest = _digest(place / _DATABASE)
        added, lost = 0, []
        held = _artefacts(place / _DATABASE)
        for number, (tenant, artefact, _) in enumerate(held, start=1):
            try:
                added += store.artefacts.copy_to(kept, tenant, artefact)
            except (NotFound, Damaged):
                lost.append(f"{tenant}/{artefact}")
            progress(number / len(held))
        size = sum(one for _, _, one in held)
        snapshot = Snapshot(
            name=name,
            version=__version__,
            schema_version=SCHEMA_VERSION,
            database=digest,
            artefacts=len(held),
            size=size,
            added=added,
            lost=lost,
        )
        _write_durable(place / _FACTS, snapshot.model_dump_json(indent=1).encode())
    return snapshot


def snapshots(folder: Path) -> list[Snapshot]:
    """Return the whole snapshots of a backup, oldest first.

    Raises ``NotFound`` where the folder is no backup, ``Damaged`` where a snapshot's facts are.
    """
    root = folder / "snapshots"
    if not root.is_dir():
        raise NotFound(
            "There is no backup here.", where=str(folder), remedy="Make one: easeml backup PATH."
        )
    found = []
    for facts in sorted(root.glob(f"*/{_FACTS}")):
        try:
            found.append(Snapshot.model_validate_json(facts.read_bytes()))
        except ValidationError as error:
            raise Damaged(
                "The facts of a snapshot cannot be read.",
                where=str(facts),
                remedy="Remove its folder to use the others.",
            ) from error
    return found


def choose(folder: Path, name: str | None) -> Snapshot:
    """Return the snapshot of a name, the newest by default. Raises ``NotFound``."""
    found = snapshots(folder)
    wanted = [one for one in found if name in (None, one.name)]
    if not wanted:
        there = ", ".join(one.name for one in found) or "none is whole"
        raise NotFound(
            "There is no such snapshot in the backup.",
            where=name or str(folder),
            remedy=f"There: {there}.",
        )
    return wanted[-1]


def restore(folder: Path, snapshot: Snapshot, home: Path, progress: Progress) -> None:
    """Make ``home`` from a snapshot: its SQLite database, artefacts and settings; all or nothing.

    Every byte is checked against its digest. Raises ``Conflict`` where ``home`` holds something,
    ``Damaged`` naming the file of the backup that is not what it was.
    """
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise Conflict(
            "There is something already.",
            where=str(home),
            remedy="Choose a new folder with --home.",
        )
    if snapshot.schema_version > SCHEMA_VERSION:
        raise Conflict(
            f"The snapshot has schema {snapshot.schema_version}, this easeml knows up to {SCHEMA_VERSION}.",
            where=snapshot.name,
            remedy="Restore it with the newer easeml that made it.",
        )
    source = folder / "snapshots" / snapshot.name
    if _digest(source / _DATABASE) != snapshot.database:
        raise Damaged(where=str(source / _DATABASE), remedy="Restore another snapshot.")
    home.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{home.name}-", dir=home.parent))
    try:
        with storage_faults():
            shutil.copyfile(source / _DATABASE, staging / _DATABASE)
            if (source / _CONFIG).exists():
                shutil.copyfile(source / _CONFIG, staging / _CONFIG)
            kept = ArtefactStore(LocalFiles(folder / "artefacts"))
            _copy_back(kept, snapshot, staging, progress)
            staging.replace(home)  # takes the place of an empty folder as well
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def move_to_database(home: Path, url: str) -> None:
    """Move the database of a restored home from its file to the empty database at ``url``.

    Raises ``Conflict`` if that one is not empty; the home keeps its file then.
    """
    file = home / _DATABASE
    load_snapshot(file, url)
    for path in home.glob(f"{_DATABASE}*"):
        path.unlink()


def _copy_back(kept: ArtefactStore, snapshot: Snapshot, home: Path, progress: Progress) -> None:
    target = ArtefactStore(LocalFiles(home / "artefacts"))
    held = _artefacts(home / _DATABASE)
    lost = set(snapshot.lost)
    for number, (tenant, artefact, _) in enumerate(held, start=1):
        if f"{tenant}/{artefact}" not in lost:
            kept.copy_to(target, tenant, artefact)
        progress(number / len(held))


def _artefacts(database: Path) -> list[tuple[str, str, int]]:
    """Return tenant, digest and size of all that a database file refers to."""
    engine = connect(f"sqlite:///{database}")
    columns = artefact_table.c
    question = sa.select(columns.tenant_id, columns.digest, columns.size).order_by(columns.id)
    try:
        with engine.connect() as connection:
            found = [(row.tenant_id, row.digest, row.size) for row in connection.execute(question)]
    finally:
        engine.dispose()
    return found


def _check_folder(folder: Path) -> None:
    """Raise ``InvalidInput`` for a folder that holds something else than a backup."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InvalidInput("This is a file.", where=str(folder), remedy="Name a folder.")
    strange = sorted({path.name for path in folder.iterdir()} - {"artefacts", "snapshots"})
    if strange:
        raise InvalidInput(
            f"The folder holds something else: {strange[0]}.",
            where=str(folder),
            remedy="Name a new folder, or that of earlier backups.",
        )


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file. Raises ``Damaged`` where it is gone."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise Damaged(where=str(path), remedy="Restore another snapshot.") from error


def _write_durable(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

"""A private PostgreSQL cluster in a temporary folder, from the server programs of this machine."""

import os
import pwd
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import session_files

_CHOOSES_HOW_TO_COPY = (15,)
REMEDY = "PostgreSQL's server programs (initdb, postgres) were not found: install postgresql, or set PATH."


@contextmanager
def cluster() -> Iterator[str]:
    """Run a cluster; yields the URL of its databases, with ``{name}`` in place of the name.

    Without the server programs the test is skipped; in CI it fails.
    """
    found = programs()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(REMEDY)
        pytest.skip(REMEDY)
    folder = session_files.shortest_folder() / f"easeml-pg-{uuid.uuid4().hex[:12]}"
    folder.mkdir(mode=0o700)
    try:
        if os.geteuid() == 0:
            owner = owner_of_clusters()
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        data = folder / "data"
        init = (
            "--username=easeml",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-sync",
            "--locale=C.UTF-8",
        )
        _run(folder, found / "initdb", "--pgdata", data, *init)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=200 -c fsync=off"
        _run(
            folder,
            found / "pg_ctl",
            "start",
            "--wait",
            "-D",
            data,
            "-l",
            folder / "log",
            "-o",
            options,
        )
        try:
            yield f"postgresql+psycopg://easeml@/{{name}}?host={folder}"
        finally:
            _run(folder, found / "pg_ctl", "stop", "-D", data, "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(template: str, like: str | None = None) -> Iterator[str]:
    """Make a database in a cluster; yields its URL.

    It is empty, or a copy of the one named ``like``, which nobody may be connected to.
    """
    name = f"test_{uuid.uuid4().hex}"
    server = sa.create_engine(template.format(name="postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        how = f"TEMPLATE {like or 'template1'}"
        if connection.dialect.server_version_info >= _CHOOSES_HOW_TO_COPY:
            how += " STRATEGY file_copy"  # a copy through the log takes twice the processor time
        connection.exec_driver_sql(f"CREATE DATABASE {name} {how}")
    yield template.format(name=name)
    with server.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    server.dispose()


def programs() -> Path | None:
    """Return the folder of the server programs; None where they are not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    return folders[-1].parent if folders else None


def owner_of_clusters() -> pwd.struct_passwd:
    """Return the user that clusters run as where one is root: the programs refuse root."""
    return pwd.getpwnam("postgres")


def as_owner() -> dict[str, Any]:
    """Return what ``subprocess.run`` takes to run a server program."""
    if os.geteuid() != 0:
        return {}
    return {"user": "postgres", "group": "postgres", "extra_groups": []}


def _run(folder: Path, *command: str | Path) -> None:
    """Run a server program, as the user ``postgres`` where one is root: the programs refuse root."""
    log = folder / "run.log"
    with log.open("ab") as output:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder,
            stdout=output,
            stderr=output,
            check=False,
            **as_owner(),
        )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{log.read_text()}")

"""Runs a PostgreSQL cluster and writes into it: ``cluster_for_power_loss.py HOME PROGRAMS [off]``.

The cluster's data are in the home, beside the artefacts: all that a loss of power could take. Each
pair of a folder and a row that names it is said once it is acknowledged. ``off``: the cluster does
not sync, as if somebody had set ``fsync`` so.
"""

import os
import subprocess
import sys
from pathlib import Path

import sqlalchemy as sa

from easeml.store import Dataset, Store
from postgres_cluster import as_owner

_WRITES = 8


def url_of(sockets: Path) -> str:
    """Return the address of the database of a cluster that listens in a folder."""
    return f"postgresql+psycopg://easeml@/postgres?host={sockets}"


def start(programs: Path, data: Path, sockets: Path, *options: str) -> None:
    """Start a cluster and wait until it answers. Raises ``CalledProcessError``."""
    settings = f"-c listen_addresses='' -c unix_socket_directories={sockets}"
    for option in options:
        settings += f" -c {option}"
    command = [programs / "pg_ctl", "start", "--wait", "-D", data, "-l", sockets / "log"]
    subprocess.run([*command, "-o", settings], check=True, **_QUIET, **as_owner())


def stop(programs: Path, data: Path, mode: str) -> None:
    """Stop a cluster: ``fast``, or ``immediate``, without writing what it keeps in memory."""
    command = [programs / "pg_ctl", "stop", "-D", data, "-m", mode]
    subprocess.run(command, check=True, **_QUIET, **as_owner())


_QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/tmp"}


def main(home: Path, programs: Path, fsync: str = "on") -> None:
    """Store a folder, and a row that names it, again and again."""
    sockets = home.with_name("sockets")
    start(programs, home / "cluster", sockets, f"fsync={fsync}", "autovacuum=off")
    try:
        write(home, url_of(sockets))
    finally:
        stop(programs, home / "cluster", "immediate")


def write(home: Path, url: str) -> None:
    """Store and say; half-way all pages go into their files."""
    store = Store.open(url, home / "artefacts")
    server = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    for number in range(_WRITES):
        folder = home.with_name("made") / str(number)
        folder.mkdir(parents=True)
        (folder / "one").write_bytes(f"one {number}\n".encode() * 700)
        digest = store.artefacts.put("t1", folder)
        with store.write() as tx:
            tx.scoped("t1").datasets.add(Dataset(f"ds_{number:03}", "t1", digest))
        if number == _WRITES // 2:
            with server.connect() as connection:
                connection.exec_driver_sql("CHECKPOINT")
        os.write(1, f"{number} {digest}\n".encode())
    server.dispose()
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])

"""Writers that are killed, and checkpoints at the same time: is anything acknowledged lost?

Several processes append rows to one SQLite database as easeml's store opens it. Each notes a row in
its own book only after the commit has returned. Other processes run checkpoints without a pause, of
every kind, so that the WAL is reset as often as possible. Writers are killed with -9 at random and
started again. At the end ``PRAGMA integrity_check`` must say ``ok`` and every row in a book must be
in the database.

    python benchmarks/database_stress.py --seconds 300
    python benchmarks/database_stress.py --short
"""

import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from common import arguments, machine_line, read_options
from easeml.store.database import connect, describe
from easeml.store.sqlite import driver

WRITERS = 4
CHECKPOINTERS = 2
CHECKPOINTS = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")
SEED = 20

WRITER = """
import os, sys
from easeml.store.database import connect
url, book, name = sys.argv[1:]
engine = connect(url)
file = open(book, "a")
number = 0
while True:
    number += 1
    key = f"{name}-{number}"
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.exec_driver_sql("INSERT INTO rows VALUES (?, ?)", (key, os.urandom(900)))
    file.write(key + "\\n")
    file.flush()
    if number == 1:
        print("writing", flush=True)
"""

CHECKPOINTER = """
import itertools, sys
from easeml.store.sqlite import driver
connection = driver.connect(sys.argv[1], timeout=0.05, isolation_level=None)
for kind in itertools.cycle(sys.argv[2:]):
    try:
        connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
    except driver.OperationalError:
        pass  # busy or locked: the next one
"""


@dataclass(frozen=True)
class Outcome:
    """What a stress left behind. ``integrity``: what ``PRAGMA integrity_check`` said."""

    acknowledged: int
    lost: int
    kills: int
    integrity: str


def stress(folder: Path, seconds: float, seed: int = SEED) -> Outcome:
    """Write, checkpoint and kill for ``seconds`` in an empty folder; return what is left."""
    database = folder / "stress.db"
    url = f"sqlite:///{database}"
    connection = driver.connect(str(database))
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, bytes BLOB)")
    connection.close()

    checkpoint = [sys.executable, "-c", CHECKPOINTER, str(database), *CHECKPOINTS]
    checkpointers = [subprocess.Popen(checkpoint) for _ in range(CHECKPOINTERS)]
    kills = _write_and_kill(folder, url, seconds, random.Random(seed))
    for process in checkpointers:
        _kill(process)

    acknowledged = _acknowledged(folder)
    engine = connect(url)
    with engine.connect() as connection:
        kept = set(connection.execute(sa.text("SELECT key FROM rows")).scalars())
        integrity = connection.execute(sa.text("PRAGMA integrity_check")).scalar_one()
    engine.dispose()
    return Outcome(len(acknowledged), len(acknowledged - kept), kills, integrity)


def _write_and_kill(folder: Path, url: str, seconds: float, chance: random.Random) -> int:
    """Run the writers, kill one at a time and start another; return the number of kills."""
    started = 0

    def start() -> subprocess.Popen[bytes]:
        nonlocal started
        started += 1
        book = folder / f"{started}.book"
        command = [sys.executable, "-c", WRITER, url, str(book), f"w{started}"]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert writer.stdout is not None  # it is a pipe
        writer.stdout.readline()
        return writer

    writers = [start() for _ in range(WRITERS)]
    kills = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(min(chance.uniform(0.5, 3), max(0.0, end - time.monotonic())))
        place = chance.randrange(WRITERS)
        _kill(writers[place])
        kills += 1
        writers[place] = start()
    for writer in writers:
        _kill(writer)
    return kills + WRITERS


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def _acknowledged(folder: Path) -> set[str]:
    found: set[str] = set()
    for book in folder.glob("*.book"):
        text = book.read_text()
        whole_lines = text[: text.rfind("\n") + 1]  # a kill may have cut the last line
        found.update(whole_lines.split())
    return found


def _report(outcome: Outcome, seconds: float, write: Callable[[str], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = describe(connect(f"sqlite:///{folder}/x.db"))
    write(f"{library}, Python {platform.python_version()}, {platform.machine()}")
    write(f"{WRITERS} writers, {CHECKPOINTERS} processes that only checkpoint, {seconds:g} s")
    write(f"{'acknowledged':>14} {'lost':>6} {'kills':>6}  integrity_check")
    write(f"{outcome.acknowledged:>14,} {outcome.lost:>6} {outcome.kills:>6}  {outcome.integrity}")


def main() -> None:
    """Run the stress and print its outcome; exit 1 if anything was lost, or nothing written."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--seconds", type=float, default=300)
    seconds = read_options(parser, seconds=1.5).seconds
    print(machine_line("easeml", "sqlalchemy"))
    with tempfile.TemporaryDirectory() as folder:
        outcome = stress(Path(folder), seconds)
    _report(outcome, seconds, print)
    if not outcome.acknowledged or outcome.lost or outcome.integrity != "ok":
        sys.exit(1)


if __name__ == "__main__":
    main()

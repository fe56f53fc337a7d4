"""Cycles of kill, backup and restore under load: is each copy whole, and is anything lost?

    python benchmarks/backup_cycles.py [--cycles 1000] [--seconds 36000] [--anew]

Starts an easeml of its own and declares applications, so that there is always something to search.
Each cycle kills a process at random, makes a backup at once, while that process is started again,
and restores it into a new home. The copy must have every application that was acknowledged before
the backup began, its books must balance, and each of its models must be whole. A command of a
person answers between the cycles: a prediction. Every hundredth copy is drilled (``--verify``).

A line of ``cycles.csv`` is written after each cycle. A run goes on after the cycles that are there,
with an easeml and a backup of its own, until there are ``--cycles`` of them; ``--anew`` forgets them.
"""

import csv
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options, write_table
from easeml.settings import Settings
from easeml.store import Store
from killing import KINDS, check_books, declare, kill_at_random
from service_process import EasemlProcess

EACH = 25  # cycles between two declarations
DRILLED = 100  # every so many copies are drilled
COLUMNS = ["cycle", "backup_seconds", "restore_seconds", "drilled"]


def cycles_before(path: Path) -> list[list[str]]:
    """Return the lines of earlier runs."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def check_copy(easeml: EasemlProcess, backup: Path, copy: Path, declared: list[str]) -> None:
    """Restore the newest snapshot, and compare it with what was acknowledged before it was made."""
    easeml.command("restore", str(backup), "--home", str(copy))
    settings = Settings(home=copy)
    check_books(easeml, settings)
    store = Store.of(settings)
    store.check_integrity()
    with store.read() as tx:
        known = {one.id for one in tx.unscoped().applications.list(limit=None)}
    store.close()
    missing = set(declared) - known
    assert not missing, missing


def run_cycle(easeml: EasemlProcess, folder: Path, cycle: int, declared: list[str]) -> list[str]:
    """Kill, copy and check once; return a line of the table."""
    killed = list(kill_at_random(easeml, declared, [cycle]))
    assert killed, cycle
    easeml.kill(KINDS[cycle % len(KINDS)])
    backup = folder / "backup"
    began = time.monotonic()
    easeml.command("backup", str(backup), "--home", str(easeml.home))
    copied = time.monotonic()
    check_copy(easeml, backup, folder / "copy", declared)
    restored = time.monotonic()
    is_drilled = cycle % DRILLED == 0
    if is_drilled:
        drill = folder / "drill"
        easeml.command("restore", str(backup), "--home", str(drill), "--verify")
        shutil.rmtree(drill)
    shutil.rmtree(folder / "copy")
    easeml.wait_until_answering(300)
    return [str(cycle), f"{copied - began:.2f}", f"{restored - copied:.2f}", str(is_drilled)]


def main() -> None:
    """Kill, copy and check."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=36_000.0, help="end after so long")
    parser.add_argument("--anew", action="store_true", help="forget the cycles of earlier runs")
    options = read_options(parser, cycles=2)
    print(machine_line("easeml"))
    kept = options.out / "cycles.csv"
    lines = [] if options.anew else cycles_before(kept)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        easeml = EasemlProcess(folder / "home")
        easeml.start()
        declared: list[str] = []
        try:
            for place, cycle in enumerate(range(len(lines), options.cycles)):
                if place % EACH == 0:
                    declared.append(declare(easeml, folder, f"wine-{cycle}"))
                    easeml.wait(declared[-1], "first-model", 120)
                lines.append(run_cycle(easeml, folder, cycle, declared))
                write_table(kept, COLUMNS, lines)
                if time.monotonic() - begun > options.seconds:
                    break
            easeml.stop_searches()
            ended = check_books(easeml)
        finally:
            easeml.stop()
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
    backups = [float(line[1]) for line in lines]
    drilled = sum(line[3] == "True" for line in lines)
    median, worst = statistics.median(backups), max(backups)
    print(f"{len(lines)} cycles, {drilled} copies drilled; tasks of the last run: {tasks}")
    print(f"A backup took {median:.2f} s at the median, {worst:.2f} s at worst.")
    print("Every copy was whole, its books balance, and it had every acknowledged application.")


if __name__ == "__main__":
    main()

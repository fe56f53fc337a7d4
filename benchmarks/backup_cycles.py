"""Cycles of kill, backup and restore under load: is each copy whole, and is anything lost?

    python benchmarks/backup_cycles.py [--cycles 1000] [--seconds 36000]

Starts an easeml of its own and declares applications, so that there is always something to search.
Each cycle kills a process at random, makes a backup at once, while that process is started again,
and restores it into a new home. The copy must have every application that was acknowledged before
the backup began, its books must balance, and each of its models must be whole. A command of a
person answers between the cycles: a prediction. Every hundredth copy is drilled (``--verify``).
"""

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from common import arguments, machine_line, read_options
from easeml.settings import Settings
from easeml.store import Store
from killing import KINDS, check_books, declare, kill_at_random
from service_process import EasemlProcess

EACH = 25  # cycles between two declarations
DRILLED = 100  # every so many copies are drilled


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


def main() -> None:
    """Kill, copy and check."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=36_000.0, help="end after so long")
    options = read_options(parser, cycles=2)
    print(machine_line("easeml"))
    begun = time.monotonic()
    backups: list[float] = []
    killed: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        easeml = EasemlProcess(folder / "home")
        easeml.start()
        declared: list[str] = []
        try:
            for cycle in range(options.cycles):
                if cycle % EACH == 0:
                    declared.append(declare(easeml, folder, f"wine-{cycle}"))
                    easeml.wait(declared[-1], "first-model", 120)
                killed += [kill.kind for kill in kill_at_random(easeml, declared, [cycle])]
                easeml.kill(KINDS[cycle % len(KINDS)])
                started = time.monotonic()
                easeml.command("backup", str(folder / "backup"), "--home", str(easeml.home))
                backups.append(time.monotonic() - started)
                check_copy(easeml, folder / "backup", folder / "copy", declared)
                if cycle % DRILLED == 0:
                    drill = folder / "drill"
                    easeml.command(
                        "restore", str(folder / "backup"), "--home", str(drill), "--verify"
                    )
                    shutil.rmtree(drill)
                shutil.rmtree(folder / "copy")
                easeml.wait_until_answering(300)
                if cycle % 10 == 0:
                    print(f"{cycle + 1} cycles in {time.monotonic() - begun:.0f} s", flush=True)
                if time.monotonic() - begun > options.seconds:
                    break
            easeml.stop_searches()
            ended = check_books(easeml)
        finally:
            easeml.stop()
    seconds = time.monotonic() - begun
    tasks = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
    median, worst = statistics.median(backups), max(backups)
    print(f"{len(backups)} cycles in {seconds:.0f} s; {2 * len(killed)} kills; tasks: {tasks}")
    print(f"A backup took {median:.2f} s at the median, {worst:.2f} s at worst.")
    print("Every copy was whole, its books balance, and it had every acknowledged application.")


if __name__ == "__main__":
    main()

"""Writes into a home and says what is acknowledged: ``writer_for_power_loss.py HOME [CARELESS]``.

``CARELESS``: ``files`` or ``database``, which are then not synced, as if somebody had forgotten to.
"""

import os
import sys
from pathlib import Path

from easeml.store import Dataset, Store, database

_WRITES = 12


def main(home: Path, careless: str = "") -> None:
    """Store a folder, and a row that names it, again and again."""
    if careless == "files":
        os.fsync = lambda _: None  # type: ignore[assignment]
    if careless == "database":
        database._PRAGMAS = ("synchronous=OFF",)
    store = Store.open(f"sqlite:///{home / 'easeml.db'}", home / "artefacts")
    made = home.with_name("made")
    for number in range(_WRITES):
        folder = made / str(number)
        folder.mkdir(parents=True)
        for name in ("one", "two"):
            (folder / name).write_bytes(f"{name} {number}\n".encode() * 700)
        digest = store.artefacts.put("t1", folder)
        with store.write() as tx:
            tx.scoped("t1").datasets.add(Dataset(f"ds_{number:03}", "t1", digest))
        if number % 4 == 2:
            store.clean()  # all changes go into the file of the database
        os.write(1, f"{number} {digest}\n".encode())
    store.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

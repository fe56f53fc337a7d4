"""Homes that earlier versions wrote."""

import tarfile
from pathlib import Path

from easeml import folders
from easeml.service.accounts import keys
from easeml.store import Store

HOMES = sorted((Path(__file__).parent / "homes").glob("*.tar.gz"))


def key_of_first_user(home: Path) -> str:
    """Return a new key of the person who installed an easeml."""
    store = Store.open(f"sqlite:///{home / 'easeml.db'}", home / "artefacts")
    try:
        with store.write() as tx:
            first = min(tx.users.list(limit=None), key=lambda user: user.created)
            secret = keys.sign_in_as(tx, first, "").secret
    finally:
        store.close()
    assert secret is not None
    return secret


def unpack(archive: Path, folder: Path) -> tuple[Path, Path]:
    """Unpack an archive; return the home, and the folder of what belongs to it: the id of its
    application, a table, and what was predicted of it.
    """
    with tarfile.open(archive) as packed:
        folders.unpack(packed, folder)
    return folder / "home", folder / "kept"

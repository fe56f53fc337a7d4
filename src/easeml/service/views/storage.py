"""What is stored: how much, of which kind, what is free, and what retention freed last."""

import shutil
from pathlib import Path

import sqlalchemy as sa

from easeml.contract.administration import Storage
from easeml.service.access.caller import Caller
from easeml.service.retention import looks, retention
from easeml.settings import Settings
from easeml.store import Store


def get(store: Store, settings: Settings, caller: Caller) -> Storage:
    """Return what is used and free, in bytes (providers only); raises ``NotAllowed``."""
    caller.require_provider()
    with store.read() as tx:
        kinds = retention.stored(tx)
        last = looks.last(tx)
    disk = shutil.disk_usage(settings.artefacts)
    return Storage(
        database=_database_bytes(settings),
        artefacts=sum(one.size for one in kinds),
        disk=disk.total,
        free=disk.free,
        kinds=kinds,
        last=last,
    )


def _database_bytes(settings: Settings) -> int | None:
    url = sa.make_url(settings.database)
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    files = (Path(url.database), Path(f"{url.database}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())

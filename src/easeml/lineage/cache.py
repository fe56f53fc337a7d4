"""A folder of results by key, which several processes share."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from easeml.errors import EasemlError
from easeml.lineage.nodes import Value
from easeml.relation import Relation


class Cache(Protocol):
    """Keeps values by key. Whatever is wrong with it, a value is then only computed again."""

    def has(self, key: str) -> bool:
        """Tell whether there is a value."""
        ...

    def get(self, key: str) -> Value | None:
        """Return the value, or None."""
        ...

    def put(self, key: str, value: Value) -> None:
        """Keep a value."""
        ...


class FolderCache:
    """Results as files: a relation as Parquet, JSON values as JSON.

    Files are written aside and then renamed, so that several processes may read and write at once.
    Above ``most_bytes`` the results that were not used for longest go.
    """

    def __init__(self, folder: str | Path, most_bytes: int = 10_000_000_000):
        self._folder, self._most = Path(folder), most_bytes
        self._folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Tell whether there is a value."""
        return self._relation(key).exists() or self._json(key).exists()

    def get(self, key: str) -> Value | None:
        """Return the value, or None where there is none that can be read."""
        try:
            return self._read(key)
        except (EasemlError, OSError, ValueError):  # another process may have made room just now
            return None

    def _read(self, key: str) -> Value:
        """Read a value, and note that it was used now."""
        path = self._json(key)
        if path.exists():
            _note_use(path)
            return json.loads(path.read_text("utf-8"))
        path = self._relation(key)
        found = Relation.load(path)
        _note_use(path)
        return found

    def put(self, key: str, value: Value) -> None:
        """Keep a value, and make room. Raises InvalidInput where the folder cannot be written."""
        if isinstance(value, Relation):
            value.save(self._relation(key))
        else:
            part = self._folder / f".{key}.{secrets.token_hex(4)}.part"
            part.write_text(json.dumps(value), "utf-8")
            part.replace(self._json(key))
        self._make_room(key)

    def _relation(self, key: str) -> Path:
        return self._folder / f"{key}.parquet"

    def _json(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _make_room(self, newest: str) -> None:
        """Delete the results used least lately, but never the newest."""
        sizes: dict[str, int] = {}
        used: dict[str, float] = {}
        for path in self._folder.glob("[0-9a-f]*"):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            key = path.name.split(".")[0]
            sizes[key] = sizes.get(key, 0) + status.st_size
            used[key] = max(used.get(key, 0.0), status.st_mtime)
        total = sum(sizes.values())
        used.pop(newest, None)
        for key in sorted(used, key=used.__getitem__):
            if total <= self._most:
                return
            self._forget(key)
            total -= sizes[key]

    def _forget(self, key: str) -> None:
        for path in self._folder.glob(f"{key}.*"):
            path.unlink(missing_ok=True)


def _note_use(path: Path) -> None:
    """Note that a result was used now, where this process may: a confined one may not."""
    with suppress(PermissionError):
        os.utime(path)

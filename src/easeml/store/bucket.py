"""An object store that many machines reach: S3 and its like, or a folder that they share."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput, Unreachable
from easeml.store.files import StoredFile

_REMOTE: dict[str, Any] = {
    "retry_config": {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
}
_FOLDER = "file://"


def require_library() -> None:
    """Raise ``InvalidInput`` where the library for buckets and shared folders is not installed."""
    if find_spec("obstore") is None:
        raise InvalidInput(
            "Artefacts in an object store need the library obstore.",
            where="artefacts_url",
            remedy="Install it: pip install 'easeml[cluster]'.",
        )


class Bucket:
    """Objects by key. The environment says who may read and write them.

    An S3 client reads ``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_REGION``, and for
    another server than Amazon's ``AWS_ENDPOINT`` (with ``AWS_ALLOW_HTTP=true`` without TLS).
    """

    def __init__(self, url: str):
        """``url``: ``s3://bucket/prefix``, ``gs://``, ``az://``, or ``file:///folder``.

        Raises ``InvalidInput`` for another, or where the library for it is not installed.
        """
        require_library()
        from obstore.store import from_url

        more: dict[str, Any] = {"mkdir": True} if url.startswith(_FOLDER) else _REMOTE
        try:
            self._store: Any = from_url(url, **more)
        except Exception as error:  # each kind of store has errors of its own
            remedy = "Name s3://BUCKET/PREFIX, gs://…, az://…, or file:///FOLDER that all share."
            raise InvalidInput(
                f"Artefacts cannot be kept there: {_first_line(error)}",
                where="artefacts_url",
                remedy=remedy,
            ) from error
        self.url = url

    def has(self, key: str, size: int | None = None) -> bool:
        """Tell whether there is an object, with ``size`` bytes where that is given."""
        found = self.about(key)
        return found is not None and size in (None, found.size)

    def about(self, key: str) -> StoredFile | None:
        """Return size and time of an object; None where there is none."""
        import obstore

        with self._faults():
            try:
                found = obstore.head(self._store, key)
            except FileNotFoundError:
                return None
        return StoredFile(key, found["size"], found["last_modified"].timestamp())

    def list(self) -> Iterator[StoredFile]:
        """Give all objects, page by page."""
        import obstore

        with self._faults():
            for page in obstore.list(self._store):
                for found in page:
                    written = found["last_modified"].timestamp()
                    yield StoredFile(found["path"], found["size"], written)

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no fault."""
        import obstore

        with self._faults():
            try:
                obstore.delete(self._store, key)
            except FileNotFoundError:
                return

    def send(self, key: str, path: Path) -> None:
        """Keep the bytes of a file under ``key``; durable on return."""
        import obstore

        with self._writing():
            obstore.put(self._store, key, path)

    def read(self, key: str) -> Iterator[bytes]:
        """Give the bytes of an object, piece by piece. Raises ``FileNotFoundError``."""
        import obstore

        with self._faults():
            yield from map(bytes, obstore.get(self._store, key).stream())

    def check_writable(self) -> None:
        """Write and remove a few bytes; raises ``Unreachable`` with the reason."""
        import obstore

        with self._writing():
            obstore.put(self._store, ".easeml-check", b"easeml")
            obstore.delete(self._store, ".easeml-check")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._faults():
                yield
        except FileNotFoundError as error:  # the bucket itself
            raise self._unreachable(error) from error

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn what an object store says into ``Unreachable``, with its reason."""
        from obstore.exceptions import BaseError

        try:
            yield
        except BaseError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(
            f"The object store {self.url} does not do its work: {_first_line(error)}",
            remedy="The provider has to see to it, or to the rights that easeml has there.",
        )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

"""Fetching an object of a bucket, through a connection of the provider's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from easeml.errors import InvalidInput, Unreachable
from easeml.fetching.connections import Connection
from easeml.fetching.origin import Origin

_OPTIONS = {"access_key_id", "secret_access_key", "endpoint", "region"}


def opened(origin: Origin, connection: Connection) -> tuple[Iterator[bytes], str]:
    """Return the bytes of an object as they come, and its ETag.

    Raises ``Unreachable`` where there is none; no message has more of what the bucket says than its
    kind, as that may repeat a key.
    """
    try:
        import obstore
        from obstore.store import S3Store
    except ImportError as error:
        raise InvalidInput(
            "Buckets need the library obstore.", remedy="Install it: pip install 'easeml[cluster]'."
        ) from error
    options = connection.model_dump(include=_OPTIONS, exclude_defaults=True)
    if connection.endpoint.startswith("http://"):
        options["client_options"] = {"allow_http": True}
    store = S3Store(origin.parts.netloc, **options)
    with _reachable(origin):
        found = obstore.get(store, origin.parts.path.strip("/"))
    return _chunks(found, origin), str(found.meta.get("e_tag") or "")[:200]


def _chunks(found: Any, origin: Origin) -> Iterator[bytes]:
    with _reachable(origin):
        yield from map(bytes, found.stream())


@contextmanager
def _reachable(origin: Origin) -> Iterator[None]:
    """Raise ``Unreachable`` for whatever is raised: each kind of store has errors of its own."""
    try:
        yield
    except Exception as error:
        raise Unreachable(
            f"The bucket does not give it: {type(error).__name__}.",
            where=origin.address,
            remedy="See to the key, and to the rights of the connection.",
        ) from None

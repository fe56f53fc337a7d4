"""Taking what an origin has into a file, within limits."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from easeml.errors import InvalidInput, TooLarge, Unreachable
from easeml.fetching import buckets, web
from easeml.fetching.connections import Connection
from easeml.fetching.origin import DATABASES, Origin

Tell = Callable[[int, int | None], None]
"""Called now and then with the bytes that came, and those in all where that is known."""

_TELL_SECONDS = 1.0
_PAGE = re.compile(rb"(?i)\A(\xef\xbb\xbf)?\s*(<!--[^>]*>\s*)?<(!doctype html|html)\b")
_PAGE_ENDINGS = (".html", ".htm", ".xhtml")
_OF_A_TABLE = re.compile(r"(?i)\b(csv|tsv|jsonl?|ndjson|parquet|xlsx|arff|zip|gz)\b")


class Grant(BaseModel):
    """What a fetch may do, and the connection that it needs; handed to nobody else.

    ``limit``: most bytes; ``seconds``: longest time; ``trusted``: hosts that may lie in the
    provider's network; ``rows``: most rows of a query.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    limit: int
    seconds: float
    trusted: list[str] = []
    rows: int = 50_000_000
    connection: Connection | None = None
    refused: str = ""  # why nothing may be fetched


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came. ``filename``: its ending tells the format; ``etag``: as the web named its state."""

    digest: str
    size: int
    filename: str
    etag: str = ""


@dataclass(slots=True)
class _Taken:
    """Bytes that go to a file, counted, and their digest."""

    path: Path
    grant: Grant
    tell: Tell
    total: int | None = None
    size: int = 0
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0

    def take(self, chunks: Iterator[bytes]) -> str:
        """Write the chunks; return their digest. Raises ``TooLarge`` and ``Unreachable``."""
        digest = hashlib.sha256()
        with self.path.open("wb") as out:
            for chunk in chunks:
                self.size += len(chunk)
                self._check()
                out.write(chunk)
                digest.update(chunk)
        self.tell(self.size, self.total)
        return digest.hexdigest()

    def _check(self) -> None:
        now = time.monotonic()
        if self.size > self.grant.limit:
            raise _too_large(self.grant.limit)
        if now - self.began > self.grant.seconds:
            raise Unreachable(
                f"It took longer than {self.grant.seconds:,.0f} s; {self.size:,} bytes had come.",
                remedy="Fetch a smaller part, or upload the file.",
            )
        if now - self.told >= _TELL_SECONDS:
            self.told = now
            self.tell(self.size, self.total)


def fetch(origin: Origin, path: Path, grant: Grant, tell: Tell) -> Fetched:
    """Write what ``origin`` has to ``path``; nothing of it is held in memory.

    Raises ``NotAllowed``, ``Unreachable``, also where a web page answers in place of the table that
    an address names, ``TooLarge``, and ``InvalidInput`` for what is empty or a query that is not one
    question.
    """
    taken = _Taken(path, grant, tell)
    with _opened(origin, grant, taken) as (chunks, ending, etag):
        digest = taken.take(chunks)
    if taken.size == 0:
        raise InvalidInput("There is nothing: 0 bytes came.", where=origin.address)
    if origin.is_web:
        _check_no_page(origin, path)
    name = origin.filename
    if not PurePosixPath(name).suffix:
        name += ending
    return Fetched(digest, taken.size, name, etag)


def _check_no_page(origin: Origin, path: Path) -> None:
    """Raise ``Unreachable`` where a site asks people to sign in, or says that a file is gone."""
    suffix = PurePosixPath(origin.filename).suffix.lower()
    is_table = _OF_A_TABLE.search(f"{suffix} {origin.parts.query}")
    if not is_table or suffix in _PAGE_ENDINGS:
        return
    with path.open("rb") as file:
        is_page = _PAGE.match(file.read(1024))
    if is_page:
        raise Unreachable(
            "It answers with a web page, and not with the file that the address names.",
            where=origin.address,
            remedy="It may ask to sign in: open it in a browser that is not signed in. Share the "
            "file with everybody who has the link, or upload it.",
        )


@contextmanager
def _opened(
    origin: Origin, grant: Grant, taken: _Taken
) -> Iterator[tuple[Iterator[bytes], str, str]]:
    """Give bytes, the ending of their type, and the tag of their state."""
    if origin.is_web:
        with web.opened(origin, frozenset(grant.trusted), grant.seconds) as answer:
            if answer.encoding != "identity":
                raise Unreachable(
                    f"It comes packed ({answer.encoding}), though that was not asked for.",
                    where=origin.address,
                )
            if answer.length is not None and answer.length > grant.limit:
                raise _too_large(grant.limit)
            taken.total = answer.length
            yield answer.chunks(), answer.ending, answer.etag
        return
    assert grant.connection is not None
    if origin.parts.scheme in DATABASES:
        # Where a worker runs, only the store opens databases, with a library of its own.
        from easeml.fetching import queries

        rows = queries.rows_of(origin, grant.connection, grant.seconds, grant.rows)
        yield queries.as_csv(rows), ".csv", ""
    else:
        chunks, etag = buckets.opened(origin, grant.connection)
        yield chunks, "", etag


def _too_large(limit: int) -> TooLarge:
    return TooLarge(
        f"It has more than the {limit:,} bytes that may come.",
        remedy="Fetch a smaller part, or ask your provider for more storage.",
    )

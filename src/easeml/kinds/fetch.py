"""Fetch: bring what an address has. It moves bytes, and reads nothing of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.tasks import GRANT, Spec, TaskResult
from easeml.errors import NotAllowed
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.fetching import Grant
    from easeml.settings import Settings
    from easeml.store import Store, Transaction
    from easeml.store.records import Task


class FetchSpec(Spec):
    """Fetch: bring what an address has, for a version that waits for it.

    Output ``source``, the bytes. ``query``: on the database that the address names.
    """

    kind: Literal["fetch"] = "fetch"
    address: str
    query: str = ""


def fetch_source(spec: FetchSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``source``; return ``{digest, size, etag, filename, fetched}``.

    What it may do lies beside the inputs, and is gone when it has been read. Raises as
    ``easeml.fetching.fetch``.
    """
    from easeml.fetching import Grant, Origin, fetch

    handed = inputs.parent / GRANT
    grant = Grant.model_validate_json(handed.read_bytes())
    handed.unlink()
    # The environment of the service says where its own database and buckets are, and how to get in.
    for name in list(os.environ):
        if name.startswith(("AWS_", "EASEML_", "PG")):
            del os.environ[name]
    if grant.refused:
        raise NotAllowed(grant.refused)
    found = fetch(Origin(spec.address, spec.query), outputs / "source", grant, _tell)
    value = {
        "digest": found.digest,
        "size": found.size,
        "etag": found.etag,
        "filename": found.filename,
        "fetched": datetime.now(UTC).timestamp(),
    }
    return TaskResult(ok=True, value=value, outputs=["source"])


def _tell(size: int, total: int | None) -> None:
    whole = "" if total is None else f" of {total:,}"
    print(f"{size:,}{whole} bytes", flush=True)


def grant(store: Store, settings: Settings, task: Task) -> Grant:
    """Return limits, and the one connection that it needs."""
    from easeml.service.sources import granting

    return granting.grant(store, settings, task)


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Have what came read into the version that waits for it."""
    from easeml.service.sources import arriving

    arriving.arrived(tx, task, result.value, digests["source"])


def failed(tx: Transaction, task: Task) -> None:
    """Let the version that waits for it fail."""
    from easeml.service.sources import arriving

    arriving.failed(tx, task)


KIND = Kind(
    name="fetch",
    title="Fetch data",
    about="Fetches a file of the web or of a bucket, or the rows of a query.",
    group="advise",
    spec=FetchSpec,
    body=fetch_source,
    record=record,
    failed=failed,
    outputs=("source",),
    values=("digest", "size", "filename"),
    seconds=INGEST_SECONDS,
    grant=grant,
)

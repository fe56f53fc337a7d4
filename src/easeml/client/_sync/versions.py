# Made from ../_async/versions.py by scripts/unasync.py: change that file, then run the script.
"""The data of an application: fed, refined, looked at, compared and exported."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from easeml.client._sync.calls import API
from easeml.client._sync.uploads import Progress, Uploads, check_file
from easeml.client.answers import made_request
from easeml.contract.datasets import Version
from easeml.contract.versions import Comparison, Refinement, TrainRow, TrainRows


class Versions(Uploads):
    """How an application's data changes."""

    def feed(
        self,
        application_id: str,
        path: str | Path,
        *,
        role: str | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Add the rows of a file to an application's data; the new version is ``ingesting`` then.

        ``role`` of the new rows: train, validation, test, pool or production; None: divided as the
        rows before. If the rows do not fit, the version fails, saying why, and nothing changes.
        Raises NotFound, InvalidInput, NotReady while the data is being changed.
        """
        path = check_file(path)
        params, address = (
            {"filename": path.name, "role": role},
            f"/applications/{application_id}/feed",
        )
        return self._create_from(
            Version, address, path, key=idempotency_key, params=params, progress=progress
        )

    def replace_data(
        self,
        application_id: str,
        path: str | Path,
        *,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Let the rows of a file take the place of all rows; the version is ``ingesting`` then.

        The endpoint goes on answering. If the table is not the same one, the version fails, naming
        every difference, and nothing changes. Raises NotFound, InvalidInput, NotReady while the
        data is being changed, Conflict where a gate counts on the test rows.
        """
        path = check_file(path)
        address = f"/applications/{application_id}/replace"
        params = {"filename": path.name}
        return self._create_from(
            Version, address, path, key=idempotency_key, params=params, progress=progress
        )

    def refine(
        self,
        application_id: str,
        *,
        off: Sequence[int] = (),
        on: Sequence[int] = (),
        version_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Switch train rows off or on, by id, in a new version (the same one where nothing
        changes).

        ``version_id``: refuse if the data has another version by now. Raises NotFound, InvalidInput
        for an id that is no train row's, Conflict, NotReady while the data is being changed.
        """
        wish = made_request(Refinement, off=list(off), on=list(on), version_id=version_id)
        return self._create(
            Version, f"/applications/{application_id}/refine", key=idempotency_key, request=wish
        )

    def train_rows_page(
        self,
        application_id: str,
        *,
        label: str | None = None,
        on: bool | None = None,
        suspicious: bool = False,
        after: str | None = None,
        limit: int = 50,
    ) -> TrainRows:
        """Return a page of the training pairs: of one class, on or off, the most suspicious first.

        Raises NotFound.
        """
        wanted = {
            "label": label,
            "on": on,
            "suspicious": suspicious or None,
            "after": after,
            "limit": limit,
        }
        return self._get(TrainRows, f"/applications/{application_id}/rows", **wanted)

    def train_rows(
        self,
        application_id: str,
        *,
        label: str | None = None,
        on: bool | None = None,
        suspicious: bool = False,
    ) -> Iterator[TrainRow]:
        """Give all training pairs, as ``train_rows_page`` orders them."""
        wanted = {"label": label, "on": on, "suspicious": suspicious or None}
        return self._list(TrainRow, f"/applications/{application_id}/rows", **wanted)

    def compare(self, version_id: str, before_id: str | None = None) -> Comparison:
        """Return what a version has that ``before_id`` (None: its parent) had not.

        Raises NotFound, Conflict.
        """
        return self._get(Comparison, f"/versions/{version_id}/comparison", before=before_id)

    def export(self, version_id: str, form: str = "csv") -> bytes:
        """Return the rows of a version as a file: csv, tsv, parquet, arrow, feather, jsonl, arff,
        zip, tar or tar.gz.

        Raises NotFound, InvalidInput for another format and for rows that it cannot hold.
        """
        path = f"{API}/versions/{version_id}/export"
        response = self._transport.request("GET", path, repeatable=True, params={"format": form})
        return response.content

    def export_doubts(self, application_id: str, form: str = "csv") -> bytes:
        """Return the doubtful cells of an application's data as a file: csv, or zip (a relation).

        Raises NotFound, InvalidInput for another format, Conflict where nobody looked for any yet.
        """
        path = f"{API}/applications/{application_id}/doubts/export"
        response = self._transport.request("GET", path, repeatable=True, params={"format": form})
        return response.content

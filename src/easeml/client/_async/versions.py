"""The data of an application: fed, listed and exported."""

from collections.abc import AsyncIterator
from pathlib import Path

from easeml.client._async.calls import API
from easeml.client._async.uploads import AsyncUploads, Progress, check_file
from easeml.contract.datasets import Version
from easeml.contract.versions import TrainRow


class AsyncVersions(AsyncUploads):
    """How an application's data changes."""

    async def feed(
        self,
        application_id: str,
        path: str | Path,
        *,
        role: str | None = None,
        anyway: bool = False,
        table: int | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Add the rows of a file to an application's data; the new version is ``ingesting`` then.

        ``role`` of the new rows: train, validation, test, pool or production; None: divided as the
        rows before. ``table``: which one of several in the file, as of ``upload``. If the rows do
        not fit, the version fails, saying why, and nothing changes; so it does where a column of
        them is plainly broken, unless they are to join ``anyway``.
        Raises NotFound, InvalidInput, NotReady while the data is being changed.
        """
        path = check_file(path)
        wish = {"role": role, "table": table, "anyway": anyway}
        params, address = (
            {"filename": path.name, **wish},
            f"/applications/{application_id}/feed",
        )
        return await self._create_from(
            Version, address, path, key=idempotency_key, params=params, progress=progress
        )

    async def replace_data(
        self,
        application_id: str,
        path: str | Path,
        *,
        table: int | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Let the rows of a file take the place of all rows; the version is ``ingesting`` then.

        The endpoint goes on answering. ``table``: as of ``feed``. If it is not the same one, the
        version fails, naming every difference, and nothing changes. Raises NotFound, InvalidInput,
        NotReady while the data is being changed, Conflict where a gate counts on the test rows.
        """
        path = check_file(path)
        address = f"/applications/{application_id}/replace"
        params = {"filename": path.name, "table": table}
        return await self._create_from(
            Version, address, path, key=idempotency_key, params=params, progress=progress
        )

    def train_rows(
        self,
        application_id: str,
        *,
        label: str | None = None,
        on: bool | None = None,
        suspicious: bool = False,
    ) -> AsyncIterator[TrainRow]:
        """Give all training pairs, as ``train_rows_page`` orders them."""
        wanted = {"label": label, "on": on, "suspicious": suspicious or None}
        return self._list(TrainRow, f"/applications/{application_id}/rows", **wanted)

    async def export(
        self, version_id: str, form: str = "csv", since: str | None = None, *, cells: bool = False
    ) -> bytes:
        """Return the rows of a version as a file: csv, tsv, parquet, arrow, feather, jsonl, arff,
        zip, tar or tar.gz.

        ``since``: another version of the same data; only rows that are new or differ from it are
        given, and rows of the role ``off``, without cells, for those that are gone. ``cells``: of
        rows that were there, only the columns in which one of them differs are given; the column
        ``easeml.cells`` names these.

        Raises NotFound, InvalidInput for another format and for rows that it cannot hold.
        """
        path = f"{API}/versions/{version_id}/export"
        response = await self._transport.request(
            "GET",
            path,
            repeatable=True,
            params={"format": form, "since": since, "cells": cells or None},
        )
        return response.content

    async def export_doubts(self, application_id: str, form: str = "csv") -> bytes:
        """Return the doubtful cells of an application's data as a file: csv, or zip (a relation).

        Raises NotFound, InvalidInput for another format, Conflict where nobody looked for any yet.
        """
        path = f"{API}/applications/{application_id}/doubts/export"
        response = await self._transport.request(
            "GET", path, repeatable=True, params={"format": form}
        )
        return response.content

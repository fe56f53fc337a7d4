"""Uploads, datasets and their versions."""

import tempfile
from pathlib import Path
from typing import Any

from easeml.client._async.uploads import AsyncUploads, Progress, check_file
from easeml.client.frames import is_frame, write_parquet
from easeml.contract.datasets import Dataset

_FRAME = "table"  # what a table in memory is called


class AsyncDatasets(AsyncUploads):
    """What users bring."""

    async def upload(
        self,
        data: Any,
        *,
        name: str | None = None,
        header: bool | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Upload a file or a table in memory as a new dataset; its version is ``ingesting`` then. A
        lost connection is taken up again.

        ``data``: the path of a file; or a frame of pandas or Polars, an Arrow table, or an array.
        ``name``: the file's stem by default, ``table`` for a table in memory. ``progress`` is called
        with bytes sent and bytes in all. ``header``: whether the first row of a text table holds
        the names; None: that is found out. Raises InvalidInput where the data cannot be read,
        TooLarge.
        """
        if is_frame(data):
            with tempfile.TemporaryDirectory(prefix="easeml-") as folder:
                path = Path(folder) / f"{_FRAME}.parquet"
                write_parquet(data, path)
                return await self.upload(
                    path, name=name, progress=progress, idempotency_key=idempotency_key
                )
        path = check_file(data)
        params: dict[str, Any] = {"name": name or path.stem, "filename": path.name}
        if header is not None:
            params["header"] = header
        return await self._create_from(
            Dataset, "/datasets", path, key=idempotency_key, params=params, progress=progress
        )

# Made from ../_async/datasets.py by scripts/unasync.py: change that file, then run the script.
"""Uploads, datasets and their versions."""

import tempfile
from pathlib import Path
from typing import Any

from easeml.client._sync.calls import API
from easeml.client._sync.uploads import Progress, Uploads, check_file
from easeml.client.frames import is_frame, write_parquet
from easeml.client.packing import as_file
from easeml.contract.datasets import Dataset
from easeml.contract.task_views import Task
from easeml.errors import InvalidInput

_FRAME = "table"  # what a table in memory is called
_SAMPLES = {".zip", ".npy", ".npz", ".ts", ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"}


class Datasets(Uploads):
    """What users bring."""

    def upload(
        self,
        data: Any,
        *,
        name: str | None = None,
        header: bool | None = None,
        table: int | None = None,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Dataset:
        """Upload a file or a table in memory as a new dataset; its version is ``ingesting`` then. A
        lost connection is taken up again.

        ``data``: the path of a file, or of a folder, which is sent as a zip file; or a frame of
        pandas or Polars, an Arrow table, or an array.
        ``name``: the file's stem by default, ``table`` for a table in memory. ``progress`` is called
        with bytes sent and bytes in all. ``header``: whether the first row of a text table holds
        the names; ``table``: which one, from 1, of a workbook or document, 0 for the text of a
        document; None: that is found out. Raises InvalidInput where the data cannot be read,
        TooLarge.
        """
        if is_frame(data):
            with tempfile.TemporaryDirectory(prefix="easeml-") as folder:
                path = Path(folder) / f"{_FRAME}.parquet"
                write_parquet(data, path)
                return self.upload(
                    path, name=name, progress=progress, idempotency_key=idempotency_key
                )
        with as_file(Path(data)) as path:
            check_file(path)
            params: dict[str, Any] = {"name": name or path.stem, "filename": path.name}
            reading = {"header": header, "table": table}
            params |= {name: value for name, value in reading.items() if value is not None}
            return self._create_from(
                Dataset, "/datasets", path, key=idempotency_key, params=params, progress=progress
            )

    def predict_file(
        self,
        application_id: str,
        path: str | Path,
        *,
        fill_absent: bool = False,
        fill_empty: bool = False,
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for the predictions of a file's rows by a task, with the model that is live now.

        ``save_predictions`` fetches them when it is done. ``fill_absent``: columns that may be empty
        may be absent as well. ``fill_empty``: cells may be empty in columns that had no empty one
        in training. ``progress`` is called with bytes sent and bytes in all. Raises
        InvalidInput where the file cannot be read or is no table, NotFound, NotReady while there is
        no model, TooLarge.
        """
        path = check_file(path)
        if path.suffix.lower() in _SAMPLES:
            raise InvalidInput(
                "A task predicts the rows of tables only.",
                where=str(path),
                remedy="Predict pictures, series and arrays at once, without a task.",
            )
        return self._create_from(
            Task,
            f"/applications/{application_id}/predictions",
            path,
            key=idempotency_key,
            params={"filename": path.name, "fill_absent": fill_absent, "fill_empty": fill_empty},
            progress=progress,
        )

    def import_model(
        self,
        application_id: str,
        path: str | Path,
        *,
        name: str = "",
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Have a file read, by a task, as a model of an application that was trained elsewhere.

        ``path``: an ONNX graph, a scikit-learn pipeline that skops wrote or that was pickled, or an
        MLflow folder with one of these, or a zip file of it. ``name``: of the model; empty: the stem of the file.
        ``progress`` is called with bytes sent and bytes in all. The task fails where the file is no
        model of the application. Raises InvalidInput where the file cannot be read or the name is
        none, NotFound, Conflict while the data is not ready, TooLarge.
        """
        with as_file(Path(path)) as file:
            check_file(file)
            return self._create_from(
                Task,
                f"/applications/{application_id}/imports",
                file,
                key=idempotency_key,
                params={"filename": file.name, "name": name},
                progress=progress,
            )

    def import_history(
        self,
        application_id: str,
        path: str | Path,
        *,
        model: str = "",
        study: str = "",
        value: str = "",
        direction: str = "",
        progress: Progress | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Have trials of another program read, by a task; the application's search learns from them.

        ``path``: the SQLite file or the journal of an Optuna study, or a table of trials as CSV.
        ``model``: of ours, where the trials do not name theirs; ``study``: its name, where there are
        several; ``value``: the column that trials are judged by; ``direction``: "maximize" or
        "minimize", where the file does not say. The task's result has the trials that were taken
        and why others were not. Raises InvalidInput, NotFound, Conflict while the data is not
        ready, TooLarge.
        """
        path = check_file(path)
        asked = {"model": model, "study": study, "value": value, "direction": direction}
        return self._create_from(
            Task,
            f"/applications/{application_id}/histories",
            path,
            key=idempotency_key,
            params={"filename": path.name, **asked},
            progress=progress,
        )

    def save_predictions(
        self, task_id: str, path: str | Path, *, form: str = "parquet", keep_formulas: bool = False
    ) -> None:
        """Write what a task predicted of a file into the file ``path``, beside its rows.

        ``form``: parquet, csv or jsonl (JSON lines). ``keep_formulas``: CSV has texts as they are
        that a spreadsheet would run as a formula; else they get an apostrophe in front. Raises
        NotFound, Conflict where the task brought nothing, or not yet, and InvalidInput where there
        is no such format, or no folder to write into.
        """
        wanted = {"format": form, "keep_formulas": keep_formulas}
        address = f"{API}/tasks/{task_id}/predictions"
        self._transport.save(address, Path(path), params=wanted)

"""Advise: predict the rows of a file with the model that an endpoint serves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from easeml.export.exported import ExportedModel
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

ROWS_AT_ONCE = 10_000


class PredictFileSpec(Spec):
    """Advise: predict the rows of a file with the model that an endpoint serves.

    Inputs ``source``, the file (an artefact with the digest ``source``), and ``model``, a folder.
    ``filename``: its ending tells the format.
    """

    kind: Literal["predict-file"] = "predict-file"
    filename: str
    source: str


def predict_file(spec: PredictFileSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``predictions``, a Parquet file with the columns of the file as texts and what
    was predicted beside them; return ``{rows}``.

    What is predicted is as of ``easeml predict``. Raises ``DatasetError``, which names the row.
    """
    import pyarrow.parquet as pq

    from easeml import data
    from easeml.export import load_exported

    table = data.read_table(inputs / "source", spec.filename)
    model = load_exported(inputs / "model")
    writer = None
    try:
        for start in range(0, max(1, table.num_rows), ROWS_AT_ONCE):
            part = _predicted(model, table.slice(start, ROWS_AT_ONCE), start)
            if writer is None:
                writer = pq.ParquetWriter(outputs / "predictions", part.schema)
            writer.write_table(part.cast(writer.schema))
            print(f"{start + part.num_rows:,} of {table.num_rows:,} rows", flush=True)
    finally:
        if writer is not None:
            writer.close()
    return TaskResult(ok=True, value={"rows": table.num_rows}, outputs=["predictions"])


def _predicted(model: ExportedModel, rows: pa.Table, start: int) -> Any:
    """Return rows with what is predicted of them; a name that they have gets an underscore more."""
    import pyarrow as pa

    from easeml.data import DatasetError

    try:
        found = model.predict(rows.to_pandas())
    except DatasetError as error:
        if start == 0:
            raise
        message = f"{error.message} Rows are counted from row {start:,} of the file."
        raise DatasetError(message, where=error.where, remedy=error.remedy) from error
    for name in found:
        free = str(name)
        while free in rows.column_names:
            free += "_"
        rows = rows.append_column(free, pa.array(found[name].tolist()))
    return rows


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The file, and the files that the model serves with."""
    spec = PredictFileSpec.model_validate(task.payload)
    return {"source": spec.source, "model": tables.models.get(task.subject).served}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep where the predictions are."""
    from easeml.service.models import predicted_files

    predicted_files.record(tx, task, result, digests["predictions"])


KIND = Kind(
    name="predict-file",
    title="Predict the rows of a file",
    about="Predicts the rows of a file with the model that is live when the task is asked for.",
    group="advise",
    spec=PredictFileSpec,
    body=predict_file,
    inputs=inputs,
    record=record,
    outputs=("predictions",),
    values=("rows",),
)

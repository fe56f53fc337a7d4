"""Advise: predict the rows of a file with the model that an endpoint serves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.states import Lane
from easeml.contract.task_progress import has_moved, progress_line
from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.modules.row_order import Beyond
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

ROWS_AT_ONCE = 10_000


class PredictFileSpec(Spec):
    """Advise: predict the rows of a file with the model that an endpoint serves.

    Inputs ``source``, the file (an artefact with the digest ``source``), and ``model``, a folder.
    ``filename``: its ending tells the format. ``fill_absent``: columns that may be empty may be
    absent as well. ``fill_empty``: cells may be empty in columns that had no empty one in training.
    """

    kind: Literal["predict-file"] = "predict-file"
    filename: str
    source: str
    fill_absent: bool = False
    fill_empty: bool = False


def predict_file(spec: PredictFileSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``predictions``, a Parquet file with the columns of the file as texts and what
    was predicted beside them; return ``{rows, notes}``.

    What is predicted is as of ``easeml predict``. A part of the file is held at a time. Raises
    ``DatasetError``, which names rows and columns: the faults of the whole file at once, but for
    very many.
    """
    from easeml.data import RowParts
    from easeml.export import load_exported
    from easeml.kinds.shared.predicted_rows import predicted_rows

    model = load_exported(inputs / "model")
    rows = RowParts(
        inputs / "source",
        spec.filename,
        model.schema_in,
        model.schema_out,
        fill_absent=spec.fill_absent,
        fill_empty=spec.fill_empty,
    )
    done = 0
    beyond: Beyond = Counter()
    with predicted_rows(outputs / "predictions", model.schema_out, rows.style) as out:
        for part, typed in rows.parts(ROWS_AT_ONCE):
            out.write(part, model.predict_columns(typed))
            beyond += model.beyond(typed)
            before, done = done, done + part.num_rows
            if has_moved(before, done, rows.count):
                print(progress_line(done, rows.count), flush=True)
    notes = [*rows.notes, *model.notes(beyond)]
    return TaskResult(ok=True, value={"rows": rows.count, "notes": notes}, outputs=["predictions"])


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The file, and the files that the model serves with."""
    spec = PredictFileSpec.model_validate(task.payload)
    return {"source": spec.source, "model": tables.models.get(task.subject).served}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep where the predictions are."""
    from easeml.service.models import predicted_files
    from easeml.service.sources import predicting

    predicted_files.record(tx, task, result, digests["predictions"])
    predicting.predicted(tx, task, int(result.value["rows"]))


def failed(tx: Transaction, task: Task) -> None:
    """Let the retrieval fail that wanted the predictions, if one did."""
    from easeml.service.sources import retrievals

    retrievals.task_failed(tx, task)


KIND = Kind(
    name="predict-file",
    title="Predict the rows of a file",
    about="Predicts the rows of a file with the model that is live when the task is asked for.",
    group="advise",
    spec=PredictFileSpec,
    body=predict_file,
    inputs=inputs,
    record=record,
    failed=failed,
    outputs=("predictions",),
    values=("rows",),
    lane=Lane.LONG,
)

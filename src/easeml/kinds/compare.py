"""Advise: what would the other model have answered to requests that came?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.export.exported import ExportedModel
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class CompareSpec(Spec):
    """Advise: predict rows of production by the model that did not answer them.

    Input ``rows``: JSON of two lists, ``new`` and ``old``, each of objects with the ``id`` of a row
    and its ``inputs``, to be predicted by the model of that name. ``source``: the file's digest.
    """

    kind: Literal["compare"] = "compare"
    source: str
    new_id: str
    old_id: str


def predict_others(spec: CompareSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{predictions}``: by id of the row, None where the model failed. Writes no output."""
    from easeml.export import load_exported

    rows = json.loads((inputs / "rows").read_bytes())
    predictions: dict[str, Any] = {}
    for name in ("new", "old"):
        if rows[name]:
            model = load_exported(inputs / name)
            values = _predicted(model, [row["inputs"] for row in rows[name]])
            ids = [row["id"] for row in rows[name]]
            predictions.update(zip(ids, values, strict=True))
    return TaskResult(ok=True, value={"predictions": predictions})


def _predicted(model: ExportedModel, rows: list[dict[str, Any]]) -> list[Any]:
    """Return predictions; where one row makes the model fail, only its own is missing."""
    from easeml.data import FILL_ABSENT, FILL_EMPTY, parse_rows

    body = json.dumps({"rows": rows}).encode()
    content_type = f"application/json; {FILL_ABSENT}; {FILL_EMPTY}"
    try:
        read = parse_rows(body, content_type, model.schema_in, model.schema_out)
        return model.trained.predict(read.table).values.tolist()
    except Exception as error:  # a model may fail on rows that another one could predict
        if len(rows) > 1:
            return [_predicted(model, [row])[0] for row in rows]
        print(f"a row could not be predicted: {type(error).__name__}: {error}", flush=True)
        return [None]


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The rows, and the files that both models serve with."""
    spec = CompareSpec.model_validate(task.payload)
    return {
        "rows": spec.source,
        "new": tables.models.get(spec.new_id).served,
        "old": tables.models.get(spec.old_id).served,
    }


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep what the models would have answered, and count the rows whose truth is known."""
    from easeml.service.models import comparing

    comparing.record(tx, task, result.value["predictions"])


def failed(tx: Transaction, task: Task) -> None:
    """Take the new model back: it could not be compared."""
    from easeml.service.models import comparing

    comparing.could_not_compare(tx, task)


KIND = Kind(
    name="compare",
    title="Compare on requests",
    about="Predicts rows of production by the model that did not answer them.",
    group="advise",
    spec=CompareSpec,
    body=predict_others,
    inputs=inputs,
    record=record,
    failed=failed,
    values=("predictions",),
)

"""Ingest: tables of a data set without rows that are to be nowhere any more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from easeml.contract.states import ModelFate
from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import INGEST_SECONDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from easeml.data import Declared
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


_SOURCE = ".source"
_WITH_A_FILE = ("feed", "replace")  # operations whose rows lie in a file of their own


class Step(BaseModel):
    """A version, and how it was made. ``before_id``: the upload whose rows it had before.

    ``slice``: of a file, only rows of a slice joined.
    """

    id: str
    operation: str
    parent_id: str = ""
    upload_id: str = ""
    before_id: str = ""
    filename: str = ""
    slice: bool = False


class EraseSpec(Spec):
    """Ingest: find rows in all versions of a data set, the subject; write those without them.

    Inputs: the folder of each version by its id, and ``ID.source``, the file that a version was fed.
    Outputs: the new folder of each version that had such rows, and the file that it was read from,
    likewise, as an Arrow file; none in a dry run.
    ``steps``: the versions, parents first.
    """

    kind: Literal["erase-rows"] = "erase-rows"
    where: dict[str, str]
    models: ModelFate
    plan_only: bool
    by: str
    steps: list[Step] = Field(default_factory=list)


def erase_rows(spec: EraseSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write the outputs; return ``versions``: by id, how many ``rows``, by ``roles``, their ``ids``,
    those of test rows (``test_ids``), and the ``columns``, schemas and ``summary`` of what was
    written; and ``classes``: names that only such rows had.
    """
    work = _Work(spec, inputs)
    found: dict[str, dict[str, Any]] = {}
    for step in spec.steps:
        of_step = work.erase(step, None if spec.plan_only else outputs / step.id)
        if of_step["rows"]:
            found[step.id] = of_step
    written = sorted(path.name for path in outputs.iterdir())
    value = {"versions": found, "classes": sorted(work.classes)}
    return TaskResult(ok=True, value=value, outputs=written)


class _Work:
    """Goes through the versions, and remembers the ids of the rows that were found.

    ``classes``: those that only these rows had.
    """

    def __init__(self, spec: EraseSpec, inputs: Path):
        self._where = spec.where
        self._inputs = inputs
        self._ids: dict[str, set[int]] = {}
        self._gone: dict[str, set[str]] = {}
        self.classes: set[str] = set()

    def erase(self, step: Step, out: Path | None) -> dict[str, Any]:
        """Return what is said of a version; write it without the rows where ``out`` is named."""
        if step.operation == "upload":
            return self._upload(step, out)
        return self._declared(step, out)

    def _upload(self, step: Step, out: Path | None) -> dict[str, Any]:
        from easeml import data

        table, reports = data.read_upload(self._inputs / step.id)
        places = data.places_with(table, self._where)
        self._ids[step.id] = set(places.tolist())
        left, gone = data.blanked(table, places)
        self._note_gone(gone)
        reports = data.of_rows_left(reports, self._gone)
        if out is not None and len(places):
            data.write_upload(out, left, reports)
            data.write_arrow(out.with_name(f"{step.id}{_SOURCE}"), left)
        columns = [report.to_json() for report in reports]
        return {"rows": len(places), "roles": {}, "ids": [], "columns": columns}

    def _declared(self, step: Step, out: Path | None) -> dict[str, Any]:
        from easeml import data

        version = data.read_declared(self._inputs / step.id)
        known = self._ids.get(step.parent_id, set()) | self._joined(step, out)
        known |= data.ids_with(version, self._where)
        ids = self._ids[step.id] = known & data.ids_of(version)
        if not ids:
            return {"rows": 0}
        roles = data.roles_among(version, ids)
        left = data.without_ids(version, ids, self._gone)
        classes = data.lost_classes(version, left)
        self._note_gone(classes)
        self.classes.update(*classes.values())
        if out is not None:
            data.write_version(out, left)
        return {
            "rows": len(ids),
            "roles": roles,
            "ids": sorted(ids),
            "test_ids": sorted(ids.intersection(version.frames["test"]["_row"].tolist())),
            "columns": [report.to_json() for report in left.columns],
            "schema_in": left.schema_in.to_json(),
            "schema_out": left.schema_out.to_json(),
            "summary": {**left.summary, "notes": left.notes},
        }

    def _joined(self, step: Step, out: Path | None) -> set[int]:
        """Return the ids of the rows that joined with this version and are to go.

        They are found in the file that they came from, which has the columns that models do not
        use. Of the rows of a slice, the file does not tell the ids.
        """
        from easeml import data

        if step.operation not in _WITH_A_FILE or step.slice:
            return set()
        parent = data.read_declared(self._inputs / step.parent_id)
        table = self._fed(step, parent)
        places = data.places_with(table, self._where)
        left, gone = data.blanked(table, places)
        self._note_gone(gone)
        if out is not None and len(places) and not step.upload_id:
            data.write_arrow(out.with_name(f"{step.id}{_SOURCE}"), left)
        return set((parent.next_row + places).tolist())

    def _fed(self, step: Step, parent: Declared) -> pa.Table:
        from easeml import data

        if not step.upload_id:
            return data.read_table(self._inputs / f"{step.id}{_SOURCE}", step.filename)
        before, _ = data.read_upload(self._inputs / step.before_id)
        table, _ = data.read_upload(self._inputs / step.upload_id)
        return data.new_rows(parent, before, table)

    def _note_gone(self, gone: Mapping[str, set[str]]) -> None:
        for column, values in gone.items():
            self._gone.setdefault(column, set()).update(values)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """All versions of the data set, and the files that were fed."""
    found = {}
    for step in EraseSpec.model_validate(task.payload).steps:
        version = tables.versions.get(step.id)
        found[step.id] = version.artefact
        has_file = step.operation in _WITH_A_FILE and not step.upload_id
        if has_file and version.source_artefact:
            found[f"{step.id}{_SOURCE}"] = version.source_artefact
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Let nothing have the rows any more, and keep a report; in a dry run, only say what would go."""
    from easeml.service.retention import erasing

    fed = {id: digests.get(f"{id}{_SOURCE}", "") for id in result.value["versions"]}
    erasing.record(tx, task, result.value, digests, fed)


def failed(tx: Transaction, task: Task) -> None:
    """Forget what the rows were known by."""
    from easeml.service.retention import erasing

    spec = EraseSpec.model_validate(task.payload)
    erasing.forget_question(tx.scoped(task.tenant_id), task, spec.where)


KIND = Kind(
    name="erase-rows",
    title="Erase rows",
    about="Makes the versions of a data set anew without rows that are to be nowhere any more.",
    spec=EraseSpec,
    body=erase_rows,
    inputs=inputs,
    record=record,
    failed=failed,
    group="ingest",
    values=("versions", "classes"),
    seconds=INGEST_SECONDS,
)

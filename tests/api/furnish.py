"""Writes a finished search into a tenant, as scheduler and worker would leave it."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from easeml.data import Declared, declare, infer_table, write_version
from easeml.ids import new_id
from easeml.store import Store
from easeml.store.records import (
    Application,
    Attempt,
    Candidate,
    Dataset,
    DatasetVersion,
    Decision,
    Job,
    Promotion,
    Task,
    TrainedModel,
)
from easeml.store.shapes import (
    CandidatePipeline,
    ModuleConfig,
    Operation,
    OperationName,
    VersionSummary,
)

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Furniture:
    """Ids of what a tenant has."""

    dataset_id: str
    version_id: str
    application_id: str
    job_id: str
    task_id: str
    model_ids: tuple[str, str]  # the one that was live first, and the live one

    @property
    def model_id(self) -> str:
        """The live one."""
        return self.model_ids[1]


def _irises() -> Declared:
    sizes, kinds = [f"{size}.5" for size in range(20)], ["setosa", "virginica"] * 10
    table = pa.table({"size": sizes, "kind": kinds})
    return declare(table, infer_table(table).columns, "kind")


def _stored_version(store: Store, tenant_id: str, made: Declared) -> dict:
    """Keep the rows of a declared version; return the fields of its record that tell of them."""
    with TemporaryDirectory() as folder:
        write_version(Path(folder, "version"), made)
        digest = store.artefacts.put(tenant_id, Path(folder, "version"))
    columns = [report.to_json() for report in made.columns]
    schemas = {"schema_in": made.schema_in.to_json(), "schema_out": made.schema_out.to_json()}
    return {
        "artefact": digest,
        "columns": columns,
        "summary": VersionSummary(made.summary),
        **schemas,
    }


def furnish(store: Store, tenant_id: str, data: Declared | None = None) -> Furniture:
    """Give a tenant a dataset and a serving application whose search rests.

    ``data``: the rows; without them, those of some irises.
    """
    declared = data or _irises()
    made = Furniture(
        *(new_id(prefix) for prefix in ("data", "ver", "app", "job", "task")),
        model_ids=(new_id("model"), new_id("model")),
    )
    first, live = made.model_ids
    owner = {"tenant_id": tenant_id}
    upload_id, rows = new_id("ver"), _stored_version(store, tenant_id, declared)
    artefact, _ = store.artefacts.put_stream(tenant_id, [b"a tree"], 100)
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        tables.datasets.add(Dataset(made.dataset_id, name="iris", **owner))
        tables.versions.add(
            DatasetVersion(
                upload_id,
                dataset_id=made.dataset_id,
                number=1,
                operation=Operation(OperationName.UPLOAD, {"filename": "iris.csv"}),
                state="ready",
                **owner,
            )
        )
        tables.versions.add(
            DatasetVersion(
                made.version_id,
                dataset_id=made.dataset_id,
                number=2,
                operation=Operation(OperationName.DECLARE, {"seed": 0, "split": "random"}),
                parents=[upload_id],
                state="ready",
                **rows,
                **owner,
            )
        )
        tables.applications.add(
            Application(
                made.application_id,
                name="irises",
                dataset_id=made.dataset_id,
                version_id=made.version_id,
                target=declared.target,
                objective="accuracy",
                state="serving",
                live_model_id=live,
                **owner,
            )
        )
        tables.jobs.add(
            Job(
                made.job_id,
                application_id=made.application_id,
                version_id=made.version_id,
                state="resting",
                **owner,
            )
        )
        candidate = new_id("cand")
        tables.candidates.add(
            Candidate(
                candidate,
                job_id=made.job_id,
                arm=0,
                name="tree 0",
                model="tree",
                pipeline=CandidatePipeline([], ModuleConfig("tree")),
                predicted_cost=1.0,
                **owner,
            )
        )
        for task_id, model_id, previous in (
            (new_id("task"), first, ""),
            (made.task_id, live, first),
        ):
            tables.tasks.add(
                Task(
                    task_id,
                    kind="train",
                    lane="search",
                    payload={"kind": "train"},
                    subject=made.application_id,
                    job_id=made.job_id,
                    candidate_id=candidate,
                    state="done",
                    attempts=1,
                    quality=0.9,
                    **owner,
                )
            )
            tables.models.add(
                TrainedModel(
                    model_id,
                    application_id=made.application_id,
                    job_id=made.job_id,
                    task_id=task_id,
                    candidate_id=candidate,
                    name="tree 0",
                    artefact=artefact,
                    predictions="",
                    quality=0.9,
                    **owner,
                )
            )
            tables.promotions.add(
                Promotion(
                    new_id("prom"),
                    application_id=made.application_id,
                    model_id=model_id,
                    previous_model_id=previous,
                    state="live",
                    kind="better",
                    reason="",
                    **owner,
                )
            )
        attempt = {
            "task_id": made.task_id,
            "number": 1,
            "process_id": "proc_1",
            "lease_expires": 0.0,
            "state": "done",
        }
        tables.attempts.add(Attempt(new_id("att"), **attempt, **owner))
        tables.decisions.add(
            Decision(
                new_id("dec"),
                job_id=made.job_id,
                task_id=made.task_id,
                candidate_id=candidate,
                policy="round-robin",
                epoch=1,
                explanation={"why": "first"},
                **owner,
            )
        )
        about = {"application_id": made.application_id}
        tx.events.append("job.resting", made.job_id, about, tenant_id)
    return made

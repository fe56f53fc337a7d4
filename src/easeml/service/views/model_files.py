"""The files of a trained model, for its owner to take elsewhere."""

import json
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from easeml.contract.applications import TestQuality
from easeml.contract.measures import judged_on
from easeml.data import kinds_of, read_declared, read_version, write_version
from easeml.service.access.caller import Caller
from easeml.service.applications import application_views
from easeml.service.models import lost_models
from easeml.service.models.trained_models import show_models
from easeml.service.retention.facts import EXPORTED
from easeml.store import Store, Transaction
from easeml.store.records import DatasetVersion

MODEL, FACTS, TEST_ROWS = "model", "facts.json", "test-rows.parquet"
FIRST_FIT, EVIDENCE = "first-fit", "evidence"


@dataclass(frozen=True, slots=True)
class Beside:
    """What lies beside the files of a model.

    ``test_rows``: the inputs of the test rows, without what is to be predicted: a translation of
    the model is compared on them, and nothing of its quality is read. ``evidence``: by what a way
    is chosen to make it smaller, see ``easeml.export.Evidence``.
    """

    test_rows: bool = False
    evidence: bool = False


def pack(
    store: Store, caller: Caller, model_id: str, folder: Path, beside: Beside = Beside()
) -> Path:
    """Write a tar file below ``folder`` with the files that serve and what is known of the model.

    The files lie in ``model``; ``facts.json`` has the fields of ``easeml.export.ModelFacts``.
    Raises ``NotFound``, and ``Conflict`` where the files are gone or damaged.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        model = tables.models.get(model_id)
        application = tables.applications.get(model.application_id)
        version = tables.versions.get(application.version_id)
        facts = facts_of(tx, caller, model_id)
    lost_models.check_files(store, model)
    files = store.artefacts.fetch(caller.tenant_id, model.served, folder / MODEL)
    (folder / FACTS).write_text(json.dumps(facts))
    path = folder / f"{model.id}.tar"
    with tarfile.open(path, "w") as tar:
        tar.add(files, MODEL)
        tar.add(folder / FACTS, FACTS)
        if beside.test_rows:
            tar.add(_test_rows(store, caller, version, folder), TEST_ROWS)
        if beside.evidence:
            tar.add(_evidence(store, caller, version, folder), EVIDENCE)
            first_fit = store.artefacts.fetch(caller.tenant_id, model.artefact, folder / FIRST_FIT)
            tar.add(first_fit, FIRST_FIT)
    with store.write() as tx:  # what somebody took lately is not removed here
        about = {"application_id": application.id, "by": caller.user_id}
        tx.events.append(EXPORTED, model.id, about, caller.tenant_id)
    return path


def facts_of(tx: Transaction, caller: Caller, model_id: str) -> dict[str, Any]:
    """Return the fields of ``easeml.export.ModelFacts``. Raises ``NotFound``."""
    tables = tx.scoped(caller.tenant_id)
    model = tables.models.get(model_id)
    application = tables.applications.get(model.application_id)
    shown = application_views.show(tx, caller, application)
    (described,) = show_models(tables, [model])
    version_id = tables.jobs.get(model.job_id).version_id
    return {
        "application_id": shown.id,
        "application": shown.name,
        "model_id": model.id,
        "model": model.name,
        "dataset_id": shown.dataset_id,
        "version": described.version,
        "objective": shown.objective,
        "quality": model.quality,
        "test_quality": _test_quality(shown.test_quality, model.id),
        "notes": model.notes,
        "weight": shown.weight,
        "retired": tables.versions.get(version_id).summary.retired,
        "judged_on": judged_on(described.measure),
    }


def _test_rows(store: Store, caller: Caller, version: DatasetVersion, folder: Path) -> Path:
    """Write the typed inputs of the test rows into a Parquet file, and return its path."""
    kept = store.artefacts.fetch(caller.tenant_id, version.artefact, folder / "version")
    tables = read_version(kept)
    inputs = list(kinds_of(tables.schema_in))
    path = folder / TEST_ROWS
    tables.test[inputs].to_parquet(path, index=False)
    return path


def _evidence(store: Store, caller: Caller, version: DatasetVersion, folder: Path) -> Path:
    """Write the validation rows, and the test rows without their answers; return their folder."""
    kept = store.artefacts.fetch(caller.tenant_id, version.artefact, folder / "all-rows")
    declared = read_declared(kept)
    test = declared.frames["test"]
    nothing = _hidden(test[declared.target])
    without_answers = test.assign(**{declared.target: nothing})
    frames = {
        "train": declared.frames["train"].head(0),
        "validation": declared.frames["validation"],
        "test": without_answers,
    }
    path = folder / EVIDENCE
    write_version(path, replace(declared, frames=frames, off=(), groups={}))
    return path


def _hidden(answers: Any) -> Any:
    """Return answers that tell nothing: missing ones, or zeros of tensors, which are never so."""
    import numpy as np

    if answers.dtype == object:
        return answers.map(np.zeros_like)
    return answers.where(np.zeros(len(answers), dtype=bool))


def _test_quality(found: TestQuality | None, model_id: str) -> dict[str, Any] | None:
    """Return the reading of the test rows, where it is that of this model."""
    if found is None or found.model_id != model_id:
        return None
    return found.model_dump(mode="json", include={"value", "low", "high", "rows"})

"""A kind in one file: counts the words of an upload, and keeps the number."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import structlog

from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import InvalidInput
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class CountSpec(Spec):
    kind: Literal["count-words"] = "count-words"
    longest: int


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    return {"source": tables.versions.get(task.subject).source_artefact}


def count(spec: CountSpec, inputs: Path, outputs: Path) -> TaskResult:
    words = (inputs / "source").read_text().split()
    if any(len(word) > spec.longest for word in words):
        raise InvalidInput("A word is too long.")
    (outputs / "words").write_text("\n".join(words))
    print("plain words", flush=True)
    logging.getLogger("a.library").warning("%d words", len(words))
    structlog.get_logger().info("counted", id=os.environ["EASEML_TASK_ID"])
    return TaskResult(ok=True, value={"words": len(words)}, outputs=["words"])


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    from easeml.service.advice import reports

    value = {"words": result.value["words"], "artefact": digests["words"]}
    reports.keep(tx, task, task.subject, task.subject, value)


def failed(tx: Transaction, task: Task) -> None:
    tx.events.append("words.failed", task.subject, {"error": task.error}, task.tenant_id)


KIND = Kind(
    name="count-words",
    title="Count words",
    about="Counts the words of a file.",
    group="advise",
    spec=CountSpec,
    body=count,
    inputs=inputs,
    record=record,
    failed=failed,
    outputs=("words",),
    values=("words",),
    seconds=20.0,
)

"""Advise: a lifecycle tool is asked about data, of a live application or before there is one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.data import Declared
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class AdviseSpec(Spec):
    """``tool`` is asked with ``parameters`` about the version that is the task's subject.

    ``plan``: where that is an upload, the declaration that is applied to it first, as
    ``ingest-declare`` is told it. ``application_id`` is empty then.
    """

    kind: Literal["advise"] = "advise"
    application_id: str = ""
    plan: dict[str, Any] = Field(default_factory=dict)
    tool: str
    parameters: dict[str, Any]


def ask_tool(spec: AdviseSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``answer``, the tool's answer as JSON; return ``{advice, verdict}``.

    The tool sees the train rows that are on and the validation rows; test rows are for the ledger
    alone.
    """
    from easeml.lifecycle.result import plain
    from easeml.lifecycle.tool import tool_named

    tool = tool_named(spec.tool)
    facts = _facts(_version(spec, inputs / "version"))
    answer, _ = tool.ask(tool.open(tool.configured(spec.parameters)), facts)
    (outputs / "answer").write_text(json.dumps(plain(answer), allow_nan=False))
    value = {"advice": answer.advice, "verdict": answer.verdict}
    return TaskResult(ok=True, value=value, outputs=["answer"], notes=list(answer.notes))


def _version(spec: AdviseSpec, folder: Path) -> Declared:
    from easeml import data

    if not spec.plan:
        return data.read_declared(folder)
    table, columns = data.read_upload(folder)
    return data.declare(table, columns, **spec.plan)


def _facts(version: Declared) -> dict[Any, Any]:
    import pandas as pd

    train = version.frames["train"]
    on = train[~train["_row"].isin(version.off)]
    frames = [on, version.frames["validation"]]
    rows = pd.concat([frame for frame in frames if len(frame)], ignore_index=True)
    columns = [name for name in rows.columns if name not in ("_row", version.target)]
    return {"inputs": rows[columns], "answers": rows[version.target]}


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that is asked about."""
    return {"version": tables.versions.get(task.subject).artefact}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the answer as a report about the application, or about the upload till it has one."""
    from easeml.service.advice import tools
    from easeml.service.applications import questions

    if task.payload["application_id"]:
        tools.record(tx, task, digests["answer"])
    else:
        questions.record(tx, task, digests["answer"])


KIND = Kind(
    name="advise",
    title="Ask a lifecycle tool",
    about="Asks a lifecycle tool, such as feasibility, about train and validation rows.",
    group="advise",
    spec=AdviseSpec,
    body=ask_tool,
    inputs=inputs,
    record=record,
    outputs=("answer",),
    values=("advice",),
)

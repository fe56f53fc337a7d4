"""Advise: a lifecycle tool is asked about data, of a live application or before there is one."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.facts import (
    Sources,
    drawn_rows,
    facts_of,
    late_rows,
    newer_rows,
    values_of,
    without_rows,
)
from easeml.kinds.shared.row_weights import that_are_ignored
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.data import Declared
    from easeml.lifecycle.tool import Fact
    from easeml.settings import Settings
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


_EMBEDDINGS = "embeddings"  # folder below the inputs
_CORRECTED = "Answers that were changed after they were counted: {number}. Tests keep the first word on each."


class AdviseSpec(Spec):
    """``tool`` is asked with ``parameters`` about the version that is the task's subject.

    ``plan``: where that is an upload, the declaration that is applied to it first, as
    ``ingest-declare`` is told it. ``application_id`` is empty then. ``model_id``: the model in
    question, measured by ``objective``, for tools that need one. ``seconds``: after them, a tool
    that could go on says what it has found so far.

    ``models``: ids of the models whose predictions are compared, by the name that the tool knows
    them by. ``newer_id``: the upload with rows that came later; or ``newer_artefact``: their file.
    ``late_artefact``: the file of rows that an earlier look has seen, whose answers came since,
    ``late_looks``: how many of them each look saw, by its number, ``late_roles``: a letter a row,
    and ``drawn``: which rows of both files were said to be drawn at random. ``corrected``: answers
    that were changed after a look counted them. ``told_until``: the newest answer that is known to
    this look, by its time. ``rows_until``: of tasks of an earlier release.

    ``before``: the report whose state the tool goes on from. ``elsewhere``: what other tools told
    of the test rows, in nats. ``followed``: remedies of earlier answers that were followed, as
    ``easeml.lifecycle.debugging.Followed`` reads them.
    """

    kind: Literal["advise"] = "advise"
    application_id: str = ""
    plan: dict[str, Any] = Field(default_factory=dict)
    tool: str
    parameters: dict[str, Any]
    model_id: str = ""
    objective: str = ""
    seconds: float = 60.0
    models: dict[str, str] = Field(default_factory=dict)
    newer_id: str = ""
    newer_name: str = ""
    newer_artefact: str = ""
    late_artefact: str = ""
    late_looks: dict[str, int] = Field(default_factory=dict)
    late_roles: str = ""
    drawn: list[dict[str, Any]] = Field(default_factory=list)
    corrected: int = 0
    rows_until: float = 0.0
    told_until: float = 0.0
    before: str = ""
    elsewhere: float = 0.0
    followed: list[dict[str, Any]] = Field(default_factory=list)


def ask_tool(spec: AdviseSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Write output ``answer``, the tool's answer as JSON; return ``{advice, verdict, told, numbers,
    of_model}``.

    Where it says something of each row, write output ``rows`` as well: an Arrow file with column
    ``row``, the ids, and the tool's columns. Where it goes on later, output ``state``.
    """
    from easeml.lifecycle.result import plain
    from easeml.lifecycle.tool import tool_named

    tool = tool_named(spec.tool)
    sources = _sources(spec, inputs)
    facts = facts_of(tool, sources)
    notes = values_of(sources, facts) if tool.reads_values else []
    notes += _later(spec, sources, facts)
    if spec.followed:
        facts["followed"] = spec.followed
    kept = (inputs / "state").read_bytes() if spec.before else None
    ends = time.monotonic() + spec.seconds
    answer, state = tool.asked(facts, spec.parameters, kept, lambda: time.monotonic() < ends)
    answer = replace(
        answer,
        notes=(*notes, *answer.notes),
        assumes=(*answer.assumes, *that_are_ignored(sources.version)),
    )
    written = ["answer"]
    if answer.rows is not None:
        _write_rows(outputs / "rows", facts["inputs"].index, answer.rows)
        written.append("rows")
    if state is not None:
        (outputs / "state").write_bytes(state)
        written.append("state")
    told = plain(replace(answer, rows=None))
    (outputs / "answer").write_text(json.dumps(told, allow_nan=False))
    value = {"advice": answer.advice, "verdict": answer.verdict, "told": answer.told}
    value["numbers"] = told["numbers"]
    value["of_model"] = told["of_model"]
    return TaskResult(ok=True, value=value, outputs=written, notes=list(answer.notes))


def _later(spec: AdviseSpec, sources: Sources, facts: dict[Fact, Any]) -> list[str]:
    """Put the rows that came later into ``facts``; return what was unusual about their files."""
    notes: list[str] = []
    if sources.newer is not None:
        facts["newer"], notes = newer_rows(sources)
    if sources.late is not None:
        facts["late"], more = late_rows(sources)
        notes = list(dict.fromkeys([*notes, *more]))
        facts.setdefault("newer", without_rows(facts["late"].rows))
    if spec.drawn:
        facts["drawn"] = drawn_rows(spec.drawn)
    if spec.corrected:
        notes.append(_CORRECTED.format(number=spec.corrected))
    return notes


def _sources(spec: AdviseSpec, inputs: Path) -> Sources:
    folders = {name: inputs / f"model-{place}" for place, name in enumerate(spec.models)}
    return Sources(
        _version(spec, inputs / "version"),
        inputs / "model",
        spec.objective,
        folders,
        newer=(inputs / "newer", spec.newer_name) if spec.newer_name else None,
        late=(inputs / "late", "late.csv") if spec.late_artefact else None,
        looks=spec.late_looks,
        roles=spec.late_roles,
        elsewhere=spec.elsewhere,
        embeddings=inputs / _EMBEDDINGS,
    )


def provided(settings: Settings, task: Task) -> dict[str, list[Path]]:
    """Return the pre-trained models of this machine, for tools that look at values themselves."""
    from easeml.lifecycle.tool import tool_named

    if not tool_named(AdviseSpec.model_validate(task.payload).tool).reads_values:
        return {}
    paths = filter(None, map(str.strip, settings.embeddings.split(",")))
    return {_EMBEDDINGS: list(map(Path, paths))}


def _write_rows(path: Path, ids: Any, columns: Mapping[str, Any]) -> None:
    import pyarrow as pa
    from pyarrow import ipc

    table = pa.table({"row": list(ids), **{name: list(one) for name, one in columns.items()}})
    with ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def _version(spec: AdviseSpec, folder: Path) -> Declared:
    from easeml import data

    if not spec.plan:
        return data.read_declared(folder)
    table, columns = data.read_upload(folder)
    return data.declare(table, columns, **spec.plan)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that is asked about, models, newer rows, and the state to go on from."""
    from easeml.service.advice.tools import state_of

    found = {"version": tables.versions.get(task.subject).artefact}
    spec = AdviseSpec.model_validate(task.payload)
    if spec.model_id:
        found["model"] = tables.models.get(spec.model_id).artefact
    for place, model_id in enumerate(spec.models.values()):
        found[f"model-{place}"] = tables.models.get(model_id).artefact
    if spec.newer_id:
        found["newer"] = tables.versions.get(spec.newer_id).source_artefact
    if spec.newer_artefact:
        found["newer"] = spec.newer_artefact
    if spec.late_artefact:
        found["late"] = spec.late_artefact
    if spec.before:
        found["state"] = state_of(tables.reports.get(spec.before))
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the answer as a report about the application, or about the upload till it has one."""
    from easeml.service.advice import tools
    from easeml.service.applications import questions
    from easeml.service.models import alerts, model_notes

    if AdviseSpec.model_validate(task.payload).application_id:
        tools.record(tx, task, digests, float(result.value.get("told", 0.0)))
        alerts.note(tx, task, result.value)
        model_notes.add(tx, task, result.value)
    else:
        questions.record(tx, task, digests)


def called(payload: Mapping[str, Any]) -> str:
    """The title of the tool that is asked."""
    from easeml.lifecycle.tool import all_tools

    titles = {tool.name: tool.title for tool in all_tools()}
    name = str(payload["tool"])
    return titles.get(name, name)


KIND = Kind(
    name="advise",
    title="Ask a lifecycle tool",
    about="Asks a lifecycle tool, such as feasibility, about the rows of an application.",
    group="advise",
    spec=AdviseSpec,
    body=ask_tool,
    inputs=inputs,
    record=record,
    outputs=("answer",),
    values=("advice",),
    provided=provided,
    called=called,
)

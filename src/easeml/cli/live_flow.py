"""``flow pull`` and ``flow push``: the versions of a live application's data as steps of a file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import notes, print_done, print_told, say, say_aside
from easeml.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from easeml.client import Client
    from easeml.contract.applications import Application
    from easeml.contract.datasets import Version
    from easeml.contract.versions import FlowStep, VersionLine
    from easeml.lineage import Flow, FlowRuns, Step
    from easeml.lineage.pulled import Changes, PulledVersion
    from easeml.relation import Relation

FOLDER = ".easeml-flow"
"""The folder beside a flow that keeps its results, and the versions that were fetched."""


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of ``flow``."""
    app.command()(pull)
    app.command()(push)


def pull(
    application_id: ApplicationId,
    out: Annotated[
        Path, typer.Option(help="The file of steps; what you added to it below stays as it is.")
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="Only the rows that were pushed last under this name; --out is *.parquet."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch the versions of an application's data as steps that run here. Only rows that are not here travel."""
    from easeml.client import Client
    from easeml.lineage.pulled import write_pulled

    fetched: list[str] = []
    with Client() as client:
        if name is not None:
            version = _pushed_as(client, application_id, name)
            _fetch(client, version.id, out)
            _say(version, f"was written to {out}", as_json)
            return
        lines = _line_of_descent(list(client.versions(application_id)))
        folder = out.parent / FOLDER
        target = str(client.version(lines[-1].id).summary["target"])
        weight = client.application(application_id).weight
        versions = []
        before = None
        for line in lines:
            path = _kept(folder, line.id)
            if not path.exists():
                _fetch(client, line.id, path, before)
                fetched.append(line.id)
            versions.append(_pulled(line, path, target, weight))
            before = path
    write_pulled(out, application_id, versions)
    print_done(
        {"versions": [line.id for line in lines], "fetched": fetched},
        f"Versions in {out}: {len(lines)}. Fetched now: {len(fetched)}.",
        as_json=as_json,
    )


def push(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Steps that `easeml flow pull` began.")
    ],
    step: Annotated[
        str | None, typer.Option(help="The step whose rows are sent; by default the last one.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help=f"Folder of results; by default {FOLDER} beside FILE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run steps, and make their rows the next version of the application's data; its search goes on."""
    from easeml.client import Client
    from easeml.lineage import FlowRuns, load_flow
    from easeml.lineage.pulled import write_changes

    flow = load_flow(file)
    if not flow.application:
        raise InvalidInput(
            "The steps belong to no application.", where=str(file), remedy="Use `easeml flow pull`."
        )
    folder = file.parent / FOLDER
    runs = FlowRuns(flow, file.stem, folder if cache is None else cache)
    name = _step_to_push(runs, step)
    digest = runs.nodes[name].key
    with Client() as client:
        current = client.version(_application(client, flow, file).version_id)
        if current.operation.get("digest") == digest:
            return _say(current, "has these rows already; nothing was sent", as_json)
        if not _is_ours(client, current, flow.version, folder):
            raise Conflict(
                f"The data has version {current.number} by now.",
                where=str(file),
                remedy=f"easeml flow pull {flow.application} --out {file}, then push again.",
            )
        runs.run()
        rows = _rows(runs, name)
        line = [one.id for one in _line_of_descent(list(client.versions(flow.application)))]
        ids = _ids_given(folder, line, name)
        changes = _changes(runs, rows, ids)
        if changes.is_none:
            return _go_back(client, flow, current, as_json)
        _say_doubts(rows)
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary) / "rows.parquet"
            known = _ids_known(folder, line).union(ids.values())
            new = write_changes(changes, path, known)
            made = _send(client, runs, name, digest, path, current.id)
        _pushed(folder, made.id).touch()
        made = client.wait_version_ready(made.id)
        _note_pushed(folder, made, name, new)
        return _say(made, "was made of these rows", as_json)


def _application(client: Client, flow: Flow, file: Path) -> Application:
    """Return the application that a flow was pulled from. Raises NotFound."""
    try:
        return client.application(flow.application)
    except NotFound as error:
        raise NotFound(
            f"This service has no application {flow.application} of yours.",
            where=str(file),
            remedy="Set EASEML_URL to the service that the steps were pulled from, or pull an "
            "application of this one (easeml app list) and copy your steps below its own.",
        ) from error


def _go_back(client: Client, flow: Flow, current: Version, as_json: bool) -> None:
    """Use the version that was pulled, whose rows the steps do not change; nothing is sent."""
    if current.id == flow.version:
        return _say(current, "has the same rows; nothing was sent", as_json)
    back = client.use_version(flow.application, flow.version)
    return _say(back, "has the same rows, and is used again; nothing was sent", as_json)


def _line_of_descent(lines: list[VersionLine]) -> list[VersionLine]:
    """Return the versions that led to the one in use, the oldest first. Raises Conflict."""
    by_id = {line.id: line for line in lines if line.rows}
    current = [line for line in by_id.values() if line.current]
    if not current:
        raise Conflict("The data is not ready yet.", remedy="Try again when it is.")
    newest_first = current
    while (parent := _parent_of(newest_first[-1], by_id)) is not None:
        newest_first.append(parent)
    return newest_first[::-1]


def _parent_of(line: VersionLine, by_id: dict[str, VersionLine]) -> VersionLine | None:
    """Return the first parent that is still there, if any."""
    there = filter(by_id.__contains__, line.parents)
    return by_id.get(next(there, ""))


def _pushed_as(client: Client, application_id: str, name: str) -> Version:
    """Return the newest version that was pushed under a name. Raises NotFound."""
    newest = {}  # by name: later ones take the place of earlier ones
    for line in sorted(client.versions(application_id), key=lambda line: line.number):
        if line.operation["name"] == "flow":
            newest[line.operation["title"]] = line.id
    if name not in newest:
        known = ", ".join(newest) or "none yet"
        raise NotFound(f"Nothing was pushed as {name!r}.", remedy=f"Names are: {known}.")
    return client.version(newest[name])


def _fetch(client: Client, version_id: str, path: Path, before: Path | None = None) -> None:
    """Write the rows of a version to a file.

    ``before``: the file of the version before it, where it is here; only what differs travels.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    if before is None or not _fetched_changes(client, version_id, part, before):
        part.write_bytes(client.export(version_id, "parquet"))
    part.replace(path)  # so that what is there is whole


def _fetched_changes(client: Client, version_id: str, part: Path, before: Path) -> bool:
    """Write the rows of a version by what differs from another one.

    Tells whether it could: a service does not keep the rows of all versions.
    """
    import pyarrow.parquet as pq

    from easeml.lineage.pulled import merged

    try:
        changes = client.export(version_id, "parquet", since=before.stem, cells=True)
    except (Conflict, NotFound):
        return False
    pq.write_table(merged(before, changes), part)
    return True


def _pulled(line: VersionLine, path: Path, target: str, weight: str) -> PulledVersion:
    from easeml.contract.version_changes import change_of
    from easeml.lineage.pulled import PulledVersion, read_rows

    return PulledVersion(
        id=line.id,
        number=line.number,
        rows=read_rows(path, target, weight),
        about=change_of(line.operation, line.added),
        context=line.operation.get("context", ""),
        tags=line.operation.get("tags", ()),
    )


def _step_to_push(runs: FlowRuns, step: str | None) -> str:
    """Return the name of the step whose rows are sent. Raises InvalidInput."""
    if step is not None:
        if step not in runs.flow.steps:
            known = ", ".join(runs.flow.steps)
            raise InvalidInput(f"There is no step {step!r}.", remedy=f"Name one of {known}.")
        return step
    ends = runs.flow.ends()
    if len(ends) > 1:
        raise InvalidInput(
            f"Several steps are last: {', '.join(ends)}.", remedy="Name one of them with --step."
        )
    return ends[0]


def _is_ours(client: Client, version: Version, pulled: str, folder: Path) -> bool:
    """Tell whether a version is the one that was pulled, but for what was pushed from here since.

    A push says of all rows what they are, so that another one from the same beginning replaces it.
    """
    while version.id != pulled:
        if not _pushed(folder, version.id).exists():
            return False
        version = client.version(version.parents[0])
    return True


def _kept(folder: Path, version_id: str) -> Path:
    """Return the file of the rows of a version that were fetched."""
    return folder / "versions" / f"{version_id}.parquet"


def _pushed(folder: Path, version_id: str) -> Path:
    """Return the file that is there once a version was pushed from here.

    It names the step that was sent, and the ids that its new rows got: pairs, here and there.
    """
    return folder / "versions" / f"{version_id}.pushed"


def _ids_given(folder: Path, line: Sequence[str], step: str) -> dict[Any, int]:
    """Return the ids that new rows of a step got when they were sent, by their ids here."""
    given: dict[Any, int] = {}
    for path in filter(Path.exists, map(partial(_pushed, folder), line)):
        sent = json.loads(path.read_text() or "{}")
        if sent.get("step") == step:
            given.update(map(tuple, sent["ids"]))
    return given


def _ids_known(folder: Path, line: Sequence[str]) -> set[int]:
    """Return the ids of all rows of versions that were fetched."""
    import pyarrow.parquet as pq

    from easeml.data import ROW_COLUMN

    known = set[int]()
    for path in filter(Path.exists, map(partial(_kept, folder), line)):
        known.update(pq.read_table(path, columns=[ROW_COLUMN])[ROW_COLUMN].to_pylist())
    return known


def _note_pushed(folder: Path, made: Version, step: str, new: Sequence[Any]) -> None:
    """Keep which ids the new rows of a version got."""
    pairs = list(zip(new, count(made.summary.get("first_new", 0)), strict=False))
    _pushed(folder, made.id).write_text(json.dumps({"step": step, "ids": pairs}))


def _rows(runs: FlowRuns, name: str) -> Relation:
    """Return the rows of a step. Raises InvalidInput."""
    from easeml.relation import Relation

    rows: Any = runs.value(name)
    if not isinstance(rows, Relation):
        raise InvalidInput(
            "gives an answer, not rows.",
            where=f"step {name!r}",
            remedy="Name a step that gives rows, with --step.",
        )
    made = int(rows.content.is_made.sum())
    if made:
        say_aside(
            f"{made:,} rows that were made of others stay here: the service divides rows anew."
        )
    return rows.observed()


def _changes(runs: FlowRuns, rows: Relation, ids: Mapping[Any, int]) -> Changes:
    """Return how the rows of a step differ from those of the version that was pulled."""
    from easeml.lineage.pulled import CURRENT, changes_between

    return changes_between(runs.value(CURRENT), rows, ids)


def _send(
    client: Client, runs: FlowRuns, name: str, digest: str, path: Path, version_id: str
) -> Version:
    """Send a file of changes, and how they came to be, to follow a version."""
    from easeml.contract.versions import PushedFlow

    sent = runs.flow.steps[name]
    steps = list(map(_step_told, runs.flow.steps.values()))
    upload_id = client.send_in_pieces(path, below=f"/applications/{runs.flow.application}")
    wish = PushedFlow(
        upload_id=upload_id,
        digest=digest,
        title=name,
        context=sent.context,
        tags=list(sent.tags),
        steps=steps,
        version_id=version_id,
        since=runs.flow.version,
    )
    return client.push_flow(runs.flow.application, wish)


def _say_doubts(rows: Relation) -> None:
    doubts = rows.content.blocks.doubts
    if doubts:
        notes().print(f"{doubts:,} doubts were decided: the likeliest values are sent.")


def _step_told(step: Step) -> FlowStep:
    """Return how a step came to be, as it is kept with the version."""
    from easeml.contract.versions import FlowStep
    from easeml.lineage.pictures import told

    return FlowStep(name=step.name, told=told(step)[:1000], of=list(step.of), about=step.about)


def _say(version: Version, what: str, as_json: bool) -> None:
    print_told(version, partial(_say_of, version, what), as_json=as_json)


def _say_of(version: Version, what: str) -> None:
    say_aside(*version.summary.get("notes", []))
    say(f"Version {version.number} ({version.id}) {what}.")

"""``flow pull`` and ``flow push``: the versions of a live application's data as steps of a file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.options import Json
from easeml.cli.output import notes, print_done, print_told, say, say_aside
from easeml.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from easeml.client import Client
    from easeml.contract.datasets import Version
    from easeml.contract.versions import FlowStep, VersionLine
    from easeml.lineage import FlowRuns, Step
    from easeml.lineage.pulled import PulledVersion
    from easeml.relation import Relation

FOLDER = ".easeml-flow"
"""The folder beside a flow that keeps its results, and the versions that were fetched."""


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of ``flow``."""
    app.command()(pull)
    app.command()(push)


def pull(
    application_id: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="Id of the application.")
    ],
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
        target = str(client.version(lines[-1].id).summary["target"])
        weight = client.application(application_id).weight
        versions = []
        for line in lines:
            path = out.parent / FOLDER / "versions" / f"{line.id}.parquet"
            if not path.exists():
                _fetch(client, line.id, path)
                fetched.append(line.id)
            versions.append(_pulled(line, path, target, weight))
    write_pulled(out, application_id, versions)
    print_done(
        {"versions": [line.id for line in lines], "fetched": fetched},
        f"Wrote {len(lines)} versions to {out}; {len(fetched)} were fetched.",
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
        current = client.version(client.application(flow.application).version_id)
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
        if current.id == flow.version and not _is_changed(runs, rows):
            return _say(current, "has the same rows; nothing was sent", as_json)
        made = _send(client, runs, name, digest, rows, current.id)
        _pushed(folder, made.id).touch()
        return _say(client.wait_version_ready(made.id), "was made of these rows", as_json)


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


def _fetch(client: Client, version_id: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(client.export(version_id, "parquet"))
    part.replace(path)  # so that what is there is whole


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
            f"Several steps are last: {', '.join(ends)}.", remedy="Name one with --step."
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


def _pushed(folder: Path, version_id: str) -> Path:
    """Return the file that is there once a version was pushed from here."""
    return folder / "versions" / f"{version_id}.pushed"


def _rows(runs: FlowRuns, name: str) -> Relation:
    """Return the rows of a step. Raises InvalidInput."""
    from easeml.relation import Relation

    rows: Any = runs.value(name)
    if not isinstance(rows, Relation):
        raise InvalidInput(
            "gives an answer, not rows.", where=f"step {name!r}", remedy="Name one with --step."
        )
    return rows


def _is_changed(runs: FlowRuns, rows: Relation) -> bool:
    """Tell whether rows are others than those of the version that was pulled."""
    from easeml.lineage.pulled import CURRENT, is_changed

    return is_changed(runs.value(CURRENT), rows)


def _send(
    client: Client, runs: FlowRuns, name: str, digest: str, rows: Relation, version_id: str
) -> Version:
    """Send the rows of a step, and how they came to be, to follow a version."""
    from easeml.contract.versions import PushedFlow
    from easeml.lineage.pulled import write_rows

    doubts = rows.content.blocks.doubts
    if doubts:
        notes().print(f"{doubts:,} doubts were decided: the likeliest values are sent.")
    sent = runs.flow.steps[name]
    steps = list(map(_step_told, runs.flow.steps.values()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_rows(rows, path)
        upload_id = client.send_in_pieces(path, below=f"/applications/{runs.flow.application}")
    wish = PushedFlow(
        upload_id=upload_id,
        digest=digest,
        title=name,
        context=sent.context,
        tags=list(sent.tags),
        steps=steps,
        version_id=version_id,
    )
    return client.push_flow(runs.flow.application, wish)


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

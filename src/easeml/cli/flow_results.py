"""``flow export`` and ``flow list``: steps that run elsewhere, and results by name, context and tags."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.live_flow import FOLDER
from easeml.cli.options import Json
from easeml.cli.output import moment, notes, print_json, print_table, say, unwritable

if TYPE_CHECKING:
    from easeml.lineage import FlowRuns

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # so that equal exports are equal files


class Standalone(StrEnum):
    """What runs elsewhere."""

    flow = "flow"
    python = "python"


def add_to(app: typer.Typer) -> None:
    """Add the commands to those of ``flow``."""
    app.command("export")(export)
    app.command("list")(list_outputs)


def opened(file: Path, cache: Path | None) -> FlowRuns:
    """Read a file of steps, with the folder of its results. Raises InvalidInput."""
    from easeml.lineage import FlowRuns, load_flow

    return FlowRuns(load_flow(file), file.stem, file.parent / FOLDER if cache is None else cache)


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Steps, as TOML.")],
    out: Annotated[
        Path, typer.Option(help="A folder that is not there yet, or a file that ends with .zip.")
    ],
    form: Annotated[
        Standalone,
        typer.Option("--format", help="flow: for `easeml flow run`; python: a script."),
    ] = Standalone.flow,
    cache: Annotated[
        Path | None, typer.Option(help=f"Folder of results; by default {FOLDER} beside FILE.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the steps and all files that they read, to run elsewhere.

    A run there checks that it gives the rows that steps gave here.
    """
    from easeml.lineage import write_script, write_standalone

    runs = opened(file, cache)
    digests = runs.digests()

    def written(folder: Path) -> Path:
        if form is Standalone.python:
            return write_script(file, folder)
        return write_standalone(file, folder, digests)

    try:
        name = _in_zip(written, out) if out.suffix == ".zip" else written(out).name
    except OSError as error:
        raise unwritable(out, error) from error
    if len(digests) < len(runs.nodes) and form is Standalone.flow:
        notes().print("Steps that gave no rows here are not checked there.")
    if as_json:
        return print_json({"out": str(out), "file": name, "digests": digests})
    command = f"python {name}" if form is Standalone.python else f"easeml flow run {name}"
    return say(f"Wrote {out}; run there: {command}")


def list_outputs(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where flows are, or their folder of results.")
    ] = Path(),
    application: Annotated[
        str | None, typer.Option(help="Id of an application: what was pushed to it, instead.")
    ] = None,
    name: Annotated[str, typer.Option(help="Only steps of this name.")] = "",
    context: Annotated[str, typer.Option(help="Only what was made for this context.")] = "",
    tag: Annotated[str, typer.Option(help="Only what has this tag.")] = "",
    as_json: Json = False,
) -> None:
    """List results by the names, contexts and tags of their steps, the newest first."""
    found = _here(folder) if application is None else _pushed(application)
    lines = []
    for line in found:
        named = name in ("", line["name"]) and context in ("", line["context"])
        if named and (not tag or tag in line["tags"]):
            lines.append(line)
    if as_json:
        return print_json({"outputs": lines})
    rows = []
    for line in lines:
        about = (line["name"], line["context"], line["tags"], moment(line["made"]))
        rows.append((*about, line["size"], line["digest"], line["from"]))
    headings = ["name", "context", "tags", "when", "size", "digest", "from"]
    return print_table(headings, rows, empty="There are no such results.")


def _here(folder: Path) -> list[dict[str, Any]]:
    """Return the outputs in a folder of results. Sizes are bytes; ``from``: the flow."""
    from easeml.lineage import Outputs

    results = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    lines = []
    for output in Outputs(results / "results").listed():
        line = {**vars(output), "from": output.flow, "size": f"{output.size:,} bytes"}
        del line["flow"]
        lines.append(line)
    return lines


def _pushed(application_id: str) -> list[dict[str, Any]]:
    """Return the outputs that became versions of an application; ``from``: the version."""
    from easeml.client import Client

    lines = []
    with Client() as client:
        for version in client.versions(application_id):
            told = version.operation
            if told["name"] == "flow":
                line = {
                    "name": told["title"],
                    "context": told.get("context", ""),
                    "tags": list(told.get("tags", ())),
                    "made": version.created,
                    "size": f"{sum(version.rows.values()):,} rows",
                    "digest": told["digest"],
                    "from": version.id,
                }
                lines.append(line)
    return sorted(lines, key=lambda line: line["made"], reverse=True)


def _in_zip(written: Callable[[Path], Path], out: Path) -> str:
    """Write a folder and pack it; a file that is there already is replaced once all is written."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / out.stem
        name = written(folder).name
        part = out.with_name(f".{out.name}.part")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    inside = str(path.relative_to(folder).as_posix())
                    packed.writestr(_entry(inside), path.read_bytes())
        part.replace(out)
    return name


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _ZIP_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry

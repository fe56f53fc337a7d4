"""``flow export`` and ``flow list``: steps that run elsewhere, and results by name, context and tags."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.live_flow import FOLDER
from easeml.cli.named_applications import application_or
from easeml.cli.named_files import writing
from easeml.cli.options import Json
from easeml.cli.output import moment, print_done, print_table, print_told, say_aside

if TYPE_CHECKING:
    from easeml.contract.versions import VersionLine
    from easeml.lineage import FlowRuns
    from easeml.lineage.outputs import Output

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # so that equal exports are equal files


class Standalone(StrEnum):
    """What runs elsewhere."""

    flow = "flow"
    python = "python"


_COMMANDS = {Standalone.flow: "easeml flow run", Standalone.python: "python"}


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
    runs = opened(file, cache)
    digests = runs.digests()
    written = partial(_written, form, file, digests)
    with writing(out):
        name = _in_zip(written, out) if out.suffix == ".zip" else written(out).name
    if len(digests) < len(runs.nodes) and form is Standalone.flow:
        say_aside("Steps that gave no rows here are not checked there.")
    command = _COMMANDS[form]
    answer = {"out": str(out), "file": name, "digests": digests}
    print_done(answer, f"Wrote {out}; run there: {command} {name}", as_json=as_json)


def _written(form: Standalone, file: Path, digests: dict[str, str], folder: Path) -> Path:
    """Write the steps of a file into a folder; return the file there that runs them."""
    from easeml.lineage import write_script, write_standalone

    if form is Standalone.python:
        return write_script(file, folder)
    return write_standalone(file, folder, digests)


def list_outputs(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where flows are, or their folder of results.")
    ] = Path(),
    application: Annotated[
        str | None,
        typer.Option(
            help="Id or name of an application: what was pushed to it, instead.",
            callback=application_or(),
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Only steps of this name.")] = "",
    context: Annotated[str, typer.Option(help="Only what was made for this context.")] = "",
    tag: Annotated[str, typer.Option(help="Only what has this tag.")] = "",
    as_json: Json = False,
) -> None:
    """List results by the names, contexts and tags of their steps, the newest first."""
    found = _here(folder) if application is None else _pushed(application)
    lines = [line for line in found if _is_asked_for(line, name, context, tag)]
    print_told({"outputs": lines}, partial(_print_outputs, lines), as_json=as_json)


def _is_asked_for(line: dict[str, Any], name: str, context: str, tag: str) -> bool:
    """Tell whether an output has this name, context and tag; an empty one stands for any."""
    named = name in ("", line["name"]) and context in ("", line["context"])
    return named and tag in ("", *line["tags"])


def _print_outputs(lines: list[dict[str, Any]]) -> None:
    headings = ["name", "context", "tags", "when", "size", "digest", "from"]
    print_table(headings, map(_output_row, lines), empty="There are no such results.")


def _output_row(line: dict[str, Any]) -> tuple[object, ...]:
    about = (line["name"], line["context"], line["tags"], moment(line["made"]))
    return *about, line["size"], line["digest"], line["from"]


def _here(folder: Path) -> list[dict[str, Any]]:
    """Return the outputs in a folder of results. Sizes are bytes; ``from``: the flow."""
    from easeml.lineage import Outputs

    results = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    return list(map(_result_line, Outputs(results / "results").listed()))


def _result_line(output: Output) -> dict[str, Any]:
    line = {**vars(output), "from": output.flow, "size": f"{output.size:,} bytes"}
    del line["flow"]
    return line


def _pushed(application_id: str) -> list[dict[str, Any]]:
    """Return the outputs that became versions of an application; ``from``: the version."""
    from easeml.client import Client

    with Client() as client:
        versions = list(client.versions(application_id))
    pushed = [_line_of(version) for version in versions if version.operation["name"] == "flow"]
    return sorted(pushed, key=lambda line: line["made"], reverse=True)


def _line_of(version: VersionLine) -> dict[str, Any]:
    told = version.operation
    return {
        "name": told["title"],
        "context": told.get("context", ""),
        "tags": list(told.get("tags", ())),
        "made": version.created,
        "size": f"{sum(version.rows.values()):,} rows",
        "digest": told["digest"],
        "from": version.id,
    }


def _in_zip(written: Callable[[Path], Path], out: Path) -> str:
    """Write a folder and pack it; a file that is there already is replaced once all is written."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / out.stem
        name = written(folder).name
        part = out.with_name(f".{out.name}.part")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
            for path in sorted(filter(Path.is_file, folder.rglob("*"))):
                inside = path.relative_to(folder).as_posix()
                packed.writestr(_entry(inside), path.read_bytes())
        part.replace(out)
    return name


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _ZIP_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry

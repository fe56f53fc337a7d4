"""``flow run``, ``flow show``, ``flow status`` and ``flow diff``: a graph of steps in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli import flow_results, live_flow
from easeml.cli.exit_codes import fail_if
from easeml.cli.flow_results import opened
from easeml.cli.options import Json
from easeml.cli.output import print_error, print_table, print_told, say, say_aside
from easeml.cli.progress import progress

if TYPE_CHECKING:
    from easeml.lineage import FlowRuns, StepResult, StepState

app = typer.Typer(no_args_is_help=True, help="Run a graph of steps that a file describes.")

_NO, _FAILED, _CANNOT_TELL = 1, 2, 6
_MET = {True: "yes", False: "NO", None: "cannot tell"}

File = Annotated[Path, typer.Argument(metavar="FILE", help="Steps, as TOML.", show_default=False)]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="Folder of results, which may be shared; by default .easeml-flow beside FILE."
    ),
]


class Form(StrEnum):
    """How a graph is shown."""

    text = "text"
    mermaid = "mermaid"
    svg = "svg"


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    live_flow.add_to(app)
    flow_results.add_to(app)
    root.add_typer(app, name="flow")


@app.command()
def run(
    file: File,
    cache: Cache = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for what the last steps give: Parquet files and JSON."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute what is stale, and check what is expected.

    Ends with 0 if all is as expected, 1 if not, 2 if a step fails, 6 if it cannot be told.
    """
    from easeml.lineage import NodeFailed

    runs = opened(file, cache)
    done: list[StepResult] = []
    try:
        with progress("Running steps") as advance:
            runs.run(_told(done, len(runs.nodes), advance))
    except NodeFailed as error:
        _print_results(done, as_json)
        print_error(error)
        raise typer.Exit(_FAILED) from error
    _print_results(done, as_json)
    if out is not None:
        _write_ends(runs, out)
    raise typer.Exit(_exit_code(done))


@app.command()
def show(
    file: File,
    cache: Cache = None,
    form: Annotated[Form, typer.Option(help="How to show it.")] = Form.text,
) -> None:
    """Print the graph: as text, as a Mermaid diagram or as an SVG picture. Stale steps are marked."""
    from easeml.lineage import as_mermaid, as_svg, as_text

    runs = opened(file, cache)
    stale = [state.name for state in runs.states() if not state.current]
    forms = {Form.text: as_text, Form.mermaid: as_mermaid, Form.svg: as_svg}
    say(forms[form](runs.flow, stale))


@app.command()
def status(file: File, cache: Cache = None, as_json: Json = False) -> None:
    """Say which steps are stale, and why. Ends with 1 if some are."""
    states = opened(file, cache).states()
    show = partial(print_table, ["step", "state", "why"], map(_state_row, states))
    print_told({"steps": list(map(_state_told, states))}, show, as_json=as_json)
    fail_if(any(not state.current for state in states))


def _state_told(state: StepState) -> dict[str, Any]:
    return {"name": state.name, "current": state.current, "why": state.reasons}


def _state_row(state: StepState) -> tuple[str, ...]:
    word = "current" if state.current else "stale"
    return state.name, word, " ".join(state.reasons)


@app.command()
def diff(
    file: File,
    other: Annotated[
        Path | None,
        typer.Argument(metavar="OTHER", help="A newer file; without it, FILE and its last run."),
    ] = None,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Say what differs between two files of steps, or since the last run. Ends with 1 if something does."""
    from easeml.lineage import changes, load_flow, nodes_of, records_of

    runs = opened(file, cache)
    if other is None:
        found = changes(runs.last_run(), records_of(runs.nodes))
    else:
        newer = nodes_of(load_flow(other))
        found = changes(records_of(runs.nodes), records_of(newer))
    print_told({"steps": found}, partial(_print_changes, found), as_json=as_json)
    fail_if(found)


def _print_changes(found: dict[str, list[str]]) -> None:
    rows = zip(found, map(" ".join, found.values()), strict=True)
    print_table(["step", "change"], rows, empty="Nothing differs.")


def _told(
    done: list[StepResult], steps: int, advance: Callable[[float], None]
) -> Callable[[StepResult], None]:
    """Return what notes each result and moves the bar."""

    def told(result: StepResult) -> None:
        done.append(result)
        advance(len(done) / steps)

    return told


def _print_results(done: list[StepResult], as_json: bool) -> None:
    headings = ["step", "result", "what came out", "expected"]
    show = partial(print_table, headings, map(_result_row, done))
    print_told({"steps": list(map(vars, done))}, show, as_json=as_json)


def _result_row(result: StepResult) -> tuple[str, ...]:
    word = "computed" if result.computed else "kept"
    return result.name, word, result.summary, _expectation(result)


def _expectation(result: StepResult) -> str:
    if not result.expect:
        return ""
    return f"{result.expect}: {_MET[result.met]}"


def _exit_code(done: list[StepResult]) -> int:
    answers = [result.met for result in done if result.expect]
    if False in answers:
        return _NO
    if None in answers:
        return _CANNOT_TELL
    return 0


def _write_ends(runs: FlowRuns, folder: Path) -> None:
    """Write what the last steps give to files named after them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in runs.flow.ends():
        path = _write_value(runs.value(name), folder, name)
        say_aside(f"{name}: {path}")


def _write_value(value: Any, folder: Path, name: str) -> Path:
    """Write rows as Parquet, and an answer as JSON; return the file."""
    from easeml.relation import Relation

    if isinstance(value, Relation):
        path = folder / f"{name}.parquet"
        value.save(path)
        return path
    path = folder / f"{name}.json"
    path.write_text(json.dumps(value, indent=2), "utf-8")
    return path

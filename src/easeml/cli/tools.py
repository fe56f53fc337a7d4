"""``tool``: any lifecycle tool on files, without a service; each command is made from its tool."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from easeml.cli.options import Json
from easeml.cli.output import print_json
from easeml.cli.progress import progress
from easeml.cli.showing import print_answer
from easeml.cli.tool_facts import read_facts, sources
from easeml.errors import InvalidInput
from easeml.lifecycle.result import plain
from easeml.lifecycle.tool import Tool, ToolAnswer, all_tools, tool_named

tools = typer.Typer(no_args_is_help=True, help="Lifecycle tools on table files, without a service.")
_ENDINGS = (".html", ".csv", ".json")
Out = Annotated[
    Path | None,
    typer.Option(help="Also write a page (.html), the first table (.csv) or all (.json)."),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    for tool in all_tools():
        tools.command(tool.name, help=tool.about)(command_of(tool))
    app.add_typer(tools, name="tool")
    feasibility = tool_named("feasibility")
    app.command(feasibility.name, help=feasibility.about)(command_of(feasibility))


def command_of(tool: Tool) -> Callable[..., None]:
    """Return the command of a tool.

    It takes the files that facts are read from and the parameters of the tool, and shows the
    answer. It ends with 1 where there is a verdict, and not the one that was hoped for.
    """

    def command(**given: Any) -> None:
        out = given["out"]
        if out is not None and out.suffix not in _ENDINGS:
            remedy = f"Use one of {', '.join(_ENDINGS)}."
            raise InvalidInput("The ending says no format.", where=str(out), remedy=remedy)
        names = [field.name for field in fields(tool.config)]
        parameters = {name: given[name] for name in names}
        tool.configured(parameters)  # before files are read
        with progress(tool.title) as move:
            facts, said = read_facts(tool, given, move)
            answer, state = tool.asked(facts, parameters, _kept(given.get("state")))
        if state is not None and given["state"] is not None:
            _write_bytes(state, given["state"])
        if out is not None:
            _write(answer, out)
        if given["as_json"]:
            print_json({**plain(answer), "notes": [*said, *answer.notes]})
        else:
            print_answer(answer, said)
        raise typer.Exit(0 if answer.verdict in ("", tool.yes) else 1)

    parameters = [*sources(tool), *_parameters(tool)]
    parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, annotation=Out, default=None))
    parameters.append(Parameter("as_json", Parameter.KEYWORD_ONLY, annotation=Json, default=False))
    command.__signature__ = Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _parameters(tool: Tool) -> list[Parameter]:
    """Return an option for each parameter of a tool; its description is the help."""
    hints = get_type_hints(tool.config, include_extras=True)
    found = []
    for field in fields(tool.config):
        kind, *described = get_args(hints[field.name]) or (hints[field.name],)
        text = next((one.description for one in described if hasattr(one, "description")), None)
        flags = [f"--{field.name.replace('_', '-')}"]
        option = Annotated[kind, typer.Option(*flags, help=text)]
        found.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=option, default=field.default)
        )
    return found


def _kept(path: Path | None) -> bytes | None:
    if path is None or not path.exists():
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}.", where=str(path)) from error


def _write(answer: ToolAnswer, out: Path) -> None:
    _write_bytes(_document(answer, out.suffix).encode(), out)


def _write_bytes(content: bytes, path: Path) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"cannot be written: {error.strerror}.", where=str(path)) from error


def _document(answer: ToolAnswer, ending: str) -> str:
    if ending == ".html":
        return f'<!doctype html><html lang="en"><meta charset="utf-8">{answer.to_html()}</html>'
    if ending == ".json":
        return json.dumps(plain(answer), indent=2) + "\n"
    lines = io.StringIO()
    writer = csv.writer(lines)
    for table in answer.tables[:1]:
        writer.writerows([table.columns, *table.rows])
    return lines.getvalue()

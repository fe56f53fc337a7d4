"""``tool``: any lifecycle tool on files, without a service; each command is made from its tool."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from easeml.cli.exit_codes import fail_if
from easeml.cli.named_files import writing
from easeml.cli.options import Json
from easeml.cli.output import print_told
from easeml.cli.progress import progress
from easeml.cli.showing import print_answer
from easeml.cli.tool_facts import bytes_of, read_facts, sources
from easeml.errors import InvalidInput
from easeml.lifecycle.result import plain
from easeml.lifecycle.tool import Tool, ToolAnswer, all_tools, tool_named

tools = typer.Typer(no_args_is_help=True, help="Lifecycle tools on table files, without a service.")
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
        answer, said = _asked(tool, given)
        _print(answer, said, as_json=given["as_json"])
        fail_if(answer.verdict not in ("", tool.yes))

    parameters = [*sources(tool), *_parameters(tool)]
    parameters.append(Parameter("out", Parameter.KEYWORD_ONLY, annotation=Out, default=None))
    parameters.append(Parameter("as_json", Parameter.KEYWORD_ONLY, annotation=Json, default=False))
    command.__signature__ = Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _print(answer: ToolAnswer, said: list[str], *, as_json: bool) -> None:
    told = {**plain(answer), "notes": [*said, *answer.notes]}
    print_told(told, partial(print_answer, answer, said), as_json=as_json)


def _asked(tool: Tool, given: dict[str, Any]) -> tuple[ToolAnswer, list[str]]:
    """Return what a tool answers, and what was unusual about its files; write what is kept.

    ``given``: the options of its command, by name.
    """
    out, kept_in = given["out"], given.get("state")
    _check_ending(out)
    parameters = {field.name: given[field.name] for field in fields(tool.config)}
    tool.configured(parameters)  # before files are read
    with progress(tool.title) as move:
        facts, said = read_facts(tool, given, move)
        answer, state = tool.asked(facts, parameters, _kept(kept_in))
    if state is not None and kept_in is not None:
        _write_bytes(state, kept_in)
    if out is not None:
        _write_bytes(_FORMS[out.suffix](answer).encode(), out)
    return answer, said


def _check_ending(out: Path | None) -> None:
    if out is not None and out.suffix not in _FORMS:
        remedy = f"Use one of {', '.join(_FORMS)}."
        raise InvalidInput("The ending says no format.", where=str(out), remedy=remedy)


def _parameters(tool: Tool) -> list[Parameter]:
    """Return an option for each parameter of a tool; its description is the help."""
    hints = get_type_hints(tool.config, include_extras=True)
    found = []
    for field in fields(tool.config):
        kind, *described = get_args(hints[field.name]) or (hints[field.name],)
        flag = f"--{field.name.replace('_', '-')}"
        option = Annotated[kind, typer.Option(flag, help=_description(described))]
        found.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=option, default=field.default)
        )
    return found


def _description(metadata: list[Any]) -> str | None:
    """Return what the annotation of a parameter says of it."""
    told = [getattr(one, "description", None) for one in metadata]
    return next(filter(None, told), None)


def _kept(path: Path | None) -> bytes | None:
    if path is None or not path.exists():
        return None
    return bytes_of(path)


def _write_bytes(content: bytes, path: Path) -> None:
    with writing(path, "cannot be written"):
        path.write_bytes(content)


def _as_page(answer: ToolAnswer) -> str:
    return f'<!doctype html><html lang="en"><meta charset="utf-8">{answer.to_html()}</html>'


def _as_json(answer: ToolAnswer) -> str:
    return json.dumps(plain(answer), indent=2) + "\n"


def _as_csv(answer: ToolAnswer) -> str:
    """Return the first table; an empty text where the answer has none."""
    lines = io.StringIO()
    writer = csv.writer(lines)
    for table in answer.tables[:1]:
        writer.writerows([table.columns, *table.rows])
    return lines.getvalue()


_FORMS: dict[str, Callable[[ToolAnswer], str]] = {
    ".html": _as_page,
    ".csv": _as_csv,
    ".json": _as_json,
}

"""``schema``: read, check, compare and infer schemas. Needs no service."""

from __future__ import annotations

import json
import re
import warnings
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from easeml.cli.options import Header, Json, WhichTable
from easeml.cli.output import print_done, print_error, print_told, say, say_aside
from easeml.errors import EasemlError
from easeml.optional import if_known
from easeml.schema import (
    Match,
    Schema,
    SchemaError,
    SchemaWarning,
    Undecided,
    match,
    match_both,
    parse_text,
    why_not,
)

if TYPE_CHECKING:
    from easeml.data import ColumnReport, Inference

app = typer.Typer(
    no_args_is_help=True,
    help="What data looks like, and what fits what. Files: JSON, YAML (.yaml, .yml), or the short text form. "
    "Exit codes: 0 yes, 1 no match, 2 invalid, 3 not decided within the limit of work.",
)

_MOST = 64 << 20  # bytes of a schema file
_NO, _INVALID, _UNDECIDED = 1, 2, 3
_LIKE_JSON = re.compile(r'\s*(\{\s*"|\[)')

SchemaFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The schema; - for standard input.")
]


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="schema")


@app.command()
def validate(file: SchemaFile, as_json: Json = False) -> None:
    """Check a schema, and show it in its short text form."""
    try:
        sides, warned = _read(file)
    except SchemaError as error:
        _refuse(error, as_json, valid=False)
    text = _text(sides)
    named = dict(zip(("schema", "output"), map(Schema.to_json, sides), strict=False))
    told = {"valid": True, "text": text, "warnings": warned, **named}
    print_told(told, partial(_say_valid, text, warned), as_json=as_json)


def _say_valid(text: str, warned: list[str]) -> None:
    _warn(warned)
    say(text)


@app.command("match")
def match_(
    destination: Annotated[
        Path, typer.Argument(metavar="DESTINATION", help="What takes data: a module's schema.")
    ],
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="What data looks like.")],
    as_json: Json = False,
) -> None:
    """Tell whether data of the schema SOURCE fits DESTINATION, and what becomes what.

    Files with an input and an output (INPUT -> OUTPUT) are matched together: variables of the same
    name are equal on both sides.
    """
    try:
        (wanted, warned), (given, more) = _read(destination), _read(source)
        if len(wanted) != len(given):
            raise SchemaError(
                "one file has an output, the other has none.", where=f"{destination}, {source}"
            )
    except SchemaError as error:
        _refuse(error, as_json, matches=False)
    warned += more
    if not as_json:
        _warn(warned)
    try:
        found = _matched(wanted, given)
    except Undecided as error:
        _refuse(error, as_json, code=_UNDECIDED, matches=None)
    if found is None:
        reason = _reason(wanted, given)
        answer = {"matches": False, "reason": reason, "match": None, "warnings": warned}
        print_done(answer, f"No match. {reason}", as_json=as_json)
        raise typer.Exit(_NO)
    told = {**_match_told(found, wanted, given), "warnings": warned}
    print_told(told, partial(_show_match, found), as_json=as_json)


def _match_told(found: list[Match], wanted: list[Schema], given: list[Schema]) -> dict[str, Any]:
    """Return what becomes what, and the schemas with it, for programs."""
    told: dict[str, Any] = {"matches": True, "reason": ""}
    names = (("match", "annotated"), ("output", "annotated_output"))
    for (name, annotated), one, *pair in zip(names, found, wanted, given, strict=False):
        told[name] = one.to_json()
        told[annotated] = one.annotate(*pair).to_json()
    return told


@app.command()
def infer(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="A table, or an ease.ml dataset (folder, tar, zip)."),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="The column to predict, in a table.")
    ] = None,
    header: Header = None,
    table: WhichTable = None,
    as_json: Json = False,
) -> None:
    """Infer the schema of data: INPUT -> OUTPUT where there is something to predict."""
    from easeml import data

    try:
        found = data.infer(path, target, header=header, table=table)
    except EasemlError as error:
        _refuse(error, as_json, input=None)
    print_told(_inference_told(found), partial(_say_inferred, found), as_json=as_json)


def _say_inferred(found: Inference) -> None:
    say_aside(*found.told)
    say(_text(_sides(found.input, found.output)))


def _sides(input: Schema, output: Schema | None) -> list[Schema]:
    return [input] if output is None else [input, output]


def _inference_told(found: Inference) -> dict[str, Any]:
    """Return what was inferred, for programs."""
    return {
        "input": found.input.to_json(),
        "output": None if found.output is None else found.output.to_json(),
        "text": _text(_sides(found.input, found.output)),
        "target": _proposed(found),
        "columns": [_column(one, found.target) for one in found.columns],
        "notes": found.told,
    }


def _proposed(found: Inference) -> dict[str, Any]:
    return {
        "name": found.target,
        "sure": found.sure,
        "reason": found.reason,
        "rivals": list(found.rivals),
    }


def _column(report: ColumnReport, target: str) -> dict[str, Any]:
    """A column in short. ``leak``: what shows that it knows the target too well, else null."""
    return {
        "name": report.name,
        "type": report.type,
        "nature": report.nature,
        "evidence": report.evidence,
        "leak": report.leaks.get(target),
    }


def _read(file: Path) -> tuple[list[Schema], list[str]]:
    """Return one schema, or input and output; and the warnings.

    Raises:
        SchemaError: with the file in ``where``.
    """
    text = _file_text(file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SchemaWarning)
        try:
            sides = _parsed(text, file.suffix.lower())
        except SchemaError as error:
            raise SchemaError(
                error.message, where=f"{file}: {error.where}", remedy=error.remedy
            ) from error
    ours = [one.message for one in caught if issubclass(one.category, SchemaWarning)]
    return sides, list(map(str, ours))


def _file_text(file: Path) -> str:
    try:
        if str(file) == "-":
            return typer.get_text_stream("stdin").read(_MOST)
        if file.stat().st_size > _MOST:
            raise SchemaError(f"the file is larger than {_MOST >> 20} MiB.", where=str(file))
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchemaError(f"cannot be read: {error}.", where=str(file)) from error


def _parsed(text: str, suffix: str) -> list[Schema]:
    """JSON where it is JSON, YAML where the name says so, the text form otherwise."""
    if suffix in (".yaml", ".yml"):
        return [Schema.from_json(_yaml(text))]
    try:
        return [Schema.from_json(json.loads(text))]
    except SchemaError:
        raise
    except (ValueError, RecursionError) as error:
        if suffix == ".json" or _LIKE_JSON.match(text):
            raise SchemaError(f"this is not JSON: {error}.") from error
    return _sides(*parse_text(text))


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SchemaError(f"this is not YAML: {error}.") from error


def _text(sides: list[Schema]) -> str:
    return " -> ".join(map(Schema.to_text, sides))


def _matched(wanted: list[Schema], given: list[Schema]) -> list[Match] | None:
    """Return the match of each side; None where one does not fit. Raises ``Undecided``."""
    if len(wanted) == 2:
        both = match_both((wanted[0], wanted[1]), (given[0], given[1]))
        return if_known(both, list)
    found = match(wanted[0], given[0])
    return None if found is None else [found]


def _reason(wanted: list[Schema], given: list[Schema]) -> str:
    """Return why schemas do not match; of two sides, which does not."""
    reasons = list(map(why_not, wanted, given))
    if len(reasons) == 1:
        return reasons[0]
    sides = zip(("Input", "Output"), reasons, strict=True)
    said = [f"{side}: {reason}" for side, reason in sides if reason]
    if not said:
        return "Each side fits alone, but no size fits a variable that is on both."
    return " ".join(said)


def _show_match(found: list[Match]) -> None:
    heads = ("Input: ", "Output: ") if len(found) == 2 else ("",)
    for head, one in zip(heads, found, strict=True):
        say(f"{head}match.")
        for item, slot in one.nodes.items():
            say(f"  {item} -> {slot}{_fields_told(one, item)}")
        say(*starmap("  class {} = {}".format, one.classes.items()))
        say(*starmap("  {} = {}".format, one.variables.items()))


def _fields_told(one: Match, item: str) -> str:
    """Return which field becomes which within a node, in brackets; nothing without fields."""
    fields = [f"{name} -> {place}" for name, place in one.fields.get(item, {}).items()]
    return f" ({', '.join(fields)})" if fields else ""


def _warn(warned: list[str]) -> None:
    say_aside(*map("Warning: {}".format, warned))


def _refuse(error: EasemlError, as_json: bool, *, code: int = _INVALID, **answer: Any) -> NoReturn:
    """Say what is wrong and leave with ``code``."""
    told = {"message": error.message, "where": error.where, "remedy": error.remedy}
    print_told({**answer, "error": told}, partial(print_error, error), as_json=as_json)
    raise typer.Exit(code)

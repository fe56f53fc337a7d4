"""Options that several commands share."""

from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from easeml.cli.named_applications import application_or
from easeml.errors import InvalidInput

M = TypeVar("M", bound=BaseModel)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
ApplicationId = Annotated[
    str,
    typer.Argument(
        metavar="APPLICATION", help="Id or name of the application.", callback=application_or()
    ),
]

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a text table holds the names; detected if left out.",
    ),
]

WhichTable = Annotated[
    int | None,
    typer.Option(
        "--table",
        min=0,
        metavar="N",
        help="Which sheet of a workbook or table of a document, from 1; 0: the document's text.",
    ),
]

KeepFormulas = Annotated[
    bool,
    typer.Option(
        "--keep-formulas",
        help="Leave text that starts with =, +, - or @ as it is; spreadsheets may run it.",
    ),
]


def comma_separated(text: str) -> list[str]:
    """Return the parts of ``a, b,c``; an empty part is none."""
    parts = map(str.strip, text.split(","))
    return list(filter(None, parts))


def given(**options: Any) -> dict[str, Any]:
    """Return by name the options that somebody gave: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def name_and_value(option: str, otherwise: InvalidInput) -> tuple[str, str]:
    """Return both sides of ``NAME=VALUE``. Raises ``otherwise`` where there is no name or no sign."""
    name, sign, value = option.partition("=")
    if not name or not sign:
        raise otherwise
    return name, value


def checked(model: type[M], told: dict[str, Any]) -> M:
    """Return a request of what was told. Raises ``InvalidInput`` naming the option that is wrong."""
    try:
        return model.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(first["msg"], where=f"--{first['loc'][0]}") from error


def exactly_one(*told: object, otherwise: InvalidInput) -> None:
    """Raise ``otherwise`` unless one of some options was given, and no other of them."""
    if sum(map(bool, told)) != 1:
        raise otherwise


def at_most_one(*told: object, otherwise: InvalidInput) -> None:
    """Raise ``otherwise`` where several of some options were given."""
    if sum(map(bool, told)) > 1:
        raise otherwise

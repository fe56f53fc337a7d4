"""What commands print: tables for people, one JSON document for programs.

Messages go to standard error.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from easeml.contract.measures import figure
from easeml.contract.times import is_moment
from easeml.errors import EasemlError, InvalidInput, NotSignedIn

Document = BaseModel | Iterable[BaseModel] | dict[str, Any]
"""What is printed as one JSON document: a resource, a list of resources, or a dict."""

Columns = Mapping[str, str | Callable[[Any], Any]]
"""A table of resources: each heading with the field below it, or with what makes its cells."""

Found = TypeVar("Found", bound=BaseModel | Sequence[BaseModel] | dict[str, Any])

# The service's own remedy tells of headers, which those who use commands do not write.
_SIGN_IN = "Sign in with: easeml login. Or set EASEML_API_KEY to a key that is valid."


def console() -> Console:
    """Return a console on the standard output of this moment; wide where no terminal limits it."""
    found = Console(highlight=False)
    if not found.is_terminal:
        found.width = 200
    return found


def notes() -> Console:
    """Return a console on standard error, for what is said beside the answer."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say_aside(*lines: str) -> None:
    """Print lines as they are on standard error, beside the answer."""
    for line in lines:
        notes().print(line, markup=False)


def say(*lines: str) -> None:
    """Print lines as they are, each at once, on standard output."""
    for line in lines:
        print(line, flush=True)


def print_json(value: Document) -> None:
    """Print one JSON document: a resource, a list of resources, or a dict."""
    document = value if isinstance(value, BaseModel | dict) else list(value)
    print(json.dumps(document, indent=2, ensure_ascii=False, default=_dumped))


def _dumped(resource: BaseModel) -> Any:
    return resource.model_dump(mode="json")


def print_done(result: BaseModel | dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """Print what a command did: the result for programs, a sentence about it for people."""
    print_told(result, partial(say, sentence), as_json=as_json)


def print_found(found: Found, show: Callable[[Found], object], *, as_json: bool) -> None:
    """Print what a command found: JSON for programs; ``show`` prints it for people."""
    print_told(found, partial(show, found), as_json=as_json)


def print_told(document: Document, show: Callable[[], object], *, as_json: bool) -> None:
    """Print a document as JSON for programs; ``show`` prints for people what it tells."""
    if as_json:
        print_json(document)
    else:
        show()


def print_list(
    rows: Sequence[BaseModel],
    columns: Columns,
    *,
    as_json: bool,
    whole: BaseModel | None = None,
) -> None:
    """Print resources: JSON for programs, a table for people.

    ``whole``: the resource that holds them, which programs get instead.
    """
    document = rows if whole is None else whole
    print_told(document, partial(print_resources, rows, columns), as_json=as_json)


def print_resources(
    rows: Iterable[BaseModel], columns: Columns, *, empty: str = "None yet."
) -> None:
    """Print a table of resources, a line each. Fields that are moments are shown in local time."""
    cells = (_cells(resource, columns) for resource in rows)
    print_table(list(columns), cells, empty=empty)


def _cells(resource: BaseModel, columns: Columns) -> list[Any]:
    return [_cell(resource, what) for what in columns.values()]


def _cell(resource: BaseModel, what: str | Callable[[Any], Any]) -> Any:
    if callable(what):
        return what(resource)
    value = getattr(resource, what)
    return moment(value) if is_moment(type(resource), what) else value


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str = "None yet."
) -> None:
    """Print rows under headings; ``empty`` where there are none. ``None`` is shown as a dash."""
    headings = map(folded_column, columns)
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(escape, map(text, row)))
    console().print(table if table.row_count else escape(empty))


def folded_column(heading: str) -> Column:
    """Return a column of a table, whose cells go on in the next line where they are long."""
    return Column(escape(heading), overflow="fold")


def print_table_of_any(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows under headings; nothing where there are none."""
    if rows:
        print_table(columns, rows)


def print_pairs(pairs: Iterable[tuple[str, Any]]) -> None:
    """Print names and values below each other, without those that are empty."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, "", [], {}):
            table.add_row(escape(name), escape(text(value)))
    console().print(table)


def print_error(error: EasemlError) -> None:
    """Print what is wrong, where, and what to do next, on standard error."""
    out = notes()
    out.print(f"[bold red]Error:[/] {escape(_in_flags(error.message))}")
    if error.where:
        out.print(f"  Where: {escape(_FLAGS.get(error.where, error.where))}")
    remedy = _SIGN_IN if isinstance(error, NotSignedIn) else error.remedy
    if remedy:
        out.print(f"  Remedy: {escape(_in_flags(remedy))}")


_FLAGS = {"target": "--target"}  # of a place in a request, where a command has it as a flag


def _in_flags(advice: str) -> str:
    """Return advice of the service with the flag of a command instead of a part of a request."""
    flags = advice.replace("fill_absent=true in the query", "--fill-absent")
    return flags.replace("fill_empty=true in the query", "--fill-empty")


def share_missing(share: float) -> str:
    """Return a share of missing values as a table shows it: nothing where there is none."""
    return f"{share:.1%}" if share else ""


def text(value: Any) -> str:
    """Return a value as people read it: numbers short, lists with commas, a dash for nothing."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, list | tuple):
        value = ", ".join(map(text, value))
    return str(value) or "-"


def shortened(cell: str, longest: int = 40) -> str:
    """Return a cell as it may stand in a table: its beginning, where it has more characters."""
    if len(cell) <= longest:
        return cell
    return cell[: longest - 3].rstrip() + "..."


def counted(counts: Mapping[str, float]) -> str:
    """Return numbers of things in words, such as ``3 train, 2 test``; empty where there are none."""
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def plural(count: float, noun: str) -> str:
    """Return a noun as it stands after a count."""
    return noun if count == 1 else f"{noun}s"


def moment(seconds: float | None) -> str:
    """Return a time of the epoch in local time.

    The bare number comes back where the calendar does not reach so far.
    """
    if seconds is None:
        return "-"
    try:
        return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return text(seconds)


def check_can_ask(otherwise: InvalidInput) -> None:
    """Raise ``otherwise`` where nobody sits in front of the program who could be asked."""
    if not is_interactive():
        raise otherwise


def is_interactive() -> bool:
    """Tell whether a person sits in front of the program and can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()

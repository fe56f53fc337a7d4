"""What commands print: tables for people, one JSON document for programs.

Messages go to standard error.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from easeml.contract.measures import figure
from easeml.errors import EasemlError, InvalidInput, NotSignedIn

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


def say(line: str) -> None:
    """Print a line as it is, at once, on standard output."""
    print(line, flush=True)


def print_json(value: BaseModel | Iterable[BaseModel] | dict[str, Any]) -> None:
    """Print one JSON document: a resource, a list of resources, or a dict."""
    document: Any
    if isinstance(value, BaseModel):
        document = value.model_dump(mode="json")
    elif isinstance(value, dict):
        document = value
    else:
        document = [item.model_dump(mode="json") for item in value]
    print(json.dumps(document, indent=2, ensure_ascii=False))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, empty: str = "None yet."
) -> None:
    """Print rows under headings; ``empty`` where there are none. ``None`` is shown as a dash."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*[escape(text(cell)) for cell in row])
    console().print(table if table.row_count else empty)


def print_pairs(pairs: Iterable[tuple[str, Any]]) -> None:
    """Print names and values below each other, without those that are empty."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        if value not in (None, "", [], {}):
            table.add_row(name, escape(text(value)))
    console().print(table)


def print_error(error: EasemlError) -> None:
    """Print what is wrong, where, and what to do next, on standard error."""
    out = notes()
    out.print(f"[bold red]Error:[/] {escape(error.message)}")
    if error.where:
        out.print(f"  Where: {escape(error.where)}")
    remedy = _SIGN_IN if isinstance(error, NotSignedIn) else error.remedy
    if remedy:
        out.print(f"  Remedy: {escape(remedy)}")


def share_missing(share: float) -> str:
    """Return a share of missing values as a table shows it: nothing where there is none."""
    return f"{share:.1%}" if share else ""


def unwritable(path: Path, error: OSError) -> InvalidInput:
    """Return what to raise where a file cannot be written."""
    return InvalidInput(f"The file cannot be written: {error.strerror}.", where=str(path))


def text(value: Any) -> str:
    """Return a value as people read it: numbers short, lists with commas, a dash for nothing."""
    if value is None or value == "":
        return "-"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(text, value)) or "-"
    return str(value)


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


def is_interactive() -> bool:
    """Tell whether a person sits in front of the program and can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()

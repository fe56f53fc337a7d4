"""What the commands about an application's data share: waiting, and how versions look."""

from functools import partial
from pathlib import Path
from typing import Any

from easeml.cli.named_applications import application_id
from easeml.cli.output import counted, print_pairs, print_resources, say, say_aside
from easeml.cli.uploading import with_bar
from easeml.client import Client
from easeml.contract.datasets import Version
from easeml.contract.measures import figure
from easeml.contract.states import VersionState
from easeml.contract.version_changes import change_of
from easeml.contract.versions import Comparison, RowRange, TrainRow, TrainRows, VersionLine
from easeml.errors import NotFound

_SAME_ROWS = "the same rows; their cells and answers are not compared"
_SHOWN_VALUES = 6
_ROLES = ("train", "validation", "test", "pool", "production")


def feed_and_wait(
    client: Client,
    application_id: str,
    file: Path,
    role: str | None,
    *,
    quiet: bool,
    table: int | None = None,
    anyway: bool = False,
) -> Version:
    """Feed a file, showing how far it is, and wait until its rows are in.

    ``anyway``: also where they look broken. Raises InvalidInput where they do not fit.
    """
    feed = partial(client.feed, application_id, file, role=role, table=table, anyway=anyway)
    version = with_bar(lambda told: feed(progress=told), file, quiet=quiet)
    return client.wait_version_ready(version.id)


def replace_and_wait(
    client: Client, application_id: str, file: Path, *, quiet: bool, table: int | None = None
) -> Version:
    """Let a file take the place of all data, showing how far it is, and wait until that is done.

    Raises InvalidInput where it is another table.
    """
    replace = partial(client.replace_data, application_id, file, table=table)
    version = with_bar(lambda told: replace(progress=told), file, quiet=quiet)
    return client.wait_version_ready(version.id)


def say_replaced(application_id: str, before: int, version: Version) -> None:
    """Print what the version has that took the place of the data, and the way back."""
    say_version(version)
    say_aside(f"Back: easeml data use {application_id} {before}")


def version_id(client: Client, name: str) -> str:
    """Return the id of a version that is named by it, or as ``APPLICATION:NUMBER``.

    Raises NotFound.
    """
    application, colon, number = name.rpartition(":")
    if not colon:
        return name
    versions = client.versions(application_id(client, application))
    numbers = {str(one.number): one.id for one in versions}
    if number not in numbers:
        raise NotFound(
            f"There is no version {number}.", where=name, remedy=f"There are: {', '.join(numbers)}."
        )
    return numbers[number]


def say_version(version: Version) -> None:
    """Print what a new version has."""
    summary = version.summary
    change = change_of(version.operation, summary.get("added", {}))
    say(f"Version {version.number} ({version.id}): {change}.")
    counts = [(f"{role} rows", summary.get(role)) for role in _ROLES]
    print_pairs([*counts, ("off", summary.get("off"))])
    say_aside(*summary.get("notes", []))


def print_versions(found: list[VersionLine]) -> None:
    """Print versions, a line each."""
    columns = {
        "id": "id",
        "number": _number,
        "state": "state",
        "change": _change,
        "rows": lambda one: counted(one.rows),
        "off": lambda one: one.off or None,
        "created": "created",
    }
    print_resources(found, columns)


def _number(one: VersionLine) -> str:
    return f"{one.number} *" if one.current else str(one.number)


def _change(one: VersionLine) -> str:
    """Return what made a version, or why it failed."""
    if one.state == VersionState.FAILED:
        return one.error
    return change_of(one.operation, one.added)


def print_comparison(found: Comparison) -> None:
    """Print what a version has that another had not."""
    changes = (found.added, found.removed, found.switched_off, found.switched_on)
    print_pairs(
        [
            ("version", found.version_id),
            ("before", found.before or "nothing"),
            ("rows added", counted(found.added)),
            ("rows", list(map(_range_told, found.ranges))),
            ("rows removed", counted(found.removed)),
            ("switched off", found.switched_off),
            ("switched on", found.switched_on),
            ("schema", "\n".join(found.schema_differences) or "the same"),
            ("data", "" if any(changes) else _SAME_ROWS),
        ]
    )


def _range_told(one: RowRange) -> str:
    if one.last > one.first:
        return f"{one.first}-{one.last} {one.role}"
    return f"{one.first} {one.role}"


def print_train_rows(page: TrainRows, next_command: str) -> None:
    """Print a page of training pairs and what it is a page of."""
    columns = {
        "row": "row",
        "state": lambda row: "on" if row.on else "off",
        "target": "target",
        "suspicion": _suspicion,
        "predicted": "predicted",
        "values": _values,
    }
    print_resources(page.items, columns, empty="No such row.")
    say(f"Version {page.number}: {page.total} such train rows, {page.off} train rows are off.")
    if page.scored is None:
        say_aside("Nobody has looked for suspicious rows yet: add --look.")
    if page.next:
        say_aside(f"More: {next_command} --after {page.next}")


def _suspicion(row: TrainRow) -> str | None:
    return None if row.suspicion is None else f"{row.suspicion:.3f}"


def _values(row: TrainRow) -> str:
    shown = list(row.values.items())[:_SHOWN_VALUES]
    return ", ".join(f"{name} {_short(value)}" for name, value in shown)


def _short(value: Any) -> str:
    text = figure(value) if isinstance(value, float) else str(value)
    return text if len(text) <= 30 else text[:27] + "..."

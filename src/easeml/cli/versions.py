"""What the commands about an application's data share: waiting, and how versions look."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from easeml.cli.output import moment, notes, print_pairs, print_table, say
from easeml.cli.uploading import with_bar
from easeml.client import Client
from easeml.contract.datasets import Version
from easeml.contract.measures import figure
from easeml.contract.states import VersionState
from easeml.contract.versions import Comparison, TrainRows, VersionLine
from easeml.errors import NotFound

_SHOWN_VALUES = 6
_ROLES = ("train", "validation", "test", "pool", "production")


def feed_and_wait(
    client: Client, application_id: str, file: Path, role: str | None, *, quiet: bool
) -> Version:
    """Feed a file, showing how far it is, and wait until its rows are in.

    Raises InvalidInput where they do not fit.
    """
    version = with_bar(
        lambda told: client.feed(application_id, file, role=role, progress=told), file, quiet=quiet
    )
    return client.wait_version_ready(version.id)


def version_id(client: Client, name: str) -> str:
    """Return the id of a version that is named by it, or as ``APPLICATION:NUMBER``.

    Raises NotFound.
    """
    application_id, colon, number = name.rpartition(":")
    if not colon:
        return name
    numbers = {str(one.number): one.id for one in client.versions(application_id)}
    if number not in numbers:
        raise NotFound(
            f"There is no version {number}.", where=name, remedy=f"There are: {', '.join(numbers)}."
        )
    return numbers[number]


def say_version(version: Version) -> None:
    """Print what a new version has."""
    summary = version.summary
    change = describe(version.operation, summary.get("added", {}))
    say(f"Version {version.number} ({version.id}): {change}.")
    counts = [(f"{role} rows", summary.get(role)) for role in _ROLES]
    print_pairs([*counts, ("off", summary.get("off"))])
    for note in summary.get("notes", []):
        notes().print(note, markup=False)


def print_versions(found: list[VersionLine]) -> None:
    """Print versions, a line each."""
    rows = []
    for one in found:
        change = describe(one.operation, one.added)
        if one.state == VersionState.FAILED:
            change = one.error
        row = (
            one.id,
            f"{one.number} *" if one.current else str(one.number),
            one.state,
            change,
            _by_role(one.rows),
            one.off or None,
            moment(one.created),
        )
        rows.append(row)
    print_table(["id", "number", "state", "change", "rows", "off", "created"], rows)


def print_comparison(found: Comparison) -> None:
    """Print what a version has that another had not."""
    ranges = []
    for one in found.ranges:
        ids = f"{one.first}-{one.last}" if one.last > one.first else f"{one.first}"
        ranges.append(f"{ids} {one.role}")
    changes = (found.added, found.removed, found.switched_off, found.switched_on)
    print_pairs(
        [
            ("version", found.version_id),
            ("before", found.before or "nothing"),
            ("rows added", _by_role(found.added)),
            ("rows", ranges),
            ("rows removed", _by_role(found.removed)),
            ("switched off", found.switched_off),
            ("switched on", found.switched_on),
            ("schema", "\n".join(found.schema_differences) or "the same"),
            ("data", "" if any(changes) else "the same"),
        ]
    )


def print_train_rows(page: TrainRows, next_command: str) -> None:
    """Print a page of training pairs and what it is a page of."""
    rows = []
    for row in page.items:
        shown = list(row.values.items())[:_SHOWN_VALUES]
        cells = (
            row.row,
            "on" if row.on else "off",
            row.target,
            None if row.suspicion is None else f"{row.suspicion:.3f}",
            row.predicted,
            ", ".join(f"{name} {_short(value)}" for name, value in shown),
        )
        rows.append(cells)
    titles = ["row", "state", "target", "suspicion", "predicted", "values"]
    print_table(titles, rows, empty="No such row.")
    say(f"Version {page.number}: {page.total} such train rows, {page.off} train rows are off.")
    if page.scored is None:
        notes().print("Nobody has looked for suspicious rows yet: add --look.", markup=False)
    if page.next:
        notes().print(f"More: {next_command} --after {page.next}", markup=False)


def describe(operation: Mapping[str, Any], added: Mapping[str, int]) -> str:
    """Say what made a version: rows fed, rows switched off or on, a declaration."""
    if operation["name"] == "feed":
        fed = f"{operation['filename']} fed"
        return f"{fed}, {_by_role(added)} added" if added else fed
    if operation["name"] == "refine":
        pieces = [f"{len(operation[way])} {way}" for way in ("off", "on") if operation[way]]
        return f"rows switched: {', '.join(pieces)}"
    if operation["name"] == "answer":
        return f"{len(operation['labels']) + len(operation['cells'])} answers of people"
    if operation["name"] == "flow":
        return f"flow to {operation['title']}"
    return str(operation.get("filename") or operation["name"])


def _by_role(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {role}" for role, count in counts.items())


def _short(value: Any) -> str:
    text = figure(value) if isinstance(value, float) else str(value)
    return text if len(text) <= 30 else text[:27] + "..."

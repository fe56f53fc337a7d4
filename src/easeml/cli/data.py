"""``data``: look at table files and write them in other formats; the data of an application."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli import erasing
from easeml.cli.options import (
    ApplicationId,
    Header,
    Json,
    KeepFormulas,
    WhichTable,
    comma_separated,
)
from easeml.cli.output import (
    moment,
    print_done,
    print_found,
    print_json,
    print_list,
    print_table,
    print_told,
    say,
    say_aside,
    share_missing,
)
from easeml.cli.showing import confirming
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.contract.datasets import Dataset
    from easeml.data import ColumnReport, Inference

app = typer.Typer(
    no_args_is_help=True,
    help="Table files; and the data of applications: versions, refine, compare, export.",
)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A table in any format that can be uploaded.")
]
Target = Annotated[
    str | None, typer.Option(metavar="COL", help="The column to predict; proposed where left out.")
]


VersionName = Annotated[
    str, typer.Argument(metavar="VERSION", help="Id of the version, or APPLICATION:NUMBER.")
]


_MOST_IDS = 100_001  # one more than a request may name
_IDS = re.compile(r"(?P<first>\d+)(-(?P<last>\d+))?")


class State(StrEnum):
    """Whether models learn from a row."""

    ON = "on"
    OFF = "off"


_IS_ON = {None: None, State.ON: True, State.OFF: False}


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    erasing.add_to(app)
    root.add_typer(app, name="data")


@app.command()
def describe(
    file: File,
    target: Target = None,
    header: Header = None,
    table: WhichTable = None,
    as_json: Json = False,
) -> None:
    """Show what each column is: its type and nature, how sure that is, and why."""
    from easeml import data

    found = data.infer(file, target, header=header, table=table)
    print_told(_described(found), partial(_print_described, found), as_json=as_json)


def _described(found: Inference) -> dict[str, Any]:
    """Return what the columns are, for programs."""
    return {
        "rows": found.rows,
        "target": found.target,
        "sure": found.sure,
        "reason": found.reason,
        "rivals": list(found.rivals),
        "columns": [report.to_json() for report in found.columns],
        "notes": found.told,
    }


def _print_described(found: Inference) -> None:
    print_table(
        ["column", "type", "nature", "missing", "evidence"], map(_column_row, found.columns)
    )
    say_aside(*found.told)


def _column_row(one: ColumnReport) -> tuple[str, ...]:
    kind = f"{one.type} {one.confidence:.0%}"
    nature = f"{one.nature} {one.nature_confidence:.0%}"
    evidence = one.evidence + confirming(one.name, one.suspected_codes)
    return one.name, kind, nature, share_missing(one.missing), evidence


@app.command()
def convert(
    file: File,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A new file; its ending says the format.")
    ],
    header: Header = None,
    table: WhichTable = None,
    keep_formulas: KeepFormulas = False,
) -> None:
    """Write a table with its inferred types.

    The name tells the format: .csv, .tsv, .parquet, .arrow, .feather, .jsonl or .arff.
    """
    from easeml import data

    rows = data.read_table(file, header=header, table=table)
    columns = data.infer_table(rows).columns
    data.write_table(out, rows, columns, escape_formulas=not keep_formulas)
    say(f"Wrote {rows.num_rows} rows to {out}.")


@app.command()
def croissant(file: File, target: Target = None) -> None:
    """Print Croissant metadata (JSON-LD) of a table."""
    from easeml import data

    print_json(data.croissant(file, data.infer(file, target)))


@app.command()
def add(
    address: Annotated[
        str,
        typer.Argument(
            help="https://HOST/FILE, s3://BUCKET/KEY, postgresql://CONNECTION or "
            "sqlite://CONNECTION; the connections are your provider's."
        ),
    ],
    *,
    query: Annotated[str, typer.Option(help="Which rows of a database: SELECT ...")] = "",
    name: Annotated[str | None, typer.Option(help="Name of the dataset.")] = None,
    header: Header = None,
    table: WhichTable = None,
    as_json: Json = False,
) -> None:
    """Fetch data from the web, a bucket or a database, as a dataset, and wait until it is read."""
    from easeml.client import Client, made_request
    from easeml.contract.sources import NewOrigin

    wish = made_request(
        NewOrigin, address=address, query=query, name=name, header=header, table=table
    )
    with Client() as client:
        added = client.add_origin(wish)
        version = client.wait_version_ready(added.version.id)
    size = f"{version.summary['rows']:,} rows, {len(version.columns)} columns"
    told = f"{added.id} ({added.name}): {size}.\nSearch on it: easeml app create {added.id}"
    print_done(version, told, as_json=as_json)


@app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List your data sets: their newest version, and where it came from."""
    from easeml.client import Client

    with Client() as client:
        found = list(client.datasets())
    columns = {
        "id": "id",
        "name": "name",
        "state": lambda one: one.version.state,
        "rows": lambda one: one.version.summary.get("rows"),
        "from": _source,
        "since": lambda one: moment(one.version.created),
    }
    print_list(found, columns, as_json=as_json)


def _source(one: Dataset) -> str:
    operation = one.version.operation
    origin = operation.get("origin") or {}
    return origin.get("address") or operation.get("filename", "")


@app.command()
def refresh(
    dataset_id: Annotated[str, typer.Argument(metavar="DATASET", help="Id of the data set.")],
    *,
    fewer: Annotated[
        bool, typer.Option("--fewer", help="Take it also where it seems cut off.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch a data set again from where it came; applications that follow it get its new rows."""
    from easeml.cli.sources import print_retrieval, wait_retrieval
    from easeml.client import Client

    with Client() as client:
        found = wait_retrieval(client, client.refresh_dataset(dataset_id, fewer=fewer))
    print_found(found, print_retrieval, as_json=as_json)


@app.command()
def versions(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the versions of an application's data, newest first; the one in use has a star."""
    from easeml.cli.versions import print_versions
    from easeml.client import Client

    with Client() as client:
        found = list(client.versions(application_id))
    print_found(found, print_versions, as_json=as_json)


@app.command("replace")
def replace_rows(
    application_id: ApplicationId, file: File, table: WhichTable = None, as_json: Json = False
) -> None:
    """Let a file take the place of all of an application's data; its address stays.

    What serves goes on until a model of the new data is better there. Back: data use.
    """
    from easeml.cli.versions import replace_and_wait, say_replaced
    from easeml.client import Client

    with Client() as client:
        version = replace_and_wait(client, application_id, file, quiet=as_json, table=table)
        before = client.version(version.parents[0])
    told = partial(say_replaced, application_id, before.number)
    print_found(version, told, as_json=as_json)


@app.command()
def use(application_id: ApplicationId, version: VersionName, as_json: Json = False) -> None:
    """Let an application go on with another version of its data, such as an earlier one.

    Its search starts anew there.
    """
    from easeml.cli.versions import version_id
    from easeml.client import Client

    with Client() as client:
        name = f"{application_id}:{version}" if version.isdecimal() else version
        used = client.use_version(application_id, version_id(client, name))
    told = f"{application_id} uses version {used.number} now, and its search starts anew on it."
    print_done(used, told, as_json=as_json)


@app.command()
def compare(version: VersionName, other: VersionName, as_json: Json = False) -> None:
    """Show what the second version has that the first had not: rows, switches, schema."""
    from easeml.cli.versions import print_comparison, version_id
    from easeml.client import Client

    with Client() as client:
        found = client.compare(version_id(client, other), version_id(client, version))
    print_found(found, print_comparison, as_json=as_json)


@app.command()
def export(
    version: VersionName,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A new file; its ending says the format.")
    ],
    since: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="Only the rows that are new or differ from this version; gone ones have role off.",
        ),
    ] = None,
) -> None:
    """Write the rows of a version as a table, or as an ease.ml dataset (.zip, .tar, .tar.gz)."""
    from easeml.cli.versions import version_id
    from easeml.client import Client

    if out.exists():
        raise InvalidInput("There is something already.", where=str(out), remedy="Name a new file.")
    ending = "tar.gz" if out.name.endswith(".tar.gz") else out.suffix.removeprefix(".")
    with Client() as client:
        before = None if since is None else version_id(client, since)
        content = client.export(version_id(client, version), ending, before)
    out.write_bytes(content)
    say(f"Wrote {len(content):,} bytes to {out}.")


@app.command()
def doubts(
    application_id: ApplicationId,
    *,
    look: Annotated[
        bool, typer.Option("--look", help="Have them looked for, and wait for the task.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Write all to this file: .csv, or .zip with the relation."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the doubtful cells of an application's data, and what they could be."""
    from easeml.cli.doubtful import print_doubts
    from easeml.client import Client

    with Client() as client:
        if look:
            client.look_for_doubts(application_id)
            while client.doubts(application_id, limit=1).looking:
                time.sleep(1)
        if out is not None:
            out.write_bytes(client.export_doubts(application_id, out.suffix.removeprefix(".")))
        found = client.doubts(application_id)
    print_found(found, print_doubts, as_json=as_json)


@app.command()
def refine(
    application_id: ApplicationId,
    *,
    off: Annotated[
        str | None, typer.Option(help="Ids of train rows to switch off, with commas.")
    ] = None,
    on: Annotated[
        str | None, typer.Option(help="Ids of train rows to switch on again, with commas.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Show rows with this target value only.")
    ] = None,
    only: Annotated[State | None, typer.Option(help="Show rows that are on, or off, only.")] = None,
    look: Annotated[
        bool, typer.Option("--look", help="Look for suspicious rows first, in a task.")
    ] = False,
    after: Annotated[int, typer.Option(min=0, help="Leave out so many rows.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Show so many rows.")] = 20,
    as_json: Json = False,
) -> None:
    """Show training pairs, the most suspicious first; or switch them off or on, as a new version."""
    from easeml.cli.versions import print_train_rows, say_version
    from easeml.client import Client

    with Client() as client:
        if off is not None or on is not None:
            changed = client.refine(application_id, off=_ids(off, "--off"), on=_ids(on, "--on"))
            version = client.wait_version_ready(changed.id)
            return print_found(version, say_version, as_json=as_json)
        if look:
            client.wait_task(client.ask_tool(application_id, "label-errors").id)
        shown = {
            "label": label,
            "on": _IS_ON[only],
            "suspicious": True,
        }
        page = client.train_rows_page(application_id, **shown, after=str(after), limit=limit)
    command = f"easeml data refine {application_id}"
    return print_found(page, lambda found: print_train_rows(found, command), as_json=as_json)


def _ids(text: str | None, option: str) -> list[int]:
    """Return the ids of ``3,17,20-25``."""
    pieces = comma_separated(text or "")
    found = list(chain.from_iterable(_ids_of(piece, option) for piece in pieces))
    if len(found) >= _MOST_IDS:
        raise InvalidInput(
            f"More than {_MOST_IDS - 1:,} rows.",
            where=option,
            remedy="Switch them in several steps.",
        )
    return found


def _ids_of(piece: str, option: str) -> Iterable[int]:
    """Return the id, or the ids of a range such as ``20-25``; at most as many as are allowed."""
    ids = _IDS.fullmatch(piece)
    if ids is None:
        raise InvalidInput(
            f"{piece!r} is not the id of a row.",
            where=option,
            remedy="Write, say, 3,17,20-25.",
        )
    first, last = int(ids["first"]), int(ids["last"] or ids["first"])
    # A typing error must not fill the memory.
    return islice(range(first, last + 1), _MOST_IDS)

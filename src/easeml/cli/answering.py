"""``work``: what people are asked about rows, one item at a time, and what they answer."""

from pathlib import Path
from typing import Annotated

import typer

from easeml.cli.exit_codes import fail_if
from easeml.cli.named_files import read_text
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import (
    notes,
    print_done,
    print_found,
    print_pairs,
    print_table,
    say,
    say_aside,
)
from easeml.client import Client
from easeml.contract.states import TAUGHT, VersionState
from easeml.contract.work import (
    WorkDone,
    WorkImported,
    WorkItem,
    WorkQueue,
    WorkRefused,
    WorkTurn,
    why_judges,
)
from easeml.errors import NotAllowed, NotFound

work = typer.Typer(no_args_is_help=True, help="Work of people: labels and cells to decide.")
_SHOWN = 20  # classes
_PICTURE = "a picture: look at it on the page Work"
ItemId = Annotated[str, typer.Argument(metavar="ITEM", help="Id of the item.")]


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(work, name="work")


@work.command("next")
def take_next(
    application_id: ApplicationId,
    timeout: Annotated[
        float, typer.Option(min=0, help="Seconds to wait while easeml looks for items.")
    ] = 120.0,
    as_json: Json = False,
) -> None:
    """Take the item whose answer tells most for your time; it is kept for you for ten minutes."""
    with Client() as client:
        found = _next_after_looking(client, application_id, timeout)
    print_found(found, _print_turn, as_json=as_json)


def _next_after_looking(client: Client, application_id: str, timeout: float) -> WorkTurn:
    """Return the turn after the tasks that prepare data and look for items.

    A labeller may not follow those tasks.
    """
    found = client.next_work(application_id)
    while found.item is None and found.task_id:
        try:
            client.wait_task(found.task_id, timeout=timeout)
        except (NotAllowed, NotFound):
            notes().print("Items are being looked for. Ask again in a while.")
            return found
        found = client.next_work(application_id)
    return found


@work.command("list")
def list_items(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the open items, those that tell most for a person's time first."""
    with Client() as client:
        found = client.work(application_id)
    print_found(found, _print_items, as_json=as_json)


def _print_items(found: WorkQueue) -> None:
    say(f"{sum(found.open.values())} open, {found.answers} answered and not used yet.")
    if found.says:
        say(f"With answers to all of them, predictions should {found.says}.")
    if found.agreement.pairs:
        same = found.agreement.same
        pairs = found.agreement.pairs
        say(f"Two people agreed in {same} of {pairs} items that both answered.")
    print_table(["id", "kind", "row", "column", "given", "gain"], map(_item_row, found.items))


def _item_row(one: WorkItem) -> tuple[object, ...]:
    return one.id, one.kind, one.row, one.column, one.given, one.information


@work.command("answer")
def answer(
    item_id: ItemId,
    value: Annotated[str, typer.Argument(help="What is right.")],
    as_json: Json = False,
) -> None:
    """Answer an item. Twenty answers make a new version of the data."""
    _did(item_id, "answer", as_json, value)


@work.command("skip")
def skip(item_id: ItemId, as_json: Json = False) -> None:
    """Leave an item to others."""
    _did(item_id, "skip", as_json)


@work.command("unknown")
def unknown(item_id: ItemId, as_json: Json = False) -> None:
    """Say that you do not know."""
    _did(item_id, "unknown", as_json)


@work.command("undo")
def undo(item_id: ItemId, as_json: Json = False) -> None:
    """Take back what you did with an item, as long as no version has it."""
    _did(item_id, "undo", as_json)


@work.command("use")
def use(application_id: ApplicationId, as_json: Json = False) -> None:
    """Make a version of the answers now, without waiting for twenty; the search goes on with it."""
    with Client() as client:
        version = client.use_answers(application_id)
        if version.state == VersionState.READY:
            told = f"The answers say what version {version.number} has already: it stays as it is."
            return print_done(version, told, as_json=as_json)
        say_aside(f"Version {version.number} of the data is being made of the answers.")
        version = client.wait_version_ready(version.id)
    told = f"Version {version.number} has the answers; the search goes on with it."
    return print_done(version, told, as_json=as_json)


@work.command("export")
def export(
    application_id: ApplicationId,
    form: Annotated[
        str, typer.Option("--format", help="label-studio (JSON), or csv.")
    ] = "label-studio",
    out: Annotated[
        Path | None, typer.Option(help="File to write; left out: standard output.")
    ] = None,
) -> None:
    """Write the items, to be answered elsewhere: for Label Studio, or as a table."""
    with Client() as client:
        found = client.export_work(application_id, format=form)
    if out is None:
        return typer.echo(found.text, nl=False)
    out.write_text(found.text, encoding="utf-8")
    return say(f"{found.items} items.")


@work.command("import")
def take(
    application_id: ApplicationId,
    file: Annotated[Path, typer.Argument(help="Label Studio's .json, or a .csv, with answers.")],
    as_json: Json = False,
) -> None:
    """Take the answers of a file that was exported and filled in; twice is the same as once.

    The exit code is 1 where a row was refused.
    """
    text = read_text(file, "It cannot be read")
    with Client() as client:
        found = client.import_work(application_id, filename=file.name, text=text)
    print_found(found, _print_taken, as_json=as_json)
    fail_if(found.refused)


def _print_taken(found: WorkImported) -> None:
    say_aside(*map(_refusal_told, found.refused))
    counts = f"{found.taken} taken, {found.same} there already, {len(found.refused)} refused."
    if found.version_id:
        counts += f" A version is being made: {found.version_id}."
    say(counts)


def _refusal_told(one: WorkRefused) -> str:
    return f"{one.place}, {one.key}: {one.message} {one.remedy}"


def _did(item_id: str, way: str, as_json: bool, value: str = "") -> None:
    with Client() as client:
        done = client.answer_work(item_id, value=value, way=way)
    print_done(done, _told(done), as_json=as_json)


def _told(done: WorkDone) -> str:
    if done.version_id:
        return f"Kept. A new version is being made of the answers: {done.version_id}."
    if done.kind not in TAUGHT:
        return f"Kept ({done.way}). The test of models goes on with it."
    answers = "1 answer waits" if done.answers == 1 else f"{done.answers} answers wait"
    return f"Kept ({done.way}). {answers} for a version."


def _print_turn(found: WorkTurn) -> None:
    if found.item is None:
        say(f"Nothing is left to ask you. {found.never}".rstrip())
        return
    _print_item(found.item)
    say(f"Answer it with: easeml work answer {found.item.id} VALUE")


def _print_item(item: WorkItem) -> None:
    say(f"{item.question} ({item.kind}, row {item.row})")
    pairs = []
    for name, value in item.values.items():
        shown = _PICTURE if value.startswith("data:image/") else value
        pairs.append((f"{name} *" if name in item.matters else name, shown))
    print_pairs(pairs)
    if item.matters:
        say("* bears on the answer")
    why = why_judges(item.source)
    if why:
        say(why)
    for option in item.options:
        say(f"  {option.value}: {option.weight:.0%}")
    if item.choices:
        shown = ", ".join(item.choices[:_SHOWN])
        say(f"It is one of {len(item.choices):,}: {shown}")

"""``work``: what people are asked about rows, one item at a time, and what they answer."""

from typing import Annotated

import typer

from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import notes, print_json, print_pairs, print_table, say
from easeml.client import Client
from easeml.contract.work import WorkDone, WorkItem, WorkTurn
from easeml.errors import NotAllowed, NotFound

work = typer.Typer(no_args_is_help=True, help="Work of people: labels and cells to decide.")
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
        found = client.next_work(application_id)
        if found.item is None and found.task_id:
            found = _after_looking(client, found, timeout)
    if as_json:
        print_json(found)
    else:
        _print_turn(found)


def _after_looking(client: Client, found: WorkTurn, timeout: float | None) -> WorkTurn:
    """Return the turn after the task that looks for items; a labeller may not follow that task."""
    try:
        client.wait_task(found.task_id, timeout=timeout)
    except (NotAllowed, NotFound):
        notes().print("Items are being looked for. Ask again in a while.")
        return found
    return client.next_work(found.application_id)


@work.command("list")
def list_items(application_id: ApplicationId, as_json: Json = False) -> None:
    """List the open items, those that tell most for a person's time first."""
    with Client() as client:
        found = client.work(application_id)
    if as_json:
        return print_json(found)
    rows = [
        (one.id, one.kind, one.row, one.column, one.given, one.information) for one in found.items
    ]
    say(f"{sum(found.open.values())} open, {found.answers} answered and not used yet.")
    return print_table(["id", "kind", "row", "column", "given", "nats"], rows)


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
        version = client.wait_version_ready(version.id)
    if as_json:
        print_json(version)
    else:
        say(f"Version {version.number} has the answers.")


def _did(item_id: str, way: str, as_json: bool, value: str = "") -> None:
    with Client() as client:
        done = client.answer_work(item_id, value=value, way=way)
    if as_json:
        print_json(done)
    else:
        say(_told(done))


def _told(done: WorkDone) -> str:
    if done.version_id:
        return f"Kept. A new version is being made of the answers: {done.version_id}."
    return f"Kept ({done.way}). {done.answers} answers wait for a version."


def _print_turn(found: WorkTurn) -> None:
    if found.item is None:
        say("Nothing is left to ask you.")
        return
    _print_item(found.item)
    say(f"Answer it with: easeml work answer {found.item.id} VALUE")


def _print_item(item: WorkItem) -> None:
    say(f"{item.question} ({item.kind}, row {item.row})")
    print_pairs(list(item.values.items()))
    for option in item.options:
        say(f"  {option.value}: {option.weight:.0%}")

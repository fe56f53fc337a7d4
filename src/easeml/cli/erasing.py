"""``data erase`` and ``data erasures``: rows that are to be nowhere any more."""

from typing import Annotated

import typer

from easeml.cli.named_applications import application_or
from easeml.cli.options import Json, name_and_value
from easeml.cli.output import counted, moment, print_found, print_pairs, print_table, say
from easeml.client import Client
from easeml.contract.erasures import ErasedModel, ErasedVersion, Erasure, Remaining
from easeml.contract.states import ModelFate
from easeml.errors import InvalidInput

DatasetId = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Id of the data set, or id or name of an application on it.",
        callback=application_or("data"),
    ),
]


def add_to(data: typer.Typer) -> None:
    """Add the commands to ``data``."""
    data.command("erase")(erase)
    data.command("erasures")(erasures)


def erase(
    dataset_id: DatasetId,
    *,
    where: Annotated[
        list[str],
        typer.Option(metavar="COL=VALUE", help="What the rows have; may be given more than once."),
    ],
    models: Annotated[
        ModelFate,
        typer.Option(help="What becomes of models that learnt from them: retrain or retire."),
    ] = ModelFate.RETRAIN,
    yes: Annotated[
        bool, typer.Option("--yes", help="Erase; without it, only say what would go.")
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait at most.")] = 600.0,
    as_json: Json = False,
) -> None:
    """Erase rows, such as those of a person, everywhere: versions, requests, models, logs."""
    with Client() as client:
        conditions = dict(map(_condition, where))
        id = _dataset(client, dataset_id)
        task = client.erase_rows(id, where=conditions, models=models, plan_only=not yes)
        done = client.wait_task(task.id, timeout=timeout)
    found = Erasure.model_validate(done.result["report"])
    print_found(found, _print_answer, as_json=as_json)


def _print_answer(found: Erasure) -> None:
    _print(found)
    if found.plan_only:
        say("Nothing was erased yet. To erase it: say --yes.")


def erasures(dataset_id: DatasetId, as_json: Json = False) -> None:
    """Show the reports on what was erased from a data set."""
    with Client() as client:
        found = list(client.erasures(_dataset(client, dataset_id)))
    print_found(found, _print_all, as_json=as_json)


def _print_all(found: list[Erasure]) -> None:
    for one in found:
        say(f"{moment(one.when)}, by {one.by}")
        _print(one)


def _dataset(client: Client, id: str) -> str:
    return client.application(id).dataset_id if id.startswith("app_") else id


def _condition(text: str) -> tuple[str, str]:
    refused = InvalidInput(
        f"{text!r} is not a condition.", where="--where", remedy="Say COL=VALUE."
    )
    return name_and_value(text, refused)


def _print(found: Erasure) -> None:
    print_table(["version", "id", "rows", "of which"], map(_version_row, found.versions))
    print_pairs(
        [
            ("kept requests", found.production_rows),
            ("said of them", found.told),
            ("questions", found.questions),
            ("answers", found.answers),
            ("analyses", found.analyses),
            ("predicted files", found.predicted_files),
            ("logs", found.logs),
        ]
    )
    print_table(["model", "name", "its files"], map(_model_row, found.models))
    if not found.plan_only:
        say(f"Stored bytes are gone by {moment(found.bytes_gone_by)}.")
    say(*found.elsewhere)
    if found.remains:
        say("A search of the database afterwards found values of these rows here:")
        print_table(["place", "rows", "why"], map(_remaining_row, found.remains))


def _remaining_row(one: Remaining) -> tuple[object, ...]:
    return one.place, one.rows, one.why


def _version_row(version: ErasedVersion) -> tuple[object, ...]:
    return version.number, version.version_id, version.rows, counted(version.roles)


def _model_row(model: ErasedModel) -> tuple[str, ...]:
    files = "until another serves" if model.serves else "erased"
    return model.model_id, model.name, files

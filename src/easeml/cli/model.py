"""``model``: take a trained model elsewhere."""

import tarfile
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from easeml.cli.options import Json
from easeml.cli.output import print_json, say
from easeml.client import Client
from easeml.errors import Conflict

app = typer.Typer(no_args_is_help=True, help="Trained models: take one elsewhere.")


class ExportFormat(StrEnum):
    """What an exported model is loaded with."""

    PYTHON = "python"
    MLFLOW = "mlflow"
    OCI = "oci"


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="model")


@app.callback()
def group() -> None:
    """Keep ``model`` a group although it has one command."""


@app.command()
def export(
    name: Annotated[
        str,
        typer.Argument(
            metavar="APP_OR_MODEL", help="Id of an application, for its live model; or of a model."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The new folder, or the image's new tar file.")],
    form: Annotated[
        ExportFormat, typer.Option("--format", help="What it is loaded with.")
    ] = ExportFormat.PYTHON,
    as_json: Json = False,
) -> None:
    """Write a model so that it predicts as its endpoint does, without a service.

    The folder holds the code that it needs, pinned requirements, export.json and a model card. An
    image (oci) holds such a folder, its packages and Python; docker, podman and others load it.
    """
    from easeml.export import ModelFacts, write_export

    with TemporaryDirectory(prefix="easeml-export-") as folder:
        files = Path(folder)
        with Client() as client:
            client.download_model(_model_id(client, name), files / "model.tar")
        with tarfile.open(files / "model.tar") as tar:
            tar.extractall(files, filter="data")
        facts = ModelFacts.from_json((files / "facts.json").read_text())
        told = write_export(files / "model", facts, form, out)
    if as_json:
        print_json(told)
        return
    say(f"{facts.model} ({facts.model_id}) is in {out}; {_usage(form, out)}.")


def _model_id(client: Client, name: str) -> str:
    """Return the id of a model, or that of an application's live model. Raises ``Conflict``."""
    if not name.startswith("app"):
        return name
    live = client.application(name).live
    if live is None:
        remedy = "Wait until the search has trained one: easeml app wait."
        raise Conflict("No model is live yet.", where=name, remedy=remedy)
    return live.model_id


def _usage(form: ExportFormat, out: Path) -> str:
    if form == ExportFormat.OCI:
        return f"for example: docker load -i {out}; it serves at port 8080"
    if form == ExportFormat.MLFLOW:
        return f"in Python: mlflow.pyfunc.load_model('{out}')"
    return "in Python, from that folder: from load import model"

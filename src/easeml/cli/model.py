"""``model``: take a trained model elsewhere, or bring one."""

import tarfile
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli import retention
from easeml.cli.named_applications import application_or
from easeml.cli.options import ApplicationId, Json
from easeml.cli.output import print_done, say
from easeml.client import Client
from easeml.errors import Conflict, Damaged
from easeml.folders import unpack

if TYPE_CHECKING:
    import pandas as pd

    from easeml.export import Evidence

app = typer.Typer(
    no_args_is_help=True, help="Trained models: take one elsewhere, bring one, or keep it."
)
app.command("keep")(retention.keep)


class ExportFormat(StrEnum):
    """What an exported model is loaded with."""

    PYTHON = "python"
    MLFLOW = "mlflow"
    ONNX = "onnx"
    OCI = "oci"


def register(root: typer.Typer) -> None:
    """Add the commands of this module to the root."""
    root.add_typer(app, name="model")


@app.command()
def export(
    name: Annotated[
        str,
        typer.Argument(
            metavar="APP_OR_MODEL",
            help="Id or name of an application, for its live model; or id of a model.",
            callback=application_or("mod"),
        ),
    ],
    out: Annotated[Path, typer.Option(help="The new folder, or the image's new tar file.")],
    form: Annotated[
        ExportFormat, typer.Option("--format", help="What it is loaded with.")
    ] = ExportFormat.PYTHON,
    smaller: Annotated[
        bool,
        typer.Option(
            "--compress",
            help="Make it at least 62 % smaller within one point of quality, or refuse.",
        ),
    ] = False,
    is_pack: Annotated[
        bool,
        typer.Option("--modelpack", help="Write a tar file for registries (CNCF ModelPack)."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a model so that it predicts as its endpoint does, without a service.

    The folder holds the code that it needs, pinned requirements, export.json and a model card, and
    is signed: see `easeml model verify`. An
    image (oci) holds such a folder, its packages and Python; docker, podman and others load it. An
    ONNX graph holds the whole pipeline of numbers and categories; it is compared on all test rows,
    and refused where one is predicted otherwise. What --compress costs is measured on validation
    rows, and said.
    """
    from easeml.export import ModelFacts, write_export

    is_translated = form == ExportFormat.ONNX
    with TemporaryDirectory(prefix="easeml-export-") as folder:
        files = Path(folder)
        with Client() as client:
            model_id = _model_id(client, name)
            client.download_model(
                model_id, files / "model.tar", test_rows=is_translated, evidence=smaller
            )
        with tarfile.open(files / "model.tar") as tar:
            unpack(tar, files)
        facts = ModelFacts.from_json((files / "facts.json").read_text())
        rows = _test_rows(files / "test-rows.parquet") if is_translated else None
        evidence = _evidence(files) if smaller else None
        told = write_export(
            files / "model",
            facts,
            form,
            out,
            rows,
            evidence,
            sign=partial(_signature, model_id),
            is_pack=is_pack,
        )
    usage = _FOR_REGISTRIES if is_pack else _usage(form, out)
    sentence = f"{facts.model} ({facts.model_id}) is in {out}; {usage}."
    if smaller:
        sentence += f"\n{_cost(told['compressed'])}"
    print_done(told, sentence, as_json=as_json)


@app.command("import")
def bring(
    application_id: ApplicationId,
    file: Annotated[
        Path,
        typer.Argument(
            help="An ONNX graph, a skops file or a pickle, or an MLflow folder, also as a zip file."
        ),
    ],
    name: Annotated[str, typer.Option(help="Name of the model; by default that of the file.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait for its quality.")] = 600.0,
    as_json: Json = False,
) -> None:
    """Make a model that was trained elsewhere a candidate of an application.

    A graph or pipeline takes the columns of the application by their names, and gives what the
    target is: numbers, or the classes of the data with probabilities. It is measured on the
    validation rows as the models of the search are, and serves where it is better.
    """
    with Client() as client:
        task = client.import_model(application_id, file, name=name)
        task = client.wait_task(task.id, timeout=timeout)
    told = f"{file.name} is a model of {application_id} now: easeml app models {application_id}."
    print_done(task, told, as_json=as_json)


@app.command("signing-key")
def signing_key(
    out: Annotated[Path | None, typer.Option(help="Write it into this file.")] = None,
) -> None:
    """Print the public key of this easeml, by which `easeml model verify` knows its exports."""
    with Client() as client:
        pem = client.signing_key().pem
    if out is None:
        say(pem.rstrip())
        return
    out.write_text(pem)
    say(f"The key is in {out}.")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="An exported folder.")],
    key: Annotated[
        Path | None, typer.Option(help="A file with the public key; without it, the service's.")
    ] = None,
) -> None:
    """Tell whether an exported folder is as the easeml signed it that has the model. Exit code 1: no."""
    from easeml.export import check_signed

    if key is None:
        with Client() as client:
            pem = client.signing_key().pem
    else:
        pem = key.read_text()
    try:
        facts = check_signed(folder, pem)
    except Damaged as error:
        say(f"No: {error}")
        raise typer.Exit(1) from error
    told = "not read" if facts.test_quality is None else f"{facts.test_quality['value']:.4f}"
    say(
        f"Yes: {facts.model} ({facts.model_id}) of {facts.application}, of version {facts.version} "
        f"of the data {facts.dataset_id}; {facts.objective} on test rows: {told}."
    )


def _model_id(client: Client, name: str) -> str:
    """Return the id of a model, or that of an application's live model. Raises ``Conflict``."""
    if not name.startswith("app"):
        return name
    live = client.application(name).live
    if live is None:
        remedy = "Wait until the search has trained one: easeml app wait."
        raise Conflict("No model is live yet.", where=name, remedy=remedy)
    return live.model_id


def _signature(model_id: str, manifest: str) -> Mapping[str, Any]:
    with Client() as client:
        return client.sign_export(model_id, manifest=manifest).bundle


def _test_rows(path: Path) -> "pd.DataFrame":
    import pandas as pd

    return pd.read_parquet(path)


def _evidence(files: Path) -> "Evidence":
    from easeml.data import read_version
    from easeml.export import Evidence

    return Evidence(files / "first-fit", read_version(files / "evidence"))


def _cost(told: Mapping[str, Any]) -> str:
    """Return what was saved by making a model smaller, and what was lost."""
    from easeml.export import said_otherwise

    size, quality = told["bytes"], told["quality"]
    return (
        f"It is {told['saving']:.0%} smaller ({told['how']}): {size['after']:,} bytes instead of "
        f"{size['before']:,}, and {told['packed_saving']:.0%} smaller where both are packed. "
        f"Quality on {told['validation_rows']:,} validation rows: {quality['after']:.4f} instead of "
        f"{quality['before']:.4f}. {said_otherwise(told)}."
    )


def _usage(form: ExportFormat, out: Path) -> str:
    return _USAGE[form].format(out=out, graph=out / "model.onnx")


_FOR_REGISTRIES = "an OCI layout for registries, which oras and others push"
_USAGE = {
    ExportFormat.PYTHON: "in Python, from that folder: from load import model",
    ExportFormat.MLFLOW: "in Python: mlflow.pyfunc.load_model('{out}')",
    ExportFormat.ONNX: "in Python: onnxruntime.InferenceSession('{graph}')",
    ExportFormat.OCI: "for example: docker load -i {out}; it serves at port 8080",
}

"""The facts that a lifecycle tool needs, from files."""

import mimetypes
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli.local_tables import read_labelled
from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Tool

File = Annotated[Path, typer.Argument(help="Table file, such as CSV or Parquet.")]
Target = Annotated[str, typer.Option(help="Column to predict.")]
Model = Annotated[
    Path, typer.Option(help="Folder of the trained model in question, with its manifest.")
]
Objective = Annotated[
    str | None, typer.Option(help="What is good; what the model was chosen by where left out.")
]
_PRETRAINED = "Pre-trained model for a table with one column of text: a Hugging Face folder."
Embedding = Annotated[list[Path] | None, typer.Option(help=f"{_PRETRAINED} Repeatable.")]


def sources(tool: Tool) -> list[Parameter]:
    """Return the parameters of a command that say where the facts of its tool are read from."""
    found = [_required("file", File)]
    if tool.asks_about_a_model:
        found += [_required("model", Model), _optional("objective", Objective)]
    else:
        found.append(_required("target", Target))
    if "representations" in tool.may:
        found.append(_optional("embedding", Embedding))
    return found


def read_facts(
    tool: Tool, given: dict[str, Any], progress: Callable[[float], None]
) -> tuple[dict[Fact, Any], list[str]]:
    """Return the facts that a tool needs, and what was unusual about the files.

    ``given``: by the names of ``sources``. Raises ``EasemlError`` for files that do not fit.
    """
    if tool.asks_about_a_model:
        facts, said = _of_model(given["file"], given["model"], given["objective"])
    else:
        facts, said = _of_table(given["file"], given["target"])
    if given.get("embedding"):
        from easeml.lifecycle.feasibility import pretrained

        facts["representations"] = [pretrained(path) for path in given["embedding"]]
    facts["progress"] = progress
    return facts, said


def _of_table(file: Path, target: str) -> tuple[dict[Fact, Any], list[str]]:
    table = read_labelled(file, target)
    return {"inputs": table.inputs, "answers": table.target}, table.notes


def _of_model(file: Path, folder: Path, objective: str | None) -> tuple[dict[Fact, Any], list[str]]:
    """Read rows as the model's schemas say, so that they mean to it what they meant in training."""
    from easeml.data import parse_rows
    from easeml.modules import score
    from easeml.modules.pipeline import load_trained
    from easeml.schema import Schema

    trained = load_trained(folder)
    kind = "text/csv" if file.suffix == ".csv" else mimetypes.guess_type(file)[0]
    schemas = (Schema.from_json(one) for one in (trained.schema_in, trained.schema_out))
    rows = parse_rows(_bytes_of(file), kind or "text/csv", *schemas)
    if rows.labels is None:
        remedy = "The tool compares predictions with answers: give rows that have both."
        raise InvalidInput("Not every row has an answer.", where=str(file), remedy=remedy)
    name = objective or trained.manifest.get("objective")
    if not name:
        raise InvalidInput("The model does not say what is good.", remedy="Name an --objective.")
    facts: dict[Fact, Any] = {
        "inputs": rows.frame,
        "answers": rows.labels,
        "predict": trained.predict,
        "quality": partial(score, name),
    }
    return facts, rows.notes


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}.", where=str(file)) from error


def _required(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind)


def _optional(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=None)

"""The facts that a lifecycle tool needs, from files."""

import mimetypes
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.local_tables import read_labelled
from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Tool

if TYPE_CHECKING:
    from easeml.lifecycle.held_out import Predicted

File = Annotated[Path, typer.Argument(help="Table file, such as CSV or Parquet.")]
Target = Annotated[str, typer.Option(help="Column to predict.")]
Model = Annotated[
    Path, typer.Option(help="Folder of the trained model in question, with its manifest.")
]
Objective = Annotated[
    str | None, typer.Option(help="What is good; what the model was chosen by where left out.")
]
_PRETRAINED = "Pre-trained model for a table with one column of text: a Hugging Face folder."
Newer = Annotated[
    Path, typer.Option(help="Table file of rows that came later; answers among them are used.")
]
Later = Annotated[
    Path | None,
    typer.Option(help="Table file of rows that came later, with what was true of them."),
]
Train = Annotated[
    Path | None, typer.Option(help="Table file of the rows that the model learned from.")
]
Test = Annotated[Path, typer.Option(help="Table file of test rows, which chose no model.")]
Candidate = Annotated[Path, typer.Option(help="Folder of the model that may replace it.")]
Candidates = Annotated[
    list[Path], typer.Option("--candidate", help="Folder of a trained model; repeat for each.")
]
State = Annotated[
    Path | None, typer.Option(help="File that keeps what it goes on from; made if not there.")
]
Embedding = Annotated[list[Path] | None, typer.Option(help=f"{_PRETRAINED} Repeatable.")]


def sources(tool: Tool) -> list[Parameter]:
    """Return the parameters of a command that say where the facts of its tool are read from."""
    found = [_required("file", File)]
    if tool.models:
        found += _sources_of_models(tool)
    elif tool.asks_about_a_model:
        found += [_required("model", Model), _optional("objective", Objective)]
    else:
        found.append(_required("target", Target))
    if "representations" in tool.may:
        found.append(_optional("embedding", Embedding))
    if tool.keeps_state:
        found.append(_optional("state", State))
    return found


def _sources_of_models(tool: Tool) -> list[Parameter]:
    """The first file is what the tool needs first: rows of its own, test rows or newer ones."""
    if tool.models == "all":
        found = [_required("candidate", Candidates)]
    else:
        found = [_required("model", Model)]
    if tool.models == "pair":
        found.append(_required("candidate", Candidate))
    if "quality" in tool.needs:
        found.append(_optional("objective", Objective))
    for name, kind in (("newer", Newer), ("test", Test)):
        if name in tool.needs and tool.needs[0] != name:
            found.append(_required(name, kind))
    for name, kind in (("newer", Later), ("train", Train)):
        if name in tool.may:
            found.append(_optional(name, kind))
    return found


def read_facts(
    tool: Tool, given: dict[str, Any], progress: Callable[[float], None]
) -> tuple[dict[Fact, Any], list[str]]:
    """Return the facts that a tool needs, and what was unusual about the files.

    ``given``: by the names of ``sources``. Raises ``EasemlError`` for files that do not fit.
    """
    if tool.models:
        facts, said = _of_models(tool, given)
    elif tool.asks_about_a_model:
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
    from easeml.modules.ensemble import load_model
    from easeml.schema import Schema

    trained = load_model(folder)
    kind = "text/csv" if file.suffix == ".csv" else mimetypes.guess_type(file)[0]
    schemas = (Schema.from_json(one) for one in (trained.schema_in, trained.schema_out))
    rows = parse_rows(_bytes_of(file), kind or "text/csv", *schemas)
    if rows.labels is None:
        remedy = "The tool compares predictions with answers: give rows that have both."
        raise InvalidInput("Not every row has an answer.", where=str(file), remedy=remedy)
    facts: dict[Fact, Any] = {
        "inputs": rows.frame,
        "answers": rows.labels,
        "predict": trained.predict,
        "quality": _quality(objective, trained),
    }
    return facts, rows.notes


def _quality(objective: str | None, trained: Any) -> Callable[[Any, Any], float]:
    """Return what measures predictions: by ``objective``, or by what the model was chosen by."""
    from easeml.modules import score

    name = objective or trained.manifest.get("objective")
    if not name:
        raise InvalidInput("The model does not say what is good.", remedy="Name an --objective.")
    return partial(score, name)


def _of_models(tool: Tool, given: dict[str, Any]) -> tuple[dict[Fact, Any], list[str]]:
    """Read rows as the first model's schemas say, and have all models predict them."""
    from easeml.modules.ensemble import load_model

    models = {name: load_model(folder) for name, folder in _folders(tool, given).items()}
    notes: list[str] = []
    facts: dict[Fact, Any] = {}
    if tool.needs[0] == "inputs":
        rows = _predicted(given["file"], models, notes)
        _refuse_unlabelled(rows, given["file"])
        facts["inputs"], facts["answers"] = rows.inputs, rows.answers
        if "predictions" in tool.needs:
            facts["predictions"] = rows.by["model"]
    if "rivals" in tool.needs:
        facts["rivals"] = {name: model.predict for name, model in models.items()}
    if "quality" in tool.needs:
        facts["quality"] = _quality(given["objective"], next(iter(models.values())))
    facts |= _that_may_help(tool, given, models, notes)
    for name in ("newer", "test"):
        if name not in tool.needs:
            continue
        file = given["file"] if tool.needs[0] == name else given[name]
        rows = _predicted(file, models, notes)
        if name == "test":
            _refuse_unlabelled(rows, file)
        facts[name] = rows
    if "elsewhere" in tool.needs:
        facts["elsewhere"] = 0.0
    return facts, notes


def _that_may_help(
    tool: Tool, given: dict[str, Any], models: dict[str, Any], notes: list[str]
) -> dict[Fact, Any]:
    """Return what a tool may use of a model, and of the files that were named."""
    facts: dict[Fact, Any] = {}
    if "predict" in tool.may:
        facts["predict"] = models["model"].predict
    if given.get("newer") is not None and "newer" in tool.may:
        facts["newer"] = _predicted(given["newer"], models, notes)
    if given.get("train") is not None:  # nothing is predicted for rows that a model learned from
        facts["train"] = _predicted(given["train"], {}, notes, models)
    return facts


def _folders(tool: Tool, given: dict[str, Any]) -> dict[str, Path]:
    if tool.models == "all":
        return {str(folder): folder for folder in given["candidate"]}
    if tool.models == "pair":
        return {"old": given["model"], "new": given["candidate"]}
    return {"model": given["model"]}


def _predicted(
    file: Path,
    models: dict[str, Any],
    notes: list[str],
    readers: dict[str, Any] | None = None,
) -> "Predicted":
    """Return the rows of a file, as the first of the models (or ``readers``) reads them."""
    import pandas as pd

    from easeml.data import read_newer, read_table
    from easeml.lifecycle.held_out import Predicted, Unseen
    from easeml.schema import Schema

    first = next(iter((readers or models).values()))
    schemas = (Schema.from_json(one) for one in (first.schema_in, first.schema_out))
    rows = read_newer(read_table(file), *schemas)
    notes.extend(rows.notes)
    answers = rows.answers
    if answers is None:
        answers = pd.Series([None] * len(rows.inputs), dtype=object)
    by = {}
    for name, model in models.items():
        said = model.predict(rows.inputs)
        by[name] = Unseen(said.values, said.probabilities, said.classes)
    return Predicted(rows.inputs, answers, by)


def _refuse_unlabelled(rows: "Predicted", file: Path) -> None:
    if not rows.known.all():
        remedy = "The tool compares predictions with answers: give rows that have both."
        raise InvalidInput("Not every row has an answer.", where=str(file), remedy=remedy)


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}.", where=str(file)) from error


def _required(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind)


def _optional(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=None)

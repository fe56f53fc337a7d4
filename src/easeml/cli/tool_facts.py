"""The facts that a lifecycle tool needs, from files."""

import mimetypes
from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from easeml.cli.local_tables import read_labelled
from easeml.cli.named_files import reading
from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Fact, Tool

if TYPE_CHECKING:
    from easeml.lifecycle.held_out import LateRows, Predicted
    from easeml.schema import Schema

File = Annotated[Path, typer.Argument(help="Table file, such as CSV or Parquet.")]
Target = Annotated[str, typer.Option(help="Column to predict.")]
Model = Annotated[
    Path, typer.Option(help="Folder of the trained model in question, with its manifest.")
]
Objective = Annotated[
    str | None, typer.Option(help="Objective; the one that the model was chosen by if left out.")
]
_PRETRAINED = "Pre-trained model for a table with one column of text: a Hugging Face folder."
Newer = Annotated[
    Path, typer.Option(help="Table file of rows that came later; answers among them are used.")
]
Later = Annotated[
    Path | None,
    typer.Option(help="Table file of rows that came later, with what was true of them."),
]
Late = Annotated[
    Path | None,
    typer.Option(help="Table file of rows that were newer before, and whose answers came since."),
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
    Path | None,
    typer.Option(help="File that keeps the state between runs; made if it does not exist."),
]
Embedding = Annotated[list[Path] | None, typer.Option(help=f"{_PRETRAINED} Repeatable.")]


def sources(tool: Tool) -> list[Parameter]:
    """Return the parameters of a command that say where the facts of its tool are read from."""
    found = [_required("file", File), *_sources_of_what_is_asked(tool)]
    if "representations" in tool.may:
        found.append(_optional("embedding", Embedding))
    if tool.keeps_state:
        found.append(_optional("state", State))
    return found


def _sources_of_what_is_asked(tool: Tool) -> list[Parameter]:
    if tool.models:
        return _sources_of_models(tool)
    if tool.asks_about_a_model:
        return [_required("model", Model), _optional("objective", Objective)]
    return [_required("target", Target)]


def _sources_of_models(tool: Tool) -> list[Parameter]:
    """The first file is what the tool needs first: rows of its own, test rows or newer ones."""
    found = list(_FOLDERS[tool.models])
    if "quality" in tool.needs:
        found.append(_optional("objective", Objective))
    further = {"newer": _required("newer", Newer), "test": _required("test", Test)}
    helpful = {
        "newer": _optional("newer", Later),
        "late": _optional("late", Late),
        "train": _optional("train", Train),
    }
    return [*found, *_of_names(further, tool.needs[1:]), *_of_names(helpful, tool.may)]


def _of_names(parameters: dict[str, Parameter], names: Sequence[str]) -> list[Parameter]:
    """Return those of the parameters that are named, in their own order."""
    return [parameter for name, parameter in parameters.items() if name in names]


def read_facts(
    tool: Tool, given: dict[str, Any], progress: Callable[[float], None]
) -> tuple[dict[Fact, Any], list[str]]:
    """Return the facts that a tool needs, and what was unusual about the files.

    ``given``: by the names of ``sources``. Raises ``EasemlError`` for files that do not fit.
    """
    facts, said = _facts_of_what_is_asked(tool, given)
    if given.get("embedding"):
        from easeml.lifecycle.feasibility import pretrained

        facts["representations"] = list(map(pretrained, given["embedding"]))
    facts["progress"] = progress
    return facts, said


def _facts_of_what_is_asked(tool: Tool, given: dict[str, Any]) -> tuple[dict[Fact, Any], list[str]]:
    if tool.models:
        return _of_models(tool, given)
    if tool.asks_about_a_model:
        return _of_model(given["file"], given["model"], given["objective"])
    return _of_table(given["file"], given["target"])


def _of_table(file: Path, target: str) -> tuple[dict[Fact, Any], list[str]]:
    table = read_labelled(file, target)
    return {"inputs": table.inputs, "answers": table.target}, table.notes


def _of_model(file: Path, folder: Path, objective: str | None) -> tuple[dict[Fact, Any], list[str]]:
    """Read rows as the model's schemas say, so that they mean to it what they meant in training."""
    from easeml.data import parse_rows
    from easeml.modules.ensemble import load_model

    trained = load_model(folder)
    kind = "text/csv" if file.suffix == ".csv" else mimetypes.guess_type(file)[0]
    rows = parse_rows(bytes_of(file), kind or "text/csv", *_schemas_of(trained))
    if rows.labels is None:
        raise _unlabelled(file)
    facts: dict[Fact, Any] = {
        "inputs": rows.frame,
        "answers": rows.labels,
        "predict": trained.predict,
        "quality": _quality(objective, trained),
    }
    return facts, rows.notes


def _schemas_of(model: Any) -> "tuple[Schema, Schema]":
    from easeml.schema import Schema

    return Schema.from_json(model.schema_in), Schema.from_json(model.schema_out)


def _quality(objective: str | None, trained: Any) -> Callable[[Any, Any], float]:
    """Return what measures predictions: by ``objective``, or by what the model was chosen by."""
    from easeml.modules import score

    return partial(score, _objective(objective, trained))


def _objective(named: str | None, trained: Any) -> str:
    """Return the objective that was ``named``, or what the model was chosen by."""
    name = named or trained.manifest.get("objective")
    if not name:
        raise InvalidInput("The model does not say what is good.", remedy="Name an --objective.")
    return name


def _of_models(tool: Tool, given: dict[str, Any]) -> tuple[dict[Fact, Any], list[str]]:
    """Read rows as the first model's schemas say, and have all models predict them."""
    from easeml.modules.ensemble import load_model

    folders = _folders(tool, given)
    models = {name: load_model(folder) for name, folder in folders.items()}
    notes: list[str] = []
    facts = _of_own_rows(tool, given, models, notes)
    facts |= _without_rows(tool, given, models)
    facts |= _that_may_help(tool, given, models, notes)
    facts |= _of_held_out_rows(tool, given, models, notes)
    return facts, notes


def _of_own_rows(
    tool: Tool, given: dict[str, Any], models: dict[str, Any], notes: list[str]
) -> dict[Fact, Any]:
    """Return what a tool needs of the rows that its first file has; nothing if it needs none."""
    if tool.needs[0] != "inputs":
        return {}
    rows = _predicted(given["file"], models, notes)
    _refuse_unlabelled(rows, given["file"])
    facts: dict[Fact, Any] = {"inputs": rows.inputs, "answers": rows.answers}
    if "predictions" in tool.needs:
        facts["predictions"] = rows.by["model"]
    return facts


def _without_rows(tool: Tool, given: dict[str, Any], models: dict[str, Any]) -> dict[Fact, Any]:
    """Return what a tool needs of the models themselves."""
    from easeml.modules import interval

    first = next(iter(models.values()))
    makers: dict[Fact, Callable[[], Any]] = {
        "rivals": lambda: {name: model.predict for name, model in models.items()},
        "quality": lambda: _quality(given["objective"], first),
        "interval": lambda: partial(interval, _objective(given["objective"], first)),
        "elsewhere": float,
    }
    return {name: make() for name, make in makers.items() if name in tool.needs}


def _of_held_out_rows(
    tool: Tool, given: dict[str, Any], models: dict[str, Any], notes: list[str]
) -> dict[Fact, Any]:
    """Return the newer rows and the test rows that a tool needs; test rows must have answers."""
    files = {**given, tool.needs[0]: given["file"]}  # which has what the tool needs first
    facts: dict[Fact, Any] = {}
    if "newer" in tool.needs:
        facts["newer"] = _predicted(files["newer"], models, notes)
    if "test" in tool.needs:
        facts["test"] = _predicted(files["test"], models, notes)
        _refuse_unlabelled(facts["test"], files["test"])
    return facts


def _that_may_help(
    tool: Tool, given: dict[str, Any], models: dict[str, Any], notes: list[str]
) -> dict[Fact, Any]:
    """Return what a tool may use of a model, and of the files that were named."""
    facts: dict[Fact, Any] = {}
    if "predict" in tool.may:
        facts["predict"] = models["model"].predict
    if given.get("newer") is not None and "newer" in tool.may:
        facts["newer"] = _predicted(given["newer"], models, notes)
    if given.get("late") is not None:
        facts["late"] = _late(given["late"], models, notes)
    if given.get("train") is not None:  # nothing is predicted for rows that a model learned from
        facts["train"] = _predicted(given["train"], {}, notes, models)
    return facts


def _late(file: Path, models: dict[str, Any], notes: list[str]) -> "LateRows":
    from easeml.lifecycle.held_out import LateRows

    rows = _predicted(file, models, notes)
    _refuse_unlabelled(rows, file)
    return LateRows(rows)


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

    first = next(iter((readers or models).values()))
    rows = read_newer(read_table(file), *_schemas_of(first))
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
        raise _unlabelled(file)


def _unlabelled(file: Path) -> InvalidInput:
    remedy = "The tool compares predictions with answers: give rows that have both."
    return InvalidInput("Not every row has an answer.", where=str(file), remedy=remedy)


def bytes_of(file: Path) -> bytes:
    """Return what a file holds. Raises ``InvalidInput``."""
    with reading(file, "cannot be read"):
        return file.read_bytes()


def _required(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind)


def _optional(name: str, kind: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=None)


_FOLDERS = {  # of the models that a tool asks about
    "one": [_required("model", Model)],
    "all": [_required("candidate", Candidates)],
    "pair": [_required("model", Model), _required("candidate", Candidate)],
}

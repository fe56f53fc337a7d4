"""The file form of a graph: TOML, one section a step, which people read, change and compare.

    [steps.wines]
    do = "read"
    file = "wines.csv"
    target = "quality"

    [steps.strong]
    do = "filter"
    of = "wines"
    condition = "alcohol > 12"
    expect = "rows > 100"

``operators`` at the top lists Python files with operators of one's own. A parameter
``{ file = "ratio.sql" }`` has the text of a file.
"""

from __future__ import annotations

import datetime
import json
import re
import tomllib
from collections.abc import Mapping
from functools import singledispatch
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lineage.nodes import SOURCE, Node, ordered
from easeml.lineage.steps import READ, FileContent, Flow, Step, input_names, step_names

OWN = ("do", "of", "expect", "content", "about", "context", "tags")
"""What a section says beside parameters."""

_BARE = re.compile("[-_]*[A-Za-z0-9][-_A-Za-z0-9]*")  # a name that needs no quotes
_KNOWN = {"operators", "steps", "application", "version"}  # what a file may say at its top


def load_flow(path: str | Path) -> Flow:
    """Read a file of steps, and run the Python files of operators that it names.

    Raises:
        InvalidInput: naming the place, where it is no such file.
    """
    path = Path(path)
    document = document_of(path)
    wrong = _what_is_wrong(document)
    if wrong:
        raise InvalidInput(
            wrong,
            where=str(path),
            remedy="Write sections [steps.NAME], and operators = [FILES] above them.",
        )
    for name in document.get("operators", []):
        run_operators(path.parent / name)
    steps = {}
    for name, section in document["steps"].items():
        steps[name] = _step(name, section, path)
    application = str(document.get("application", ""))
    version = str(document.get("version", ""))
    return Flow(path.parent, steps, application, version)


def _what_is_wrong(document: Mapping[str, Any]) -> str:
    """Return why a TOML document is no flow, in a sentence; empty where it is one."""
    strange = sorted(document.keys() - _KNOWN)
    if strange:
        return f"{strange[0]!r} has no meaning here."
    sections = document.get("steps")
    if not isinstance(sections, dict) or not sections:
        return "There are no steps."
    return ""


def save_flow(root: Node, path: str | Path) -> None:
    """Write a graph to a file. Relations that it begins with become Parquet files beside it.

    Raises:
        InvalidInput: where a parameter is a Python object, which no file holds.
    """
    path = Path(path)
    names = step_names(root)
    sections = []
    for node in ordered(root):
        name = names[id(node)]
        sections.append(section_text(name, _said(node, names, path)))
    path.write_text("\n".join(sections), "utf-8")


def section_text(name: str, said: Mapping[str, Any]) -> str:
    """Return the section of a step that says something. Raises InvalidInput as ``toml`` does."""
    lines = [f"[steps.{key_text(name)}]"]
    for key, value in said.items():
        lines.append(f"{key_text(key)} = {toml(value, f'{name}, {key}')}")
    return "\n".join(lines) + "\n"


def _said(node: Node, names: Mapping[int, str], path: Path) -> dict[str, Any]:
    """Return what the section of a node says; the relation of a source is written beside it."""
    if node.operator is SOURCE:
        beside = path.with_name(f"{path.stem}.{names[id(node)]}.parquet")
        node.parameters["content"].relation.save(beside)
        return {"do": READ, "file": beside.name}

    said: dict[str, Any] = {"do": node.operator.name}
    inputs = input_names(node, names)
    if inputs:
        said["of"] = inputs[0] if len(inputs) == 1 else inputs
    for key, value in node.parameters.items():
        if isinstance(value, FileContent):
            said["file"] = str(value.path)
        elif value is not None:
            said[key] = value
    return said


def document_of(path: Path) -> dict[str, Any]:
    """Return what a file of steps says, as it is written. Raises InvalidInput."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}.", where=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"is not a TOML file: {error}.", where=str(path)) from error


def run_operators(path: Path) -> None:
    """Run a Python file, whose decorated functions become operators. Raises InvalidInput."""
    spec = spec_from_file_location(f"easeml_operators_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidInput("is not a Python file.", where=str(path), remedy="Name a file *.py.")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InvalidInput(
            f"cannot be run: {type(error).__name__}: {error}.", where=str(path)
        ) from error


def _step(name: str, section: Any, path: Path) -> Step:
    where = f"{path}, step {name!r}"
    do = section.get("do") if isinstance(section, dict) else None
    if not isinstance(do, str):
        raise InvalidInput("does nothing.", where=where, remedy='Write do = "filter" or another.')
    inputs = section.get("of", [])
    if isinstance(inputs, str):
        inputs = [inputs]
    parameters = {}
    for key, value in parameters_in(section).items():
        parameters[key] = _with_text(value, path)
    return Step(
        name=name,
        do=do,
        of=tuple(inputs),
        parameters=parameters,
        expect=section.get("expect", ""),
        content=section.get("content", ""),
        about=section.get("about", ""),
        context=section.get("context", ""),
        tags=tuple(section.get("tags", ())),
    )


def parameters_in(section: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a section says but for what every section may say."""
    return {key: value for key, value in section.items() if key not in OWN}


def _with_text(value: Any, path: Path) -> Any:
    """Return a parameter; of ``{file = NAME}`` the text of the file."""
    if not is_file(value):
        return value
    named = path.parent / value["file"]
    try:
        return named.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read: {error}.", where=str(named)) from error


def is_file(value: Any) -> bool:
    """Tell whether a parameter is the text of a file, as ``{file = NAME}``."""
    if not isinstance(value, dict):
        return False
    return value.keys() == {"file"}


@singledispatch
def toml(value: Any, where: str) -> str:
    """Return a plain value as TOML. Raises InvalidInput for a Python object, naming the place."""
    raise InvalidInput(
        f"A value of type {type(value).__name__} cannot be written to a file.",
        where=where,
        remedy="Use text, numbers, lists and tables of these; conditions as text.",
    )


@toml.register
def _toml_truth(value: bool, where: str) -> str:
    return str(value).lower()


@toml.register
def _toml_number(value: int | float, where: str) -> str:
    return repr(value)


@toml.register
def _toml_numpy(value: np.generic, where: str) -> str:
    return toml(value.item(), where)


@toml.register
def _toml_text(value: str, where: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@toml.register
def _toml_time(value: datetime.date | datetime.time, where: str) -> str:
    return value.isoformat()


@toml.register
def _toml_list(value: list | tuple, where: str) -> str:
    items = [toml(each, where) for each in value]
    return f"[{', '.join(items)}]"


@toml.register
def _toml_table(value: Mapping, where: str) -> str:
    pairs = [f"{key_text(str(key))} = {toml(each, where)}" for key, each in value.items()]
    return f"{{ {', '.join(pairs)} }}"


def key_text(name: str) -> str:
    """Return a name as TOML has it before '='."""
    if _BARE.fullmatch(name):
        return name
    return json.dumps(name, ensure_ascii=False)

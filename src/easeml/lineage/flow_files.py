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
import tomllib
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput
from easeml.lineage.nodes import SOURCE, Node, ordered
from easeml.lineage.steps import READ, FileContent, Flow, Step, step_names

OWN = ("do", "of", "expect", "content", "about", "context", "tags")
"""What a section says beside parameters."""

_ORIGIN = ("application", "version")  # what a flow was pulled from


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
    origin = {name: str(document.get(name, "")) for name in _ORIGIN}
    return Flow(path.parent, steps, **origin)


def _what_is_wrong(document: Mapping[str, Any]) -> str:
    """Return why a TOML document is no flow, in a sentence; empty where it is one."""
    strange = sorted(set(document) - {"operators", "steps", *_ORIGIN})
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
        lines = [f"[steps.{key_text(name)}]", *_lines(node, names, name, path)]
        sections.append("\n".join(lines) + "\n")
    path.write_text("\n".join(sections), "utf-8")


def document_of(path: Path) -> dict[str, Any]:
    """Return what a file of steps says, as it is written. Raises InvalidInput."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}.", where=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"is no TOML file: {error}.", where=str(path)) from error


def run_operators(path: Path) -> None:
    """Run a Python file, whose decorated functions become operators. Raises InvalidInput."""
    spec = spec_from_file_location(f"easeml_operators_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InvalidInput("is no Python file.", where=str(path), remedy="Name a file *.py.")
    try:
        spec.loader.exec_module(module_from_spec(spec))
    except Exception as error:
        raise InvalidInput(
            f"cannot be run: {type(error).__name__}: {error}.", where=str(path)
        ) from error


def _step(name: str, section: Any, path: Path) -> Step:
    where = f"{path}, step {name!r}"
    if not isinstance(section, dict) or not isinstance(section.get("do"), str):
        raise InvalidInput("does nothing.", where=where, remedy='Write do = "filter" or another.')
    inputs = section.get("of", [])
    if isinstance(inputs, str):
        inputs = [inputs]
    parameters = {}
    for key, value in section.items():
        if key not in OWN:
            parameters[key] = _with_text(value, path)
    return Step(
        name=name,
        do=section["do"],
        of=tuple(inputs),
        parameters=parameters,
        expect=section.get("expect", ""),
        content=section.get("content", ""),
        about=section.get("about", ""),
        context=section.get("context", ""),
        tags=tuple(section.get("tags", ())),
    )


def _with_text(value: Any, path: Path) -> Any:
    """Return a parameter; of ``{file = NAME}`` the text of the file."""
    if not isinstance(value, dict) or set(value) != {"file"}:
        return value
    named = path.parent / value["file"]
    try:
        return named.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read: {error}.", where=str(named)) from error


def _lines(node: Node, names: Mapping[int, str], name: str, path: Path) -> list[str]:
    """Return what the section of a node says."""
    if node.operator is SOURCE:
        beside = path.with_name(f"{path.stem}.{name}.parquet")
        node.parameters["content"].relation.save(beside)
        return [f'do = "{READ}"', f"file = {toml(beside.name, name)}"]

    lines = [f"do = {toml(node.operator.name, name)}"]
    inputs = [names[id(each)] for each in node.inputs]
    if len(inputs) == 1:
        lines.append(f"of = {toml(inputs[0], name)}")
    elif inputs:
        lines.append(f"of = {toml(inputs, name)}")
    for key, value in node.parameters.items():
        if isinstance(value, FileContent):
            lines.append(f"file = {toml(str(value.path), name)}")
        elif value is not None:
            lines.append(f"{key_text(key)} = {toml(value, f'{name}, {key}')}")
    return lines


def toml(value: Any, where: str) -> str:
    """Return a plain value as TOML. Raises InvalidInput for a Python object, naming the place."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        items = [toml(each, where) for each in value]
        return f"[{', '.join(items)}]"
    if isinstance(value, Mapping):
        pairs = [f"{key_text(str(key))} = {toml(each, where)}" for key, each in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    raise InvalidInput(
        f"A value of type {type(value).__name__} cannot be written to a file.",
        where=where,
        remedy="Use text, numbers, lists and tables of these; conditions as text.",
    )


def key_text(name: str) -> str:
    """Return a name as TOML has it before '='."""
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)

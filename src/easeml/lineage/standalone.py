"""A file of steps with all that it reads, as a folder that runs elsewhere; and as a Python script."""

from __future__ import annotations

import builtins
import keyword
import re
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput
from easeml.lineage.flow_files import (
    OWN,
    document_of,
    is_file,
    load_flow,
    parameters_in,
    section_text,
    toml,
)
from easeml.lineage.steps import READ, free_name, nodes_of
from easeml.relation.files import candidates_path

_FILES = "files"
_METHODS = (
    "check_labels",
    "clean",
    "feasibility",
    "filter",
    "label_next",
    "plan_cleaning",
    "select",
    "split",
    "weak_labels",
    "with_column",
)
"""Operators whose parameters have the same names as those of the method of a relation."""


def write_standalone(path: Path, folder: Path, digests: Mapping[str, str]) -> Path:
    """Write a file of steps to a folder, and what it reads below it; return the new file.

    ``digests``: of what steps gave here (``value_digest``); a run elsewhere is compared with them.

    Raises:
        InvalidInput: where the file cannot be read, or the folder holds something.
    """
    document, files = _opened(path, folder)
    parts = []
    if "operators" in document:
        taken = list(map(files.taken, document["operators"]))
        parts.append(f"operators = {toml(taken, 'operators')}\n")
    for name, section in document["steps"].items():
        said = {key: _moved(section, key, files) for key in section}
        said.pop("content", None)  # what the step gave elsewhere, before
        if name in digests:
            said["content"] = digests[name]
        parts.append(section_text(name, said))
    written = folder / f"{path.stem}.toml"
    written.write_text("\n".join(parts), "utf-8")
    return written


def write_script(path: Path, folder: Path) -> Path:
    """Write a Python script that does what a file of steps does, and what it reads below it.

    Returns the script. Raises as ``write_standalone`` does.
    """
    document, files = _opened(path, folder)
    names = _variables(document["steps"])
    flow = load_flow(path)
    lines = []
    for name in document.get("operators", []):
        lines.append(f"easeml.lineage.run_operators(HERE / {files.taken(name)!r})")
    for name in nodes_of(flow):  # inputs before what reads them
        section = document["steps"][name]
        inputs = list(map(names.__getitem__, flow.steps[name].of))
        made = _call(section, inputs, files)
        lines += _comments(section)
        lines.append(f"{names[name]} = {made}.called({name!r})\n")
    ends = [f"{name!r}: {names[name]}" for name in flow.ends()]
    lines.append(f"ENDS = {{{', '.join(ends)}}}")
    # Not the bare name: a script called pandas.py would be what others import as pandas.
    written = folder / f"run_{path.stem}.py"
    written.write_text(_script(path.name, "\n".join(lines)), "utf-8")
    return written


def _comments(section: Mapping[str, Any]) -> list[str]:
    """Return what a section says for people, as lines of a script."""
    lines = []
    for key in ("about", "expect"):
        said = str(section.get(key, ""))
        lines += map(partial("# {}: {}".format, key), said.splitlines())
    return lines


def _script(name: str, body: str) -> str:
    """Return a script with what its body needs to be imported."""
    needed = ""
    if "datetime." in body:
        needed += "import datetime\n"
    if re.search(r"\b(inf|nan)\b", body):
        needed += "from math import inf, nan\n"
    title = ascii(name)[1:-1].replace('"', "'")
    return _BEGIN.format(name=title, imports=needed) + "\n" + body + "\n" + _END


_BEGIN = '''"""The steps of {name}. Run this file: it prints what the last ones give, with digests."""

{imports}from pathlib import Path

import easeml

HERE = Path(__file__).parent
'''

_END = """
if __name__ == "__main__":
    for name, step in ENDS.items():
        value = step.eval()
        print(f"{name}: {easeml.lineage.value_digest(value)}")
        print(value)
"""


class _Files:
    """Files that are copied to a folder, each once."""

    def __init__(self, origin: Path, folder: Path):
        self._origin = origin
        self._folder = folder
        self._names: dict[Path, str] = {}

    def taken(self, name: str) -> str:
        """Copy a file that steps name, with its candidates; return how they name it now."""
        source = (self._origin / name).resolve()
        if source not in self._names:
            self._names[source] = self._free(source.name)
            self._copy(source, self._folder / self._names[source])
        return self._names[source]

    def _free(self, name: str) -> str:
        """Return a path for a file of some name, also where upper and lower case are one."""
        taken = {each.lower() for each in self._names.values()}
        free = f"{_FILES}/{name}"
        number = 2
        while free.lower() in taken:
            free = f"{_FILES}/{number}-{name}"
            number += 1
        return free

    def _copy(self, source: Path, target: Path) -> None:
        """Copy a file, and the candidates beside it. Raises InvalidInput."""
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(source, target)
            if candidates_path(source).exists():
                shutil.copyfile(candidates_path(source), candidates_path(target))
        except OSError as error:
            raise InvalidInput(f"cannot be copied: {error.strerror}.", where=str(source)) from error


def _opened(path: Path, folder: Path) -> tuple[dict[str, Any], _Files]:
    """Return what a file of steps says, and what copies its files. Raises InvalidInput."""
    nodes_of(load_flow(path))  # what does not run here is not sent elsewhere
    _make_empty(folder)
    return document_of(path), _Files(path.parent, folder)


def _make_empty(folder: Path) -> None:
    """Make a folder, which may be there as long as it is empty. Raises InvalidInput."""
    holds_something = any(folder.iterdir()) if folder.is_dir() else folder.exists()
    if holds_something:
        raise InvalidInput(
            "is there already.", where=str(folder), remedy="Name a new or an empty folder."
        )
    folder.mkdir(parents=True, exist_ok=True)


def _moved(section: Mapping[str, Any], key: str, files: _Files) -> Any:
    """Return what a section says under a key, where files are those that were copied."""
    value = section[key]
    if (section["do"], key) == (READ, "file"):
        return files.taken(value)
    if key not in OWN and is_file(value):
        return {"file": files.taken(value["file"])}
    return value


def _call(section: Mapping[str, Any], inputs: list[str], files: _Files) -> str:
    """Return the Python expression of a step."""
    do = section["do"]
    parameters = parameters_in(section)
    if do == READ:
        table = parameters.pop("file")
        given = _keywords(parameters, files)
        arguments = ", ".join([f"HERE / {files.taken(table)!r}", *given])
        return f"easeml.Relation.from_file({arguments})"
    given = _keywords(parameters, files)
    if do in _METHODS:
        return f"{inputs[0]}.{do}({', '.join(given)})"
    arguments = ", ".join([repr(do), *inputs, *given])
    return f"easeml.lineage.apply({arguments})"


def _keywords(parameters: Mapping[str, Any], files: _Files) -> list[str]:
    """Return parameters as a call names them."""
    return [f"{key}={_value_text(value, files)}" for key, value in parameters.items()]


def _value_text(value: Any, files: _Files) -> str:
    """Return the Python expression of a parameter; of ``{file = NAME}``, what reads the file."""
    if not is_file(value):
        return repr(value)
    return f"(HERE / {files.taken(value['file'])!r}).read_text('utf-8')"


_TAKEN = ("HERE", "ENDS", "Path", "datetime", "easeml", "inf", "nan", "name", "step", "value")
"""Names that a script uses itself, beside those that are built in."""


def _variables(steps: Mapping[str, Any]) -> dict[str, str]:
    """Return a name for each step that Python takes."""
    taken = {*_TAKEN, *dir(builtins)}
    names = {}
    for step in steps:
        names[step] = free_name(_identifier(step), "_", taken)
        taken.add(names[step])
    return names


def _identifier(step: str) -> str:
    base = re.sub(r"\W", "_", step)
    may_be_used = base.isidentifier() and not keyword.iskeyword(base)
    if may_be_used:
        return base
    return f"step_{base}"

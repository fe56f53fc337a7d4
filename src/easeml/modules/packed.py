"""A folder of programs as one text: its ``module.toml``, and the other files as a table of texts.

So it travels as a description does: kept with the knowledge base, told to tasks, and kept with what
was trained (decision 0038).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput, TooLarge

from .scale import why_no_measure

MARK = "# A folder of programs, as one text."
"""The line by which such a text is known."""

DESCRIPTION = "module.toml"
LARGEST = 60 * 2**10  # bytes of a folder
FORMATS = ("parquet", "csv")
PROGRAMS = {
    "model": ("train", "predict"),
    "transform": ("transform",),
    "objective": ("eval",),
    "optimizer": ("suggest",),
}
"""Kind of module -> the programs that its folder has."""

RUN = ("model", "objective")
"""The kinds whose programs this release runs."""


def pack(folder: Path) -> str:
    """Return a folder as one text.

    Raises ``InvalidInput`` where there is no ``module.toml``, a folder in it, or a file that is no
    text; ``TooLarge`` above ``LARGEST``.
    """
    if not (folder / DESCRIPTION).is_file():
        remedy = "Make one with `easeml module init PATH`."
        raise InvalidInput(f"There is no {DESCRIPTION}.", where=str(folder), remedy=remedy)
    lines = [_text(folder / DESCRIPTION).rstrip(), "", MARK, "[files]"]
    for file in sorted(folder.iterdir()):
        if file.name == DESCRIPTION or file.name.startswith("."):
            continue
        content = json.dumps(_text(file), ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{json.dumps(file.name)} = {content}")
    text = "\n".join(lines) + "\n"
    if len(text.encode()) > LARGEST:
        raise TooLarge(
            f"A module's folder has at most {LARGEST:,} bytes.",
            where=str(folder),
            remedy="Leave out what the programs do not read.",
        )
    return text


def unpack(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of a module into a folder; all may be executed."""
    for name, text in files.items():
        path = folder / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)


def check_programs(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless a description is of a folder with the programs of its kind."""
    runtime = document["runtime"]
    if runtime["kind"] == "container":
        raise InvalidInput(
            "Containers are not run by this release of easeml.",
            where=f"{where}: runtime.kind",
            remedy="Write kind = 'process', and start the service with --isolation process.",
        )
    unknown = sorted(set(runtime) - {"kind", "data"})
    if unknown:
        raise InvalidInput(
            f"Unknown key 'runtime.{unknown[0]}'.", where=where, remedy="Keys: kind, data."
        )
    if runtime.get("data", FORMATS[0]) not in FORMATS:
        raise InvalidInput(
            "runtime.data is not known.", where=where, remedy=f"Formats: {', '.join(FORMATS)}."
        )
    files = document.get("files", {})
    for name, text in files.items():
        _check_file(name, text, where)
    if document["kind"] == "objective":
        _check_measure(document.get("measure", {}), where)
    for program in PROGRAMS[document["kind"]]:
        if program not in files:
            raise InvalidInput(
                f"The program {program!r} is missing.",
                where=where,
                remedy="Put it into the folder, beside module.toml.",
            )


def _check_measure(measure: Mapping[str, Any], where: str) -> None:
    reason = why_no_measure(measure)
    if reason:
        remedy = "Write [measure] with worst and best, the ends of the range of the measure."
        raise InvalidInput(reason, where=where, remedy=remedy)


def _check_file(name: str, text: Any, where: str) -> None:
    is_plain = name == Path(name).name and not name.startswith(".")
    if not is_plain or not isinstance(text, str):
        raise InvalidInput(f"{name!r} is not a file of the folder.", where=where)


def _text(file: Path) -> str:
    if file.is_symlink() or not file.is_file():
        remedy = "Put all files beside module.toml, without folders and links."
        raise InvalidInput("This is not a file.", where=str(file), remedy=remedy)
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        remedy = "Take it out: the files of a module are texts."
        raise InvalidInput("This file is not text.", where=str(file), remedy=remedy) from error

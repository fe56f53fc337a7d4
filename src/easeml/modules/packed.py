"""A folder of programs as one text: its ``module.toml``, and the other files as a table of texts.

So it travels as a description does: kept with the knowledge base, told to tasks, and kept with what
was trained (decision 0038).
"""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput, TooLarge

from .containers import images
from .environments import placing
from .scale import why_no_measure

MARK = "# A folder of programs, as one text."
"""The line by which such a text is known."""

DESCRIPTION = "module.toml"
_IMAGE_FILE = ".tar"  # how the name of an image in the folder ends
LARGEST = 60 * 2**10  # bytes of a folder
_TABLES = ("parquet", "csv")
FORMATS = {
    "model": _TABLES,
    "transform": _TABLES,
    "objective": _TABLES,
    "optimizer": ("json", "csv"),
}
"""Kind of module -> the formats that its programs may be given data in, the usual one first."""
_RUNTIME_KEYS = {"process": ("kind", "data"), "container": ("kind", "data", "image", "gpu")}
PROGRAMS = {
    "model": ("train", "predict"),
    "transform": ("transform",),
    "objective": ("eval",),
    "optimizer": ("suggest",),
}
"""Kind of module -> the programs that its folder has. A transform that learns has ``fit`` too."""


def pack(folder: Path) -> str:
    """Return a folder as one text.

    Raises ``InvalidInput`` where there is no ``module.toml``, a folder in it, or a file that is no
    text; ``TooLarge`` above ``LARGEST``.
    """
    if not (folder / DESCRIPTION).is_file():
        remedy = "Make one with `easeml module init PATH`."
        raise InvalidInput(f"There is no {DESCRIPTION}.", where=str(folder), remedy=remedy)
    description = _text(folder / DESCRIPTION)
    image = image_file(folder)
    visible = {path for path in folder.iterdir() if not path.name.startswith(".")}
    packed = sorted(visible - {folder / DESCRIPTION, image})
    texts = {file.name: _text(file) for file in packed}
    return pack_texts(description, texts, reference(description, image))


def pack_texts(description: str, files: Mapping[str, str], image: str = "") -> str:
    """Return the text of a ``module.toml``, with the other files of its folder, as one text.

    ``image``: what its programs run in, where they run in containers. Raises ``TooLarge``.
    """
    lines = [description.rstrip(), "", MARK]
    if image:
        lines += ["[image]", f"ref = {json.dumps(image)}"]
    lines.append("[files]")
    for name, content in files.items():
        written = json.dumps(content, ensure_ascii=False).replace("\x7f", "\\u007f")
        lines.append(f"{json.dumps(name)} = {written}")
    text = "\n".join(lines) + "\n"
    if len(text.encode()) > LARGEST:
        raise TooLarge(
            f"A module's folder has at most {LARGEST:,} bytes.",
            where=DESCRIPTION,
            remedy="Leave out what the programs do not read, or put it into an image.",
        )
    return text


def with_environment(source: str, digest: str) -> str:
    """Return the text of a module that runs with the packages of a stored environment."""
    named = f'[environment]\nref = "{placing.BY_DIGEST}{digest}"\n'
    description, mark, files = source.rpartition(
        f"{MARK}\n"
    )  # a description may hold the line, too
    return f"{description}{mark}{named}{files}"


def image_file(folder: Path) -> Path | None:
    """Return the tar file of the image that a folder's ``module.toml`` names; ``None`` where it
    names none, or one that a machine holds.

    Raises ``InvalidInput`` for a file that is not there.
    """
    named = _image_named(_text(folder / DESCRIPTION))
    if not named.endswith(_IMAGE_FILE):
        return None
    path = folder / named
    if Path(named).name != named or path.is_symlink() or not path.is_file():
        raise InvalidInput(
            f"There is no file {named!r} beside {DESCRIPTION}.",
            where="runtime.image",
            remedy="Write an OCI image there: buildah push IMAGE oci-archive:FILE.tar.",
        )
    return path


def _image_named(description: str) -> str:
    """Return the image that a description names; nothing where it is no container, or no TOML."""
    try:
        runtime = tomllib.loads(description).get("runtime", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""  # whoever reads the whole text tells of it
    if not isinstance(runtime, dict) or runtime.get("kind") != "container":
        return ""
    return str(runtime.get("image", ""))


def reference(description: str, file: Path | None = None) -> str:
    """Return what the programs of a description run in: the image of a file, or one of the machine
    that it names; nothing where there is neither.
    """
    if file is not None:
        return f"{images.BY_DIGEST}{images.digest_of_file(file)}"
    named = _image_named(description)
    if not named or named.endswith(_IMAGE_FILE):
        return ""
    return f"{images.BY_NAME}{named}"


def unpack(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of a module into a folder; all may be executed."""
    for name, text in files.items():
        # By how they are made: a confined process cannot change it afterwards.
        how = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        descriptor = os.open(folder / name, how, 0o755)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def check_programs(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless a description is of a folder with the programs of its kind."""
    runtime = document["runtime"]
    kind = document["kind"]
    _check_runtime(runtime, FORMATS[kind], where)
    if runtime.get("gpu") and kind != "model":
        raise InvalidInput("Only a model is given a GPU.", where=f"{where}: runtime.gpu")
    _check_image(document, where)
    _check_environment(document, where)
    files = document.get("files", {})
    for name, text in files.items():
        _check_file(name, text, where)
    if kind == "objective":
        _check_measure(document.get("measure", {}), where)
    if kind == "transform":
        _check_transform(document, where)
    if runtime["kind"] == "process":  # of containers the image has the programs; running them tells
        _check_complete(files, kind, where)


def _check_runtime(runtime: Mapping[str, Any], formats: Sequence[str], where: str) -> None:
    known = _RUNTIME_KEYS[runtime["kind"]]
    unknown = sorted(set(runtime) - set(known))
    if unknown:
        raise InvalidInput(
            f"Unknown key 'runtime.{unknown[0]}'.", where=where, remedy=f"Keys: {', '.join(known)}."
        )
    if not isinstance(runtime.get("gpu", False), bool):
        raise InvalidInput("runtime.gpu is not true or false.", where=where)
    if runtime.get("data", formats[0]) not in formats:
        raise InvalidInput(
            "runtime.data is not known.", where=where, remedy=f"Formats: {', '.join(formats)}."
        )


def _check_transform(document: Mapping[str, Any], where: str) -> None:
    if "accepts" not in document:
        raise InvalidInput(
            "A transform that is programs takes features: complete numbers.",
            where=where,
            remedy="Write accepts = 'features', and no schemas.",
        )


def _check_complete(files: Mapping[str, Any], kind: str, where: str) -> None:
    """Raise ``InvalidInput`` unless a folder has all programs of its kind of module."""
    missing = [program for program in PROGRAMS[kind] if program not in files]
    if missing:
        raise InvalidInput(
            f"The program {missing[0]!r} is missing.",
            where=where,
            remedy="Put it into the folder, beside module.toml.",
        )


def _check_image(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless programs that run in containers, and no others, name an image."""
    image = document.get("image", {})
    if document["runtime"]["kind"] == "container":
        _check_reference(image, where)
    elif image:
        raise InvalidInput("Only containers have an image.", where=f"{where}: image")


def _check_reference(image: Mapping[str, Any], where: str) -> None:
    reference = image.get("ref", "")
    is_whole = isinstance(reference, str) and images.named_in(reference.encode()) == {reference}
    if not is_whole or len(image) > 1:
        raise InvalidInput(
            "The image of the programs is not named.",
            where=f"{where}: runtime.image",
            remedy="Write image = 'FILE.tar', a file beside module.toml, or the name of an image that "
            "the machine holds, and add the folder, not its module.toml.",
        )


def _check_environment(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` for packages that are named in another way, or not for processes."""
    named = document.get("environment", {})
    if not named:
        return
    reference = str(named.get("ref", ""))
    is_whole = placing.named_in(reference.encode()) == {reference} and len(named) == 1
    if not is_whole or document["runtime"]["kind"] != "process":
        raise InvalidInput("This names no environment of packages.", where=f"{where}: environment")


def _check_measure(measure: Mapping[str, Any], where: str) -> None:
    reason = why_no_measure(measure)
    if reason:
        remedy = "Write [measure] with worst and best, the ends of the range of the measure."
        raise InvalidInput(reason, where=where, remedy=remedy)


def _check_file(name: str, text: Any, where: str) -> None:
    leads_elsewhere = name != Path(name).name
    if leads_elsewhere or name.startswith(".") or not isinstance(text, str):
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

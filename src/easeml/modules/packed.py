"""A folder of programs as one text: its ``module.toml``, and the other files as a table of texts.

So it travels as a description does: kept with the knowledge base, told to tasks, and kept with what
was trained (decision 0038).
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from easeml.errors import InvalidInput, TooLarge

from .containers import images
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
    files = {}
    for file in sorted(folder.iterdir()):
        if file.name == DESCRIPTION or file.name.startswith(".") or file == image:
            continue
        files[file.name] = _text(file)
    return pack_texts(description, files, reference(description, image))


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
    return f"{images.BY_NAME}{named}" if named and not named.endswith(_IMAGE_FILE) else ""


def unpack(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of a module into a folder; all may be executed."""
    for name, text in files.items():
        path = folder / name
        path.write_text(text, "utf-8")
        path.chmod(0o755)


def check_programs(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless a description is of a folder with the programs of its kind."""
    runtime = document["runtime"]
    is_container = runtime["kind"] == "container"
    known = ["kind", "data", "image"] if is_container else ["kind", "data"]
    unknown = sorted(set(runtime) - set(known))
    if unknown:
        raise InvalidInput(
            f"Unknown key 'runtime.{unknown[0]}'.", where=where, remedy=f"Keys: {', '.join(known)}."
        )
    _check_image(document, where)
    formats = FORMATS[document["kind"]]
    if runtime.get("data", formats[0]) not in formats:
        raise InvalidInput(
            "runtime.data is not known.", where=where, remedy=f"Formats: {', '.join(formats)}."
        )
    files = document.get("files", {})
    for name, text in files.items():
        _check_file(name, text, where)
    if document["kind"] == "objective":
        _check_measure(document.get("measure", {}), where)
    if document["kind"] == "transform" and "accepts" not in document:
        raise InvalidInput(
            "A transform that is programs takes features: complete numbers.",
            where=where,
            remedy="Write accepts = 'features', and no schemas.",
        )
    if is_container and document["kind"] == "transform":
        raise InvalidInput("A transform cannot run in a container.", where=f"{where}: runtime.kind")
    if is_container:
        return  # the image has the programs that the folder has not; running them tells
    for program in PROGRAMS[document["kind"]]:
        if program not in files:
            raise InvalidInput(
                f"The program {program!r} is missing.",
                where=where,
                remedy="Put it into the folder, beside module.toml.",
            )


def _check_image(document: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless programs that run in containers, and no others, name an image."""
    image = document.get("image", {})
    reference = image.get("ref", "")
    is_whole = isinstance(reference, str) and images.named_in(reference.encode()) == {reference}
    if document["runtime"]["kind"] != "container":
        if image:
            raise InvalidInput("Only containers have an image.", where=f"{where}: image")
        return
    if set(image) - {"ref"} or not is_whole:
        raise InvalidInput(
            "The image of the programs is not named.",
            where=f"{where}: runtime.image",
            remedy="Write image = 'FILE.tar', a file beside module.toml, or the name of an image that "
            "the machine holds, and add the folder, not its module.toml.",
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

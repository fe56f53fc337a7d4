"""Files that a model comes in: a graph, a skops file, or a zip file of an MLflow folder.

Nothing is unpacked: a member is read by its name, so that a path in an archive leads nowhere.
"""

import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from easeml.errors import InvalidInput

_LARGEST = 1 << 30  # bytes of a file, and of all that is in an archive
_LARGEST_DESCRIPTION = 1 << 20  # bytes of a file MLmodel
_PICKLES = (".pkl", ".pickle", ".joblib")
# What a damaged archive raises, beside what is no archive at all.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


def model_in(path: Path, filename: str) -> tuple[bytes, str]:
    """Return the bytes of the model in a file, and their form: "onnx", "skops" or "pickle".

    Raises ``InvalidInput`` for more than 1 GiB, and for what is none of these.
    """
    if path.stat().st_size > _LARGEST:
        raise _too_large(filename)
    if not zipfile.is_zipfile(path):
        content = path.read_bytes()
        if content[:1] == b"\x80" or filename.lower().endswith(_PICKLES):
            return content, "pickle"
        return content, "onnx"
    try:
        with zipfile.ZipFile(path) as archive:
            return _in_archive(archive, path, filename)
    except InvalidInput:
        raise
    except _DAMAGED as error:
        raise InvalidInput(f"The archive is damaged: {error}", where=filename) from error


def _in_archive(archive: zipfile.ZipFile, path: Path, filename: str) -> tuple[bytes, str]:
    # Whoever reads a member stops at the size that the archive states, so that is what counts.
    size = sum(member.file_size for member in archive.infolist())
    if size > _LARGEST:
        raise _too_large(filename)
    described = [name for name in archive.namelist() if PurePosixPath(name).name == "MLmodel"]
    if not described:
        return path.read_bytes(), "skops"
    outermost = min(described, key=len)
    return _of_mlflow(archive, outermost)


def _of_mlflow(archive: zipfile.ZipFile, described: str) -> tuple[bytes, str]:
    """Return the model of an MLflow folder: of its flavours ``onnx`` and ``sklearn``."""
    flavours = _flavours(archive, described)
    if "onnx" in flavours:
        data = _text(flavours["onnx"], "data")
        form = "onnx"
    elif "sklearn" in flavours:
        data = _text(flavours["sklearn"], "pickled_model")
        is_skops = _text(flavours["sklearn"], "serialization_format") == "skops"
        form = "skops" if is_skops else "pickle"
    else:
        names = ", ".join(str(name)[:50] for name in list(flavours)[:5])
        raise InvalidInput(
            f"The MLflow folder has the flavours {names}.",
            where=described,
            remedy="Log the model by mlflow.onnx or mlflow.sklearn.",
        )
    folder = PurePosixPath(described).parent
    name = str(folder / data)
    if name not in archive.namelist():
        said = f"The MLflow folder does not have its model {data!r}."
        raise InvalidInput(said, where=described)
    return archive.read(name), form


def _flavours(archive: zipfile.ZipFile, described: str) -> dict[str, Any]:
    import yaml

    if archive.getinfo(described).file_size > _LARGEST_DESCRIPTION:
        raise _too_large(described)
    try:
        content = yaml.safe_load(archive.read(described))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"MLmodel cannot be read: {error}", where=described) from error
    match content:
        case {"flavors": dict(flavours)}:
            return flavours
    raise InvalidInput("MLmodel names no flavours.", where=described)


def _text(flavour: Any, name: str) -> str:
    """Return a text that describes a flavour; empty where there is none.

    Anything else is never written out as text: a list of YAML may stand for millions of itself.
    """
    if not isinstance(flavour, dict):
        return ""
    found = flavour.get(name)
    if not isinstance(found, str):
        return ""
    return found


def _too_large(where: str) -> InvalidInput:
    return InvalidInput("The file is larger than a model may be (1 GiB).", where=where)

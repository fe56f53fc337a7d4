"""Run as a program: reads what an image of ease.ml's prototype says of itself.

``python -I image_metadata.py FOLDER``: reads ``FOLDER/given.tar``, as ``image_files`` does, and prints
a JSON object of the texts in the image's working folder, name -> text: its README, schemas and
configuration space. What was YAML there is JSON here.
"""

import json
import resource
import sys
import tarfile
from pathlib import Path, PurePosixPath

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from easeml.confinement import confine, why_unavailable
from easeml.modules.containers.image_files import (
    CLEAN,
    GIVEN,
    BadImage,
    document_in,
    part_of,
    rewrite,
)
from easeml.parents import die_with_parent

_STEMS = ("readme", "schema-in", "schema-out", "config-space")
_LARGEST = 60 * 2**10  # bytes of a text
_MEMORY = 2 * 2**30
_REMOVED, _ALL_REMOVED = ".wh.", ".wh..wh..opq"
_YAML = (".yml", ".yaml")


def texts(clean: Path) -> dict[str, str]:
    """Return the texts in the working folder of an image that ``image_files.rewrite`` wrote.

    https://github.com/opencontainers/image-spec/blob/main/layer.md tells how a layer removes files.
    Raises ``BadImage`` for a text that is too large, is a link, or is no YAML where it should be.
    """
    found: dict[str, str] = {}
    with tarfile.open(clean) as tar:
        config = document_in(tar, "config.json")
        folder = _path(config["config"].get("WorkingDir", ""))
        for layer in document_in(tar, "manifest.json")[0]["Layers"]:
            with tarfile.open(fileobj=part_of(tar, layer), mode="r|") as files:
                for member in files:
                    path = _path(member.name)
                    if path.parent == folder:
                        _take(found, files, member, path.name)
    return dict(_as_json(name, text) for name, text in found.items())


def _path(path: str) -> PurePosixPath:
    """Return a path of an image from its root, however it is written."""
    return "/" / PurePosixPath(path.lstrip("/"))


def _take(
    found: dict[str, str], files: tarfile.TarFile, member: tarfile.TarInfo, name: str
) -> None:
    """Keep a text of a layer, or take away what the layer removes."""
    if name == _ALL_REMOVED:
        found.clear()
    if name.startswith(_REMOVED):
        found.pop(name.removeprefix(_REMOVED), None)
        return
    is_wanted = name.partition(".")[0].lower() in _STEMS
    if not is_wanted or member.isdir():
        return
    if not member.isreg() or member.size > _LARGEST:
        raise BadImage(f"{name} is not a text of up to {_LARGEST:,} bytes")
    file = files.extractfile(member)
    assert file is not None  # it is a plain file
    found[name] = file.read().decode(errors="replace")


def _as_json(name: str, text: str) -> tuple[str, str]:
    """Return a name and text, as JSON where it is YAML. Aliases are refused: a few lines of them
    stand for gigabytes.
    """
    stem, _, ending = name.rpartition(".")
    if f".{ending}" not in _YAML:
        return name, text
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise BadImage(f"{name} has aliases; write it out")
        document = yaml.safe_load(text)
        return f"{stem}.json", json.dumps(document, allow_nan=False)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        what = str(error).partition("\n")[0]
        raise BadImage(f"{name} is not YAML that JSON could say: {what}") from error


def main(folder: Path) -> None:
    """Confine this process to the folder, as far as the machine can, and print the texts."""
    die_with_parent()
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    if not why_unavailable():
        confine(folder)
    try:
        rewrite(folder / GIVEN, folder / CLEAN, "localhost/read:1")
        found = texts(folder / CLEAN)
    except (BadImage, tarfile.TarError) as error:
        sys.exit(f"This image cannot be used: {error}.")
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

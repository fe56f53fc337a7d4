"""The folder of a module of an image that was written for the prototype."""

import json
import shutil
import tempfile
from pathlib import Path

from easeml.errors import InvalidInput
from easeml.modules import skeletons
from easeml.modules.containers import image_files, images
from easeml.modules.packed import DESCRIPTION

from . import description

_IMAGE = "image.tar"
_READER = str(Path(image_files.__file__).with_name("image_metadata.py"))
_TITLE = 80  # letters
_TOML = """\
name = {name}
kind = "{kind}"
version = "1.0"
contract = "prototype"
title = {title}

[runtime]
kind = "container"
image = "image.tar"
"""


def make(folder: Path, kind: str, image: Path) -> list[Path]:
    """Write the folder of a module whose image is a tar file, and return its files.

    Schemas and configuration space are taken from the image. Raises ``InvalidInput`` for a kind that
    the prototype did not have and for a file that is no image, ``Conflict`` where the folder has
    files.
    """
    if kind not in description.KINDS:
        raise InvalidInput(
            f"The prototype had no {kind}.",
            where="--kind",
            remedy=f"There are: {', '.join(description.KINDS)}.",
        )
    texts = _texts(image)
    skeletons.make_folder(folder)
    name = folder.resolve().name.lower()
    written = {DESCRIPTION: _described(name, kind, texts)}
    said = (description.SPACE, description.INPUT, description.OUTPUT)
    for file in filter(texts.__contains__, said):
        written[file] = texts[file]
    for file, text in written.items():
        (folder / file).write_text(text, "utf-8")
    shutil.copyfile(image, folder / _IMAGE)
    return [folder / file for file in (*written, _IMAGE)]


def _texts(image: Path) -> dict[str, str]:
    if not image.is_file():
        raise InvalidInput("There is no such file.", where=str(image), remedy="Check the path.")
    with tempfile.TemporaryDirectory(prefix="image-") as made:
        place = Path(made).resolve()
        shutil.copyfile(image, place / image_files.GIVEN)
        return json.loads(images.confined(_READER, place))


def _described(name: str, kind: str, texts: dict[str, str]) -> str:
    readme = next((text for file, text in texts.items() if file.lower().startswith("readme")), "")
    lines = [line.strip("# \t") for line in readme.splitlines()]
    title = next(filter(None, lines), name)[:_TITLE]
    return _TOML.format(name=json.dumps(name), kind=kind, title=json.dumps(title))

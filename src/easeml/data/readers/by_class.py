"""Files in a folder for each class, in a folder, zip or tar file: texts, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError
from easeml.data.readers.encoding import decoded
from easeml.data.readers.file_tree import Tree, open_tree
from easeml.data.types.cells import reported, to_arrow
from easeml.data.types.pictures import NoPicture, picture_report, shape_of

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = (".txt", ".md", ".text")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_LARGEST = 64 << 20  # bytes of a file


@dataclass(frozen=True)
class Samples:
    """``kind``: text or picture. ``files``: paths with their classes, sorted."""

    kind: str
    files: list[tuple[str, str]]


def samples_by_class(tree: Tree) -> Samples | None:
    """The samples of a tree whose files are, nearly all, texts or pictures by class.

    They are below folders of at least two classes.
    """
    in_folders = [name for name in tree.files if "/" in name]
    for kind, suffixes in (("text", TEXTS), ("picture", PICTURES)):
        found = [name for name in in_folders if name.lower().endswith(suffixes)]
        classes = [PurePosixPath(name).parent.name for name in found]
        are_most = 2 * len(found) >= len(tree.files)
        if are_most and len(set(classes)) > 1:
            return Samples(kind, list(zip(found, classes, strict=True)))
    return None


def read_samples(path: str | Path, name: str) -> pa.Table:
    """Read texts or pictures by class as a table.

    Texts have the columns ``text`` and ``label``, pictures ``image`` and ``label``.

    Raises:
        DatasetError: if these are neither, or naming the file that is no picture.
    """
    with open_tree(path) as tree:
        found = samples_by_class(tree)
        if found is None:
            raise DatasetError(
                "these are neither one table nor texts or pictures by class.",
                where=name,
                remedy=(
                    "Tables, and texts or pictures in a folder for each class, can be learned from."
                ),
            )
        read = text_table if found.kind == "text" else picture_table
        return read(tree, found.files)


def picture_table(tree: Tree, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of these picture files (path, label).

    ``image`` holds their bytes as they are, ``label`` their labels.

    Raises:
        DatasetError: naming the file that is no picture.
    """
    import pyarrow as pa

    pictures, shapes = [], []
    for file, _ in files:
        data = tree.read(file, _LARGEST)
        try:
            shapes.append(shape_of(data))
        except NoPicture as error:
            raise DatasetError(
                f"this is no picture: {error}.",
                where=file,
                remedy="Replace or remove it.",
            ) from error
        pictures.append(data)
    field, column = reported(picture_report("image", shapes, pictures), to_arrow("image", pictures))
    fields = [field, pa.field("label", pa.string())]
    return pa.table([column, pa.array([label for _, label in files])], schema=pa.schema(fields))


def text_table(tree: Tree, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of these text files (path, label): ``text`` with single blanks, and ``label``.

    Raises DatasetError.
    """
    import pyarrow as pa

    texts = [" ".join(decoded(tree.read(file, _LARGEST), file)[0].split()) for file, _ in files]
    told = [
        pa.field("text", pa.string(), metadata={"type": "text"}),
        pa.field("label", pa.string()),
    ]
    return pa.table(
        [pa.array(texts), pa.array([label for _, label in files])], schema=pa.schema(told)
    )

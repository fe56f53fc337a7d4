"""Files in a folder for each class, in a folder, zip or tar file: texts, and pictures."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from easeml.data._csv import decoded
from easeml.data._easeml_files import Tree, open_tree
from easeml.data._errors import DatasetError
from easeml.data._infer import Inference
from easeml.data._report import ColumnReport
from easeml.schema import CategoryClass, Node, Schema

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = (".txt", ".md", ".text")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_LARGEST = 64 << 20  # bytes of a file
_MOST_PIXELS = 1 << 28


@dataclass(frozen=True)
class Samples:
    """``kind``: text or picture. ``files``: paths with their classes, sorted."""

    kind: str
    files: list[tuple[str, str]]


def samples_by_class(tree: Tree) -> Samples | None:
    """The samples of a tree whose files are, nearly all, texts or pictures below folders of at least two classes."""
    endings = Counter(PurePosixPath(name).suffix.lower() for name in tree.files)
    for kind, suffixes in (("text", TEXTS), ("picture", PICTURES)):
        found = [name for name in tree.files if "/" in name and name.lower().endswith(suffixes)]
        if not found or 2 * len(found) < sum(endings.values()):
            continue
        files = [(name, PurePosixPath(name).parent.name) for name in found]
        if len({label for _, label in files}) > 1:
            return Samples(kind, files)
    return None


def has_pictures(path: str | Path) -> bool:
    """Whether a folder, tar or zip file holds pictures by class."""
    try:
        with open_tree(path) as tree:
            found = samples_by_class(tree)
    except DatasetError:
        return False
    return found is not None and found.kind == "picture"


def read_texts(path: str | Path, name: str) -> pa.Table:
    """Read texts by class as a table with the columns ``text`` and ``label``.

    Raises:
        DatasetError: if these are no texts by class.
    """
    import pyarrow as pa

    with open_tree(path) as tree:
        found = samples_by_class(tree)
        if found is None or found.kind != "text":
            what = "pictures" if found else "neither one table nor texts by class"
            remedy = "Tables, and text files in a folder for each class, can be learned from."
            raise DatasetError(f"these are {what}.", where=name, remedy=remedy)
        texts = [" ".join(decoded(tree.read(file, _LARGEST), file)[0].split()) for file, _ in found.files]
    told = [pa.field("text", pa.string(), metadata={"type": "text"}), pa.field("label", pa.string())]
    return pa.table([pa.array(texts), pa.array([label for _, label in found.files])], schema=pa.schema(told))


def read_pictures(path: str | Path) -> pa.Table:
    """Read pictures by class: ``file``, the original ``bytes``, ``height``, ``width``, ``channels``, ``label``.

    Raises:
        DatasetError: if these are no pictures by class, or naming the file that is no picture.
    """
    import pyarrow as pa

    with open_tree(path) as tree:
        found = samples_by_class(tree)
        if found is None or found.kind != "picture":
            raise DatasetError("these are no pictures by class.", where=str(path))
        rows = []
        for file, label in found.files:
            data = tree.read(file, _LARGEST)
            rows.append((file, data, *_shape(data, file), label))
    names = ("file", "bytes", "height", "width", "channels", "label")
    return pa.table([pa.array(list(column)) for column in zip(*rows, strict=True)], names)


def infer_pictures(path: str | Path) -> Inference:
    """Infer the schema of pictures by class from the shape of every one; sizes that differ are variables.

    Raises:
        DatasetError: as ``read_pictures``.
    """
    table = read_pictures(path)
    sizes = {name: sorted(set(table.column(name).to_pylist())) for name in ("height", "width", "channels")}
    dim = tuple(found[0] if len(found) == 1 else name[0] for name, found in sizes.items())
    counts = Counter(table.column("label").to_pylist())
    labels = tuple(sorted(counts))
    source = Schema({"image": Node("image", "tensor", dim=dim)})
    answer = Schema(
        {"label": Node("label", "category", class_name="label")}, {"label": CategoryClass(len(labels), labels)}
    )
    shown = ", ".join(f"{label} ({counts[label]})" for label in labels[:20])
    report = ColumnReport(
        "label", "category", "target", distinct=len(labels), classes=list(labels), nature="target",
        evidence=f"The folders are the classes: {shown}.",
    )  # fmt: skip
    notes = [f"{name} is {found[0]} to {found[-1]}." for name, found in sizes.items() if len(found) > 1]
    return Inference([report], table.num_rows, "label", source, answer, notes)


def _shape(data: bytes, file: str) -> tuple[int, int, int]:
    """Height, width and channels. The picture is decoded, so that a damaged one is told."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise DatasetError(f"{image.width} x {image.height} pixels are too many.", where=file)
            image.load()
            return image.height, image.width, len(image.getbands())
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DatasetError(f"this is no picture: {error}.", where=file, remedy="Replace or remove it.") from error

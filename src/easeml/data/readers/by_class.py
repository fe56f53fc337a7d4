"""Files in a folder for each class, in a folder, zip or tar file: texts, pictures, and series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, first_of
from easeml.data.readers.documents import DOCUMENTS, text_of
from easeml.data.readers.encoding import decoded
from easeml.data.readers.file_tree import Tree, open_tree
from easeml.data.readers.labels_beside import LabelsBeside, is_table, labels_beside
from easeml.data.readers.series_files import SERIES, series_column
from easeml.data.readers.source import Source, format_of
from easeml.data.types.cells import reported, to_arrow
from easeml.data.types.pictures import NoPicture, picture_report, shape_of

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = (".txt", ".md", ".text", ".html", ".htm", ".pdf")
PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_LARGEST = 64 << 20  # bytes of a file


def read_samples(
    path: str | Path, name: str, read_table: Callable[[bytes, str], pa.Table]
) -> pa.Table:
    """Read texts, pictures or series by class as a table.

    At least half of the files have to be such, in folders of two classes or more; or pictures have
    a table of their labels beside them (``labels_beside``). Texts have the
    columns ``text`` and ``label``, pictures ``image`` and ``label``, series (CSV files, several of
    each class) ``series`` and ``label``. ``read_table`` makes a table of its bytes and its name.

    Raises:
        DatasetError: if these are neither, or naming the file that is no picture.
    """
    with open_tree(path) as tree:
        for suffixes, read, least in _KINDS:
            classes = _classes(tree, suffixes)
            are_most = 2 * len(classes) >= len(tree.files)
            counts = Counter(classes.values())
            are_enough = min(counts.values(), default=0) >= least
            if all((are_most, are_enough, len(counts) > 1)):
                return read(tree, list(classes.items()))
        labelled = labels_beside(tree, PICTURES, read_table)
        if labelled is None:
            raise _nothing_by_class(tree.files, name)
        picture_files = list(zip(labelled.files, labelled.labels, strict=True))
        return _by_table(picture_table(tree, picture_files), labelled)


def _by_table(samples: pa.Table, labelled: LabelsBeside) -> pa.Table:
    """The samples of a table, whose label is called as that table calls it."""
    named = samples.rename_columns([samples.column_names[0], labelled.column])
    metadata = {b"target": labelled.column.encode()}
    if labelled.note:
        metadata[b"note"] = labelled.note.encode()
    return named.replace_schema_metadata(metadata)


def _nothing_by_class(files: Iterable[str], name: str) -> DatasetError:
    """The refusal of files that are neither one table nor samples by class: what there is."""
    said = "these are neither one table nor texts, pictures or series by class"
    remedy = (
        "Tables, and texts, pictures or series in a folder for each class, can be learned from."
    )
    tables = list(filter(is_table, files))
    samples = list(filter(_is_sample, files))
    folders = set(map(_folder_of, samples))
    if len(tables) > 1:
        said += f": there are {len(tables)} tables, {first_of(tables, 3, ' ...')}"
        remedy = (
            "Send one of them, or one that joins them. "
            "Where each is a series, put them in a folder for each class."
        )
    elif len(folders) == 1:
        said += f": all {len(samples)} of them are in one folder"
        remedy = (
            "Put them in a folder for each class, which is named like the class; or put a table of "
            "two columns beside pictures, the names of the files and their labels."
        )
    return DatasetError(f"{said}.", where=name, remedy=remedy)


def _is_sample(file: str) -> bool:
    return file.lower().endswith(PICTURES + TEXTS)


def _folder_of(file: str) -> str:
    """The name of the folder that a file is in; empty for none."""
    return PurePosixPath(file).parent.name


def _classes(tree: Tree, suffixes: tuple[str, ...]) -> dict[str, str]:
    """The files with these endings that are in a folder, each with the folder's name, its class."""
    classes = {}
    for path in tree.files:
        folder = _folder_of(path)
        if folder and path.lower().endswith(suffixes):
            classes[path] = folder
    return classes


def picture_table(tree: Tree, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of these picture files (path, label).

    ``image`` holds their bytes as they are, ``label`` their labels.

    Raises:
        DatasetError: naming the files that are no pictures.
    """
    pictures, shapes = [], []
    broken: dict[str, NoPicture] = {}
    for file, _ in files:
        data = tree.read(file, _LARGEST)
        try:
            shapes.append(shape_of(data))
        except NoPicture as error:
            broken[file] = error
        pictures.append(data)
    if broken:
        raise _no_pictures(broken)
    report = picture_report("image", shapes, pictures)
    field, column = reported(report, to_arrow("image", pictures))
    return _labelled(field, column, files)


def _no_pictures(broken: dict[str, NoPicture]) -> DatasetError:
    first, *others = broken
    said = f"this is not a picture: {broken[first]}."
    if not others:
        return DatasetError(said, where=first, remedy="Replace or remove it.")
    more = first_of(others, 5, ", ...")
    return DatasetError(
        f"{said} Of {len(others):,} more it is so: {more}.",
        where=first,
        remedy="Replace or remove them.",
    )


def series_table(tree: Tree, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of these CSV files (path, label) of a series each: ``series``, ``label``.

    Raises DatasetError.
    """
    field, column = series_column(tree, [file for file, _ in files])
    return _labelled(field, column, files)


def text_table(tree: Tree, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of these texts and documents (path, label): ``text`` with single blanks, ``label``.

    Raises DatasetError.
    """
    import pyarrow as pa

    texts = []
    for file, _ in files:
        source = Source(file, data=tree.read(file, _LARGEST))
        texts.append(_text(source))
    field = pa.field("text", pa.string(), metadata={"type": "text"})
    return _labelled(field, pa.array(texts), files)


def _text(source: Source) -> str:
    """The text of a file, or of a document."""
    form = format_of(source)
    if form in DOCUMENTS:
        return text_of(source, form)
    text, _ = decoded(source.data, source.name)
    return " ".join(text.split())


def _labelled(field: pa.Field, column: pa.Array, files: Sequence[tuple[str, str]]) -> pa.Table:
    """The table of a column and the labels of its files."""
    import pyarrow as pa

    labels = pa.array([label for _, label in files])
    schema = pa.schema([field, pa.field("label", pa.string())])
    return pa.table([column, labels], schema=schema)


# Their endings, what reads them, and how many of each class there are: one CSV file is a table.
_KINDS = ((TEXTS, text_table, 1), (PICTURES, picture_table, 1), (SERIES, series_table, 2))

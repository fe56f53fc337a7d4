"""The ease.ml data set: a folder, tar or zip file with a folder for each sample.

One data set holds ``<class>.class.txt`` files and a folder for each sample, in it
``<node>.ten.npy``, ``<node>.ten.csv`` or ``<node>.cat.txt`` for a singleton, a folder ``<node>``
with such files for the fields of a non-singleton, and at most one links file. A full dataset holds
the data sets ``train/input``, ``train/output``, ``val/input`` and ``val/output``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeml.data.errors import DatasetError
from easeml.data.readers.easeml_values import (
    class_labels,
    kind_and_name,
    labels,
    links_of,
    tensor,
    write_samples,
)
from easeml.data.readers.file_tree import FolderFiles, Tree, open_tree
from easeml.schema import Sample, Samples, Value

SIDES = ("train/input", "train/output", "val/input", "val/output")
_ARCHIVES = {".tar": "tar", ".tar.gz": "gztar", ".tgz": "gztar", ".zip": "zip"}


@dataclass(frozen=True)
class EasemlDataset:
    """A full dataset, or a single data set as ``input`` alone.

    Validation data is there where training data is.
    """

    input: Samples
    output: Samples | None = None
    val_input: Samples | None = None
    val_output: Samples | None = None


def is_easeml(path: str | Path | bytes) -> bool:
    """Whether a folder, tar or zip file looks like an ease.ml dataset, by the names in it."""
    endings = (".ten.npy", ".ten.csv", ".cat.txt", ".class.txt")
    with suppress(DatasetError), open_tree(path) as tree:
        return any(name.endswith(endings) for name in tree.files)
    return False


def read_easeml(path: str | Path | bytes, *, shapes_only: bool = False) -> EasemlDataset:
    """Read an ease.ml dataset from a folder, a tar file (plain or compressed) or a zip file.

    ``shapes_only``: of tensors read type and shape only, as a ``TensorShape``.

    Raises: DatasetError: with the file in ``where``, if a file is not what its name says or does
        not belong there.
    """
    with open_tree(path) as tree:
        absent = [side for side in SIDES if not _has_folder(tree, side)]
        if len(absent) == len(SIDES):
            return EasemlDataset(_samples(tree, "", shapes_only=shapes_only))
        if absent:
            raise DatasetError(
                f"expected a folder '{absent[0]}'.",
                where=tree.name,
                remedy=f"Needed: {', '.join(SIDES)}.",
            )
        made = [_samples(tree, f"{side}/", shapes_only=shapes_only) for side in SIDES]

    train_input, train_output, val_input, val_output = made
    _check_counterparts(train_input, train_output, "train")
    _check_counterparts(val_input, val_output, "val")
    return EasemlDataset(*made)


def _has_folder(tree: Tree, name: str) -> bool:
    """Whether there is a folder of this name, perhaps only as the folder of a file."""
    within = f"{name}/"
    return any(path.startswith(within) for path in (*tree.files, *tree.folders))


def _check_counterparts(first: Samples, second: Samples, side: str) -> None:
    """Every sample has an input and an output."""
    odd = sorted(first.samples.keys() ^ second.samples.keys())
    if odd:
        name = odd[0]
        folder = "input" if name in first.samples else "output"
        raise DatasetError(
            "this sample has no counterpart on the other side.",
            where=f"{side}/{folder}/{name}",
        )


def write_easeml(path: str | Path, dataset: EasemlDataset) -> None:
    """Write a dataset into a new folder, or a new file that ends in .tar, .tar.gz or .zip.

    Tensors are written as ``.ten.npy``, categories as ``.cat.txt``.

    Raises:
        DatasetError: if there is something already, or a label cannot stand on a line of its own.
    """
    path = Path(path)
    is_taken = any(path.iterdir()) if path.is_dir() else path.exists()
    if is_taken:
        raise DatasetError(
            "there is something already.",
            where=str(path),
            remedy="Name a new folder or file.",
        )
    ending = next(filter(path.name.endswith, _ARCHIVES), None)
    if ending is None:
        _write_sides(path, dataset)
        return
    with tempfile.TemporaryDirectory() as folder:
        _write_sides(Path(folder, "dataset"), dataset)
        archive, root = str(Path(folder, "archive")), Path(folder, "dataset")
        made = shutil.make_archive(archive, _ARCHIVES[ending], root)
        shutil.move(made, path)


def _write_sides(folder: Path, dataset: EasemlDataset) -> None:
    sides = (dataset.input, dataset.output, dataset.val_input, dataset.val_output)
    if dataset.output is None:
        write_samples(folder, dataset.input)
        return
    for side, samples in zip(SIDES, sides, strict=True):
        if samples is None:
            raise DatasetError(
                "a dataset with an output has validation data too.",
                where=side,
            )
        write_samples(folder / side, samples)


def _samples(tree: Tree, root: str, *, shapes_only: bool) -> Samples:
    """The data set below ``root``."""
    classes: dict[str, tuple[str, ...]] = {}
    files: dict[str, FolderFiles] = {name: {} for name in tree.folders_in(root)}
    for path in tree.files_below(root):
        sample, _, rest = path.removeprefix(root).partition("/")
        if rest:
            files[sample][rest] = path
        else:
            name = _class_name(sample, path)
            classes[name] = class_labels(tree, path)
    if not files:
        raise DatasetError(
            "there are no sample folders.",
            where=root or tree.name,
        )

    samples = {}
    for name in sorted(files):
        samples[name] = _sample(tree, f"{root}{name}", files[name], shapes_only)
    return Samples(classes, samples)


def _class_name(file: str, path: str) -> str:
    """The name of a class by its file; any other file beside the samples is refused."""
    kind, name = kind_and_name(file)
    if kind != ".class.txt":
        raise DatasetError(
            "expected sample folders and class files only.",
            where=path,
            remedy="Take it away.",
        )
    return name


def _sample(tree: Tree, root: str, files: FolderFiles, shapes_only: bool) -> Sample:
    """One sample: values of singletons, fields of non-singletons, and links."""
    values: dict[str, Value] = {}
    groups: dict[str, dict[str, Value]] = {name: {} for name in tree.folders_in(f"{root}/")}
    links = None
    for rest, path in files.items():
        node, _, field = rest.partition("/")
        _check_depth(field, path)
        kind, name = kind_and_name(field or node)
        if kind == ".links.csv" and not field:
            _check_first_links(links, path)
            links = links_of(tree, path)
        elif field:
            _check_value_file(kind, name, path, taken=groups[node].keys())
            groups[node][name] = _value(tree, path, kind, shapes_only)
        else:
            _check_value_file(kind, name, path, taken=values.keys() | groups.keys())
            values[name] = _value(tree, path, kind, shapes_only)
    return Sample({**values, **groups}, links)


def _value(tree: Tree, path: str, kind: str, shapes_only: bool) -> Value:
    if kind == ".cat.txt":
        return labels(tree, path)
    return tensor(tree, path, shapes_only=shapes_only)


def _check_depth(field: str, path: str) -> None:
    if "/" in field:
        raise DatasetError(
            "expected no folder inside a node's folder.",
            where=path,
        )


def _check_first_links(links: Any, path: str) -> None:
    if links is not None:
        raise DatasetError(
            "expected one links file at most in a sample.",
            where=path,
        )


def _check_value_file(kind: str, name: str, path: str, *, taken: Collection[str]) -> None:
    """Refuse a file that holds no value, or one whose name is ``taken`` in its sample or node."""
    if kind not in (".ten.npy", ".ten.csv", ".cat.txt"):
        raise DatasetError(
            "expected a tensor or a category.",
            where=path,
            remedy="Name it .ten.npy, .ten.csv or .cat.txt.",
        )
    if name in taken:
        raise DatasetError(
            f"'{name}' is there twice.",
            where=path,
            remedy="Take one of them away.",
        )

"""One entry for all that can be inferred: a table file, or an ease.ml dataset."""

from __future__ import annotations

from pathlib import Path

from easeml.data._easeml_folder import infer_easeml, is_easeml
from easeml.data._infer import Inference, infer_table
from easeml.data._read import read_table


def infer(path: str | Path, target: str | None = None, filename: str | None = None) -> Inference:
    """Infer what a table file, texts or pictures by class, or an ease.ml dataset (folder, tar or
    zip), looks like.

    ``target`` None: propose one. An ease.ml dataset says itself what is input and output.

    Raises: DatasetError: if it is none of these, or the target is not one of its columns or not
        possible.
    """
    if is_easeml(path):
        return infer_easeml(path)
    return infer_table(read_table(path, filename), target)

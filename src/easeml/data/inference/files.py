"""One entry for all that can be inferred: a table file, or an ease.ml dataset."""

from __future__ import annotations

from pathlib import Path

from easeml.data.errors import DatasetError
from easeml.data.inference.tables import Inference, infer_table
from easeml.data.readers.easeml_dataset import is_easeml, read_easeml
from easeml.data.readers.read import read_table
from easeml.schema import Samples, Schema, SchemaError, schema_of_samples, why_not


def infer(
    path: str | Path,
    target: str | None = None,
    filename: str | None = None,
    *,
    header: bool | None = None,
) -> Inference:
    """Infer what a table file, texts or pictures by class, or an ease.ml dataset looks like.

    A dataset is a folder, tar or zip file.

    ``target`` None: propose one. ``header``: see ``read_table``. An ease.ml dataset says itself
    what is input and output.

    Raises: DatasetError: if it is none of these, or the target is not one of its columns or not
        possible.
    """
    if is_easeml(path):
        return infer_easeml(path)
    return infer_table(read_table(path, filename, header=header), target)


def infer_easeml(path: str | Path) -> Inference:
    """Infer the schemas of an ease.ml dataset; of a single data set ``input`` alone.

    Tensors are not read, but for their shapes. Validation data has to fit the schemas of the
    training data.

    Raises:
        DatasetError: with file, or sample and node, in ``where``.
    """
    dataset = read_easeml(path, shapes_only=True)
    source = _schema(dataset.input, "", str(path))
    notes = []
    target = None if dataset.output is None else _schema(dataset.output, "train/output", str(path))
    for schema, validation, side in (
        (source, dataset.val_input, "val/input"),
        (target, dataset.val_output, "val/output"),
    ):
        if schema is None or validation is None:
            continue
        reason = why_not(schema, _schema(validation, side, str(path)))
        if reason:
            raise DatasetError(
                f"it does not fit the schema of the training data: {reason}",
                where=f"{path}: {side}",
            )
        notes.append(
            f"{side}: {len(validation.samples)} samples fit the schema of the training data."
        )
    count = len(dataset.input.samples)
    return Inference(
        columns=[],
        rows=count,
        target="",
        input=source,
        output=target,
        notes=notes,
    )


def _schema(samples: Samples, side: str, place: str) -> Schema:
    try:
        return schema_of_samples(samples)
    except SchemaError as error:
        parts = (place, side, error.where)
        raise DatasetError(
            error.message,
            where=": ".join(filter(None, parts)),
            remedy=error.remedy,
        ) from error

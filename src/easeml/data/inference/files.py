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
    table: int | None = None,
) -> Inference:
    """Infer what a table file, texts or pictures by class, or an ease.ml dataset looks like.

    A dataset is a folder, tar or zip file.

    ``target`` None: propose one. ``header``, ``table``: see
    ``read_table``. An ease.ml dataset says itself
    what is input and output.

    Raises: DatasetError: if it is none of these, or the target is not one of its columns or not
        possible.
    """
    if is_easeml(path):
        return infer_easeml(path)
    return infer_table(read_table(path, filename, header=header, table=table), target)


def infer_easeml(path: str | Path) -> Inference:
    """Infer the schemas of an ease.ml dataset; of a single data set ``input`` alone.

    Tensors are not read, but for their shapes. Validation data has to fit the schemas of the
    training data.

    Raises:
        DatasetError: with file, or sample and node, in ``where``.
    """
    dataset = read_easeml(path, shapes_only=True)
    place = str(path)
    source = _schema(dataset.input, "", place)
    rows = len(dataset.input.samples)
    if dataset.output is None:
        return Inference([], rows, target="", input=source, output=None, notes=[])

    target = _schema(dataset.output, "train/output", place)
    notes = [
        _validation_note(source, dataset.val_input, "val/input", place),
        _validation_note(target, dataset.val_output, "val/output", place),
    ]
    return Inference([], rows, target="", input=source, output=target, notes=notes)


def _validation_note(schema: Schema, samples: Samples | None, side: str, place: str) -> str:
    """What is said of validation data; raises DatasetError where they do not fit the schema."""
    assert samples is not None  # a dataset with an output has them
    reason = why_not(schema, _schema(samples, side, place))
    if reason:
        raise DatasetError(
            f"it does not fit the schema of the training data: {reason}",
            where=f"{place}: {side}",
        )
    return f"{side}: {len(samples.samples)} samples fit the schema of the training data."


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

"""The manifest of a trained model: what it is, what made it, and a sample of its predictions.

The sample proves that the model still predicts alike.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.data import CELLS, from_json, kinds_of, object_array, to_json
from easeml.errors import Damaged, InvalidInput
from easeml.schema import Schema
from easeml.version import __version__

from .contract import Predictions

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
_FILE = "manifest.json"
_LIBRARIES = ("numpy", "scikit-learn", "skops")  # what easeml itself fits and keeps with
SAMPLE_ROWS = 40  # with which an explained row is compared, too
_SAMPLE_OF_CELLS = 5
# Of the sample of pictures, tensors and graphs; the first is kept in any case.
_SAMPLE_LETTERS = 1_000_000
_TOLERANCE = 1e-6


def describe(
    *,
    pipeline: dict[str, Any],
    schema_in: dict[str, Any],
    schema_out: dict[str, Any],
    target: dict[str, Any],
    notes: list[str],
    parity: dict[str, Any],
    libraries: Iterable[str],
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Return the document of a manifest; ``facts`` are what the caller adds, such as the quality.

    ``libraries``: the distributions that its modules need, whose versions are kept. Raises
    ``InvalidInput`` for one that is not installed.
    """
    return {
        **facts,
        "format": FORMAT,
        "libraries": _versions(libraries),
        "pipeline": pipeline,
        "schema_in": schema_in,
        "schema_out": schema_out,
        "schema_digest": _digest(schema_in, schema_out),
        "classes": target["classes"],
        "target": target,
        "notes": notes,
        "parity": parity,
    }


def write(folder: Path, document: dict[str, Any]) -> None:
    """Write a manifest into the folder of a trained model."""
    (folder / _FILE).write_text(json.dumps(document, indent=1, allow_nan=False), "utf-8")


def read(folder: Path) -> dict[str, Any]:
    """Read a manifest. Raises ``Damaged`` where it is missing, not whole, or of another format."""
    try:
        document = json.loads((folder / _FILE).read_text("utf-8"))
        good = document["format"] == FORMAT
        whole = document["schema_digest"] == _digest(document["schema_in"], document["schema_out"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(
            f"The manifest cannot be read: {error}",
            where=str(folder / _FILE),
        ) from error
    if not good:
        remedy = "Use the release of easeml that made it, or train it again."
        raise Damaged(
            f"The model has format {document['format']}.",
            where=str(folder / _FILE),
            remedy=remedy,
        )
    if not whole:
        raise Damaged(
            "The schemas do not match their digest.",
            where=str(folder / _FILE),
        )
    return document


def sample_rows(frame: "pd.DataFrame", schema_in: Mapping[str, Any]) -> "pd.DataFrame":
    """Return some training rows, inputs only; fewer where their cells are large."""
    kinds = kinds_of(Schema.from_json(dict(schema_in)))
    has_cells = not set(CELLS).isdisjoint(kinds.values())
    rows = spaced(frame.loc[:, list(kinds)], _SAMPLE_OF_CELLS if has_cells else SAMPLE_ROWS)
    sizes = np.zeros(len(rows), dtype=int)
    for name, kind in kinds.items():
        if kind in CELLS:
            written = [json.dumps(to_json(kind, cell)) for cell in rows[name]]
            sizes += list(map(len, written))

    kept = int((np.cumsum(sizes) <= _SAMPLE_LETTERS).sum())
    return rows.head(max(1, kept))


def spaced(frame: "pd.DataFrame", rows: int = SAMPLE_ROWS) -> "pd.DataFrame":
    """Return so many rows from all places of a frame: its first ones may be alike."""
    places = np.linspace(0, len(frame) - 1, min(rows, len(frame))).round().astype(int)
    return frame.iloc[places]


def sample_of(manifest: Mapping[str, Any]) -> "pd.DataFrame":
    """Return the sample of a manifest as a frame, typed as in training."""
    return _frame(manifest["parity"]["columns"], manifest["schema_in"])


def parity(
    sample: "pd.DataFrame",
    schema_in: Mapping[str, Any],
    predict: Callable[["pd.DataFrame"], Predictions],
) -> dict[str, Any]:
    """Return the sample's rows and their predictions as JSON values."""
    kinds = kinds_of(Schema.from_json(dict(schema_in)))
    columns = {}
    for name, kind in kinds.items():
        columns[name] = [_to_json(value, kind) for value in sample[name].tolist()]
    return {"columns": columns, "predictions": _numbers(predict(sample)).tolist()}


def check_parity(
    manifest: Mapping[str, Any],
    schema_in: Mapping[str, Any],
    predict: Callable[["pd.DataFrame"], Predictions],
) -> None:
    """Predict the sample again.

    Raises ``Damaged`` where a prediction differs by more than one in a million.
    """
    kept = np.asarray(manifest["parity"]["predictions"], dtype=np.float64)
    sample = _frame(manifest["parity"]["columns"], schema_in)
    now = _numbers(predict(sample))
    alike = kept.shape == now.shape and np.allclose(kept, now, rtol=_TOLERANCE, atol=_TOLERANCE)
    if not alike:
        remedy = f"It was made with {manifest['libraries']}; train it again."
        raise Damaged(
            "The loaded model does not predict as the trained one did.",
            remedy=remedy,
        )


def reseal(folder: Path, predict: Callable[["pd.DataFrame"], Predictions], **facts: Any) -> None:
    """Keep what ``predict`` says of the sample now, in the manifest of a model that was changed.

    ``facts`` take the place of those of that name. Raises as ``read``.
    """
    document = {**read(folder), **facts}
    sample = _frame(document["parity"]["columns"], document["schema_in"])
    document["parity"] = parity(sample, document["schema_in"], predict)
    write(folder, document)


def _numbers(predictions: Predictions) -> Any:
    return predictions.outputs


def _frame(columns: Mapping[str, list[Any]], schema_in: Mapping[str, Any]) -> "pd.DataFrame":
    """Return the frame of a sample, typed as in training."""
    import pandas as pd

    schema = Schema.from_json(dict(schema_in))
    made = {}
    for column, kind in kinds_of(schema).items():
        values = columns[column]
        match kind:
            case "category":
                made[column] = pd.Categorical(
                    values, categories=schema.labels(schema.columns[column].name)
                )
            case "timestamp":
                made[column] = pd.to_datetime(pd.Series(values, dtype=object), format="ISO8601")
            case "text":
                made[column] = pd.Series(values, dtype=object)
            case "number":
                made[column] = pd.Series(values, dtype=np.float64)
            case _:
                made[column] = object_array([from_json(kind, value) for value in values])
    return pd.DataFrame(made)


def _to_json(value: Any, kind: str) -> Any:
    import pandas as pd

    if kind in CELLS:
        return to_json(kind, value)
    if pd.isna(value) or value in (-math.inf, math.inf):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value


def _digest(*schemas: Any) -> str:
    text = json.dumps(schemas, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    found = {"easeml": __version__}
    for name in sorted({*_LIBRARIES, *libraries}):
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            remedy = "Name the distribution as pip knows it in runtime.libraries of the module."
            raise InvalidInput(
                f"There is no library {name!r}.",
                remedy=remedy,
            ) from error
    return found

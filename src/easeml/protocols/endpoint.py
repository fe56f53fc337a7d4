"""What an endpoint answers to rows: predictions with what is known of them, or a problem."""

import json
from collections.abc import Mapping
from typing import Any

from easeml.data import Rows
from easeml.errors import EasemlError
from easeml.modules import Predictions, conformal, row_order
from easeml.modules.known_rows import KnownRows
from easeml.modules.labels import SaidLabels
from easeml.schema import Schema


def answer_of(
    rows: Rows, predicted: Predictions, manifest: Mapping[str, Any], known: KnownRows | None
) -> dict[str, Any]:
    """Return predictions as JSON values, one entry a row.

    ``manifest``: of the model, with its intervals of numbers and the range of times. ``known``: of
    the rows that the model learned from, where these are kept.
    """
    band = manifest.get(conformal.FACT)
    reply: dict[str, Any] = {
        "predictions": predicted.values.tolist(),
        "probabilities": None,
        "lower": None,
        "upper": None,
        "coverage": None,
        "quality": None,
        "notes": list(rows.notes),
        "names": rows.names,
    }
    if predicted.probabilities is not None and predicted.classes is not None:
        classes = list(map(str, predicted.classes))
        reply["probabilities"] = [
            dict(zip(classes, row, strict=True)) for row in predicted.probabilities.tolist()
        ]
    if predicted.labels is not None:
        reply.update(_labels(predicted.values, predicted.labels))
    if predicted.scales is not None:
        reply["targets"] = list(Schema.from_json(manifest["schema_out"]).parts)
    if band is not None:
        reply["lower"], reply["upper"] = conformal.bounds(band, predicted)
        reply["coverage"] = band["coverage"]
    if known is not None:
        reply["notes"] += known.far_values(rows.table)
    order = row_order.kept(manifest)
    if order:
        found = row_order.beyond(order, rows.table)
        reply["notes"] += row_order.notes(manifest, found)
    return reply


def _labels(values: Any, said: SaidLabels) -> dict[str, Any]:
    """Return the labels of rows, and the probability of each of all labels, as JSON values."""
    names = said.choice.names
    return {
        "predictions": said.choice.named(values),
        "probabilities": [dict(zip(names, row, strict=True)) for row in said.chances.tolist()],
        "separator": said.choice.separator,
    }


def problem(status: int, title: str, error: EasemlError) -> bytes:
    """Return the bytes of problem details (RFC 9457) for an error."""
    return json.dumps(
        {
            "type": f"urn:easeml:problem:{error.code}",
            "title": title,
            "status": status,
            "detail": error.message,
            "code": error.code,
            "where": error.where,
            "remedy": error.remedy,
        }
    ).encode()

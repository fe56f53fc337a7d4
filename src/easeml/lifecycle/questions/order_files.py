"""An order of questions as a file of arrays, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from io import BytesIO
from typing import Any

import numpy as np

from easeml.lifecycle.questions.encoding import Encoding, Targets
from easeml.lifecycle.questions.order import Item, Learned, Order
from easeml.lifecycle.questions.surrogate import Surrogate

CODE = 1
"""Of the file and of what is reckoned from it: what other code kept is looked for anew."""


def written(order: Order) -> bytes:
    """Return an order as a file (NumPy's ``npz``; what is no array is JSON in one)."""
    told = {
        "encoding": asdict(order.encoding),
        "targets": asdict(order.targets),
        "ids": order.rows.ids,
        "items": list(map(asdict, order.items)),
        "answered": order.answered,
        "told_chances": order.told_chances,
        "error": order.model.error,
    }
    file = BytesIO()
    np.savez(
        file,
        told=np.frombuffer(json.dumps(told, allow_nan=False).encode(), dtype=np.uint8),
        inverse=order.model.inverse,
        weights=order.model.weights,
        counted=order.model.counted,
        X=order.rows.X,
        Y=order.rows.Y,
        taught=order.rows.taught,
    )
    return file.getvalue()


def read(content: bytes) -> Order:
    """Return the order of a file. Raises ``ValueError`` or ``BadZipFile`` where it is damaged."""
    with np.load(BytesIO(content), allow_pickle=False) as found:
        arrays = dict(found)
    told = json.loads(arrays["told"].tobytes())
    return Order(
        model=Surrogate(arrays["inverse"], arrays["weights"], arrays["counted"], told["error"]),
        encoding=Encoding(**told["encoding"]),
        targets=_targets(told["targets"]),
        rows=Learned(tuple(told["ids"]), arrays["X"], arrays["Y"], arrays["taught"]),
        items=tuple(map(_item, told["items"])),
        answered=tuple(map(tuple, told["answered"])),
        told_chances=told["told_chances"],
    )


def _targets(told: dict[str, Any]) -> Targets:
    return Targets(tuple(told["classes"]), told["middle"], told["spread"])


def _item(told: dict[str, Any]) -> Item:
    options = tuple((value, chance) for value, chance in told["options"])
    return Item(**{**told, "options": options})

"""Items for people that a remedy of the tool ``debug`` asks for: cells, labels, rows of the pool."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from easeml.data import ROW
from easeml.kinds.shared.work_items import cells_of, items_of, known_by, text_of

if TYPE_CHECKING:
    import pandas as pd

    from easeml.data import Declared


def of_remedy(
    version: Declared,
    remedy: dict[str, Any],
    predict: Callable[[Any], Any] | None,
    names: pd.DataFrame,
) -> list[dict[str, Any]]:
    """Return what a remedy asks, each item as ``service.work.finding.Proposed``.

    Rows that the version has no longer, or that are switched off, are not asked about. ``predict``:
    of the model that serves. ``names``: what people know rows by (``work_items.names_of_rows``).
    """
    if remedy["kind"] == "collect":
        return _of_pool(version, remedy, predict, names)
    train = version.frames["train"].set_index(ROW)
    on = set(train.index) - set(version.off)
    kind = "check-label" if remedy["kind"] == "check-labels" else "repair-cell"
    items = []
    for asked in remedy["items"]:
        if asked["row"] in on and asked["column"] in train.columns:
            item = _asked(train.loc[asked["row"]], asked, kind)
            question = item["question"]
            question["values"] = known_by(names, item["row"]) | question["values"]
            items.append(item)
    return items


def _of_pool(
    version: Declared,
    remedy: dict[str, Any],
    predict: Callable[[Any], Any] | None,
    names: pd.DataFrame,
) -> list[dict[str, Any]]:
    """Return items for rows of the pool that lie in the slice of the remedy."""
    from easeml.lifecycle.debugging import Slice

    pool = version.frames.get("pool")
    if pool is None:
        return []
    inside = pool.loc[Slice.from_json(remedy["conditions"]).holds(pool)]
    if not len(inside):
        return []
    of_slice = replace(version, frames={**version.frames, "pool": inside})
    items, _ = items_of(of_slice, None, predict, None, (), names)
    return [one for one in items if one["kind"] == "label"]


def _asked(row: pd.Series, asked: dict[str, Any], kind: str) -> dict[str, Any]:
    column = asked["column"]
    suspicion = float(asked["suspicion"])
    given = text_of(row[column])
    options = []
    if asked["suggestion"] and asked["suggestion"] != given:
        options.append({"value": asked["suggestion"], "weight": suspicion})
    if given and kind == "check-label":
        options.append({"value": given, "weight": 1 - suspicion})
    cells = cells_of(row.drop(column), [])
    return {
        "kind": kind,
        "row": int(asked["row"]),
        "column": column,
        "information": _entropy(suspicion),
        "question": {"given": given, "options": options, "values": cells},
    }


def _entropy(chance: float) -> float:
    """Return the entropy of "it is wrong", in nats."""
    inside = min(max(chance, 1e-12), 1 - 1e-12)
    return -inside * math.log(inside) - (1 - inside) * math.log(1 - inside)

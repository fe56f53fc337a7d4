"""The past of a model in its folder: arrays and JSON."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.modules.forecasting.known_values import KnownValues
from easeml.modules.forecasting.past import Past
from easeml.modules.forecasting.rule import Rule
from easeml.modules.forecasting.steps import Steps

_ARRAYS, _FACTS = "past.npz", "past.json"
_PLAIN_FACTS = ("anchor", "seasons", "cycles", "middle", "deviation", "plain", "growth", "nodes")


def save(past: Past, folder: Path) -> None:
    """Write the past into an existing folder."""
    arrays = _arrays_of(past.known)
    for number, column in enumerate(past.rule.past_only):
        for name, array in _arrays_of(past.others[column]).items():
            arrays[f"{name}_{number}"] = array
    save_arrays(folder / _ARRAYS, keys=past.keys.astype(np.str_), **arrays)
    facts = {name: getattr(past, name) for name in _PLAIN_FACTS}
    save_json(folder / _FACTS, {**facts, "rule": asdict(past.rule), "steps": past.steps.to_json()})


def load(folder: Path) -> Past:
    """Return what ``save`` wrote. Raises ``Damaged``, or ``KeyError`` and ``TypeError`` for another
    form.
    """
    arrays = load_arrays(folder / _ARRAYS)
    facts = load_json(folder / _FACTS)
    document = facts.pop("rule")
    rule = Rule(
        **{
            **document,
            "series": tuple(document["series"]),
            "past_only": tuple(document.get("past_only", ())),
        }
    )
    others = {}
    for number, column in enumerate(rule.past_only):
        others[column] = _known_of(arrays, f"_{number}")
    steps = Steps.from_json(facts.pop("steps"))
    for name in ("seasons", "cycles", "growth"):
        facts[name] = tuple(facts[name])
    return Past(
        rule=rule,
        steps=steps,
        keys=arrays["keys"],
        known=_known_of(arrays, ""),
        others=others,
        **facts,
    )


def _arrays_of(known: KnownValues) -> dict[str, NDArray[Any]]:
    """Return what is kept of known values, by name."""
    return {"series": known.series, "places": known.places, "values": known.values}


def _known_of(arrays: Mapping[str, NDArray[Any]], ending: str) -> KnownValues:
    """Return known values of arrays whose names end so."""
    series, places, values = (arrays[name + ending] for name in ("series", "places", "values"))
    return KnownValues.sorted(series, places, values)

"""The past of a model in its folder: arrays and JSON."""

from dataclasses import asdict
from pathlib import Path

import numpy as np

from easeml.modules.files import load_arrays, load_json, save_arrays, save_json
from easeml.modules.forecasting.known_values import KnownValues
from easeml.modules.forecasting.past import Past
from easeml.modules.forecasting.rule import Rule
from easeml.modules.forecasting.steps import Steps

_ARRAYS, _FACTS = "past.npz", "past.json"
_PLAIN_FACTS = ("anchor", "seasons", "middle", "deviation", "plain", "growth")


def save(past: Past, folder: Path) -> None:
    """Write the past into an existing folder."""
    known = past.known
    save_arrays(
        folder / _ARRAYS,
        keys=past.keys.astype(np.str_),
        series=known.series,
        places=known.places,
        values=known.values,
    )
    facts = {name: getattr(past, name) for name in _PLAIN_FACTS}
    save_json(folder / _FACTS, {**facts, "rule": asdict(past.rule), "steps": past.steps.to_json()})


def load(folder: Path) -> Past:
    """Return what ``save`` wrote. Raises ``Damaged``, or ``KeyError`` and ``TypeError`` for another
    form.
    """
    arrays = load_arrays(folder / _ARRAYS)
    facts = load_json(folder / _FACTS)
    rule = facts.pop("rule")
    steps = Steps.from_json(facts.pop("steps"))
    for name in ("seasons", "growth"):
        facts[name] = tuple(facts[name])
    return Past(
        rule=Rule(**{**rule, "series": tuple(rule["series"])}),
        steps=steps,
        keys=arrays["keys"],
        known=KnownValues.sorted(arrays["series"], arrays["places"], arrays["values"]),
        **facts,
    )

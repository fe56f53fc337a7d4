"""A parameter as Optuna stores it: a number, and a description of what it stands for."""

import json
from typing import Any


def external(stored: Any, distribution: Any) -> Any:
    """Return the value that a stored number stands for; None where its description is damaged."""
    try:
        described = json.loads(distribution)
        name, attributes = described["name"], described.get("attributes", {})
        if name == "CategoricalDistribution":
            return attributes["choices"][int(stored)]
        is_whole = name in (
            "IntDistribution",
            "IntUniformDistribution",
            "IntLogUniformDistribution",
        )
        return int(stored) if is_whole else float(stored)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
        return None

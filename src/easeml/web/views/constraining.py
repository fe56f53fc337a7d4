"""What a visitor wants tried of each model: fields of the wizard's form, and what they ask for.

Numbers have fields ``low.MODEL.PARAMETER`` and ``high.…``, empty where nothing is asked; a choice
offers ``offer.MODEL.PARAMETER`` for each of its values and gets ``only.…`` for those that were
left, as JSON.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

Field = tuple[str, str]
_BOUNDS = {"low": "from", "high": "to"}
_NOTHING = "[]"  # all values of a choice were left out


class Setting(NamedTuple):
    """A parameter that the wizard shows: a number with ``low`` and ``high``, or a choice."""

    name: str
    hint: str
    low: Any = None
    high: Any = None
    options: tuple[Any, ...] = ()


def constraint_fields(given: Iterable[Field]) -> tuple[Field, ...]:
    """Return the fields that ask for something, in a fixed order.

    These are bounds, and values where some were left out.
    """
    bounds: set[Field] = set()
    offered: defaultdict[str, set[str]] = defaultdict(set)
    kept: defaultdict[str, set[str]] = defaultdict(set)
    for name, value in given:
        kind, _, setting = name.partition(".")
        if "." not in setting:
            continue  # it names no parameter of a model
        if kind in _BOUNDS and value.strip():
            bounds.add((name, value.strip()))
        elif kind == "offer":
            offered[setting].add(value)
        elif kind == "only":
            kept[setting].add(value)
    values: set[Field] = set()
    for setting in {*offered, *kept}:
        if kept[setting] == offered[setting]:
            continue  # all of them may be tried
        left = kept[setting] or {_NOTHING}
        values |= {(f"only.{setting}", one) for one in left}
    return tuple(sorted(bounds | values))


def constraints(fields: Iterable[Field]) -> dict[str, dict[str, Any]]:
    """Return model -> parameter -> range or list of values, as a declaration has them."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in fields:
        kind, _, rest = name.partition(".")
        model, _, parameter = rest.partition(".")
        of_model = found.setdefault(model, {})
        if kind in _BOUNDS:
            of_model.setdefault(parameter, {})[kind] = _read(value)
            continue
        allowed = of_model.setdefault(parameter, [])
        if value != _NOTHING:
            allowed.append(_read(value))
    return found


def told(name: str, values: Sequence[str]) -> str:
    """Say what the fields of one name ask for."""
    kind, _, rest = name.partition(".")
    model, _, parameter = rest.partition(".")
    wanted = ", ".join(str(_read(value)) for value in values if value != _NOTHING) or "nothing"
    return f"{model}: {parameter} {_BOUNDS.get(kind, 'may be')} {wanted}"


def settings(space: Mapping[str, Any]) -> list[Setting]:
    """Return the parameters of a space that can be constrained here.

    These are numbers, and choices of plain values.
    """
    found = []
    for name, domain in space.items():
        if not isinstance(domain, dict):
            continue
        if ".choice" in domain and all(map(_is_plain, domain[".choice"])):
            found.append(Setting(name, "", options=tuple(domain[".choice"])))
        for kind, noun in ((".int", "whole numbers"), (".float", "numbers")):
            if kind in domain:
                low, high = domain[kind]
                found.append(Setting(name, f"{noun} from {low:g} to {high:g}", low, high))
    return found


def _is_plain(value: Any) -> bool:
    return not isinstance(value, dict | list)


def _read(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text

"""What a visitor wants tried of each model: fields of the wizard's form, and what they ask for.

Numbers have fields ``low.MODEL.PARAMETER`` and ``high.…``, empty where nothing is asked; a choice
offers ``offer.MODEL.PARAMETER`` for each of its values and gets ``only.…`` for those that were
left, as JSON.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

Field = tuple[str, str]
_BOUNDS = {"low": "from", "high": "to"}
_NUMBERS = {".int": "whole numbers", ".float": "numbers"}
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
    fields = [(name, value) for name, value in given if _is_of_parameter(name)]
    return tuple(sorted(_bounds(fields) | _values_left(fields)))


def _is_of_parameter(name: str) -> bool:
    """Tell whether a field is ``KIND.MODEL.PARAMETER``."""
    _, _, setting = name.partition(".")
    return "." in setting


def _bounds(fields: Iterable[Field]) -> set[Field]:
    """Return the bounds of numbers that say something."""
    found: set[Field] = set()
    for name, value in fields:
        kind, _, _ = name.partition(".")
        bound = value.strip()
        if kind in _BOUNDS and bound:
            found.add((name, bound))
    return found


def _values_left(fields: Iterable[Field]) -> set[Field]:
    """Return the values that were left of choices of which some were left out."""
    by_kind: dict[str, defaultdict[str, set[str]]] = {
        "offer": defaultdict(set),
        "only": defaultdict(set),
    }
    for name, value in fields:
        kind, _, setting = name.partition(".")
        if kind in by_kind:
            by_kind[kind][setting].add(value)

    offered = by_kind["offer"]
    kept = by_kind["only"]
    found: set[Field] = set()
    for setting in {*offered, *kept}:
        if kept[setting] == offered[setting]:
            continue  # all of them may be tried
        left = kept[setting] or {_NOTHING}
        found.update(product([f"only.{setting}"], left))
    return found


def constraints(fields: Iterable[Field]) -> dict[str, dict[str, Any]]:
    """Return model -> parameter -> range or list of values, as a declaration has them."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in fields:
        kind, model, parameter = _parts(name)
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
    kind, model, parameter = _parts(name)
    verb = _BOUNDS.get(kind, "may be")
    wanted = [str(_read(value)) for value in values if value != _NOTHING]
    said = ", ".join(wanted) or "nothing"
    return f"{model}: {parameter} {verb} {said}"


def _parts(name: str) -> tuple[str, str, str]:
    """Return kind, model and parameter of a field's name."""
    kind, _, setting = name.partition(".")
    model, _, parameter = setting.partition(".")
    return kind, model, parameter


def settings(space: Mapping[str, Any]) -> list[Setting]:
    """Return the parameters of a space that can be constrained here.

    These are numbers, and choices of plain values.
    """
    found = []
    for name, domain in space.items():
        if isinstance(domain, dict):
            found += _settings_of(name, domain)
    return found


def _settings_of(name: str, domain: Mapping[str, Any]) -> list[Setting]:
    """Return what can be constrained of one parameter."""
    found = []
    options = tuple(domain.get(".choice", ()))
    if ".choice" in domain and all(map(_is_plain, options)):
        found.append(Setting(name, "", options=options))
    for kind, noun in _NUMBERS.items():
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

"""Configuration spaces: what a configuration may hold, and completing one with its defaults.

A value of a space is a constant, or a mapping with ``.choice`` (a list), ``.int`` or ``.float`` (a pair of inclusive
bounds), and perhaps ``.scale`` (``log``) and ``.default``. Without ``.default`` it is the first choice, or the middle
of the bounds on the scale.
"""

import math
from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput

_KINDS = (".choice", ".int", ".float")


def default_of(domain: Any) -> Any:
    """Return the default of one value of a space."""
    if not _is_domain(domain):
        return domain
    if ".default" in domain:
        return domain[".default"]
    if ".choice" in domain:
        return domain[".choice"][0]
    low, high = domain.get(".int") or domain[".float"]
    middle = math.sqrt(low * high) if domain.get(".scale") == "log" else (low + high) / 2
    return round(middle) if ".int" in domain else middle


def complete(space: Mapping[str, Any], config: Mapping[str, Any], where: str = "config") -> dict[str, Any]:
    """Return ``config`` with the defaults of ``space`` filled in.

    Raises ``InvalidInput`` naming the key for an unknown name or a value outside its domain.
    """
    unknown = sorted(set(config) - set(space))
    if unknown:
        known = ", ".join(space) or "none"
        raise InvalidInput(f"There is no parameter {unknown[0]!r}.", where=where, remedy=f"Parameters: {known}.")
    for name, value in config.items():
        reason = _why_not(space[name], value)
        if reason:
            raise InvalidInput(f"{value!r} is not allowed.", where=f"{where}.{name}", remedy=reason)
    return {name: config.get(name, default_of(domain)) for name, domain in space.items()}


def check_space(space: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` where a value of the space is not of the language or its default not allowed."""
    for name, domain in space.items():
        place = f"{where}.{name}"
        if not _is_domain(domain):
            continue
        if sum(kind in domain for kind in _KINDS) != 1:
            raise InvalidInput("A domain has one of .choice, .int, .float.", where=place)
        unknown = set(domain) - {*_KINDS, ".scale", ".default"}
        if unknown:
            raise InvalidInput(f"Unknown key {min(unknown)!r}.", where=place)
        reason = _malformed(domain) or _why_not(domain, default_of(domain))
        if reason:
            raise InvalidInput(reason, where=place)


def _is_domain(domain: Any) -> bool:
    return isinstance(domain, Mapping) and any(str(key).startswith(".") for key in domain)


def _malformed(domain: Mapping[str, Any]) -> str:
    if ".choice" in domain:
        return "" if isinstance(domain[".choice"], list) and domain[".choice"] else ".choice is a list of values."
    bounds = domain.get(".int", domain.get(".float"))
    if not (isinstance(bounds, list) and len(bounds) == 2 and bounds[0] <= bounds[1]):
        return "Bounds are a pair, the lower one first."
    if domain.get(".scale", "linear") not in ("linear", "log"):
        return ".scale is linear or log."
    return "A log scale needs bounds above 0." if domain.get(".scale") == "log" and bounds[0] <= 0 else ""


def _why_not(domain: Any, value: Any) -> str:
    if not _is_domain(domain):
        return "" if value == domain else f"It is the constant {domain!r}."
    if ".choice" in domain:
        return "" if value in domain[".choice"] else f"Choose one of {domain['.choice']}."
    low, high = domain.get(".int") or domain[".float"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return f"Give a number from {low} to {high}."
    return "Give a whole number." if ".int" in domain and value != int(value) else ""

"""The parameters of a tool, as forms and commands offer them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter

_TYPES = {"number": "number", "integer": "integer", "boolean": "boolean", "string": "text"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. ``type``: number, integer, boolean, text or choice, of ``choices``.

    ``least`` and ``most``: its range. ``unit``: of its value, as ``Field(json_schema_extra={"unit":
    "..."})`` says it.
    """

    name: str
    type: str
    about: str
    unit: str
    default: Any
    least: float | None
    most: float | None
    choices: tuple[str, ...]


def parameters_of(config: type) -> list[Parameter]:
    """Return the parameters that a tool's configuration declares, in order."""
    declared = TypeAdapter(config).json_schema().get("properties", {})
    return [_parameter(one.name, one.default, declared[one.name]) for one in fields(config)]


def _parameter(name: str, default: Any, told: dict[str, Any]) -> Parameter:
    branch = _branch(told)
    choices = tuple(branch.get("enum", ()))
    return Parameter(
        name=name,
        type="choice" if choices else _TYPES.get(branch.get("type", ""), "text"),
        about=told.get("description", ""),
        unit=told.get("unit", ""),
        default=default,
        least=branch.get("minimum", branch.get("exclusiveMinimum")),
        most=branch.get("maximum", branch.get("exclusiveMaximum")),
        choices=choices,
    )


def _branch(told: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a value that may also be null."""
    for branch in told.get("anyOf", ()):
        if branch.get("type") != "null":
            return {**told, **branch}
    return told

"""What made a version of an application's data, in plain words."""

from collections.abc import Callable, Mapping
from typing import Any


def change_of(operation: Mapping[str, Any], added: Mapping[str, int]) -> str:
    """Say what made a version: rows fed, rows switched off or on, a declaration.

    ``operation``: of a version. ``added``: how many rows it added, by role.
    """
    say = _SAID.get(operation["name"])
    if say is None:
        return str(operation.get("filename") or operation["name"])
    return say(operation, added)


def _declared(_operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    return "columns and target declared"


def _fed(operation: Mapping[str, Any], added: Mapping[str, int]) -> str:
    fed = f"{operation['filename']} fed"
    rows = ", ".join(f"{count} {role}" for role, count in added.items())
    return f"{fed}, {rows} added" if rows else fed


def _replaced(operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    return f"{operation['filename']} in place of all rows"


def _refined(operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    counts = [f"{len(operation[way])} {way}" for way in ("off", "on") if operation[way]]
    return f"rows switched: {', '.join(counts)}"


def _answered(operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    return f"{len(operation['labels']) + len(operation['cells'])} answers of people"


def _flowed(operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    return f"flow to {operation['title']}"


def _retired(operation: Mapping[str, Any], _added: Mapping[str, int]) -> str:
    bought = len(operation["labels"])
    beside = f", and {bought} rows with bought labels" if bought else ""
    return f"{operation['rows']} worn-out test rows became train rows{beside}"


_SAID: dict[str, Callable[[Mapping[str, Any], Mapping[str, int]], str]] = {
    "declare": _declared,
    "feed": _fed,
    "refine": _refined,
    "answer": _answered,
    "flow": _flowed,
    "replace": _replaced,
    "retire": _retired,
}

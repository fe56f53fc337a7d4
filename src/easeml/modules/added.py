"""Objectives that were added to a running easeml, as this process was told of them.

A task, and a process that serves, know no database: they are told the text of the objective that
they measure by, and find it here by its name. Every other objective is installed.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from easeml.errors import NotFound

from .contract import Objective
from .module import parse
from .objective_programs import MOST_SECONDS
from .registry import load_registry

_told: dict[str, Objective] = {}


def tell(source: str, seconds: float = MOST_SECONDS) -> None:
    """Let this process know an added objective, by its text; nothing for an empty one.

    ``seconds``: how long it may measure. Raises ``InvalidInput``.
    """
    if source:
        module = parse(source, "module.toml")
        _told[module.name] = replace(module.make(), seconds=seconds)


def objective_named(name: str) -> Objective:
    """Return an objective, added or installed. Raises ``NotFound``."""
    return _told.get(name) or _installed(name)


def objective_for(name: str, classes: Any) -> Objective:
    """Return an objective that knows the labels of the target; ``classes`` is None for a number.

    Raises ``NotFound``, and ``InvalidInput`` for a label that is none of the target.
    """
    found = objective_named(name)
    for_classes = getattr(found, "for_classes", None)
    if for_classes is None or classes is None:
        return found
    return for_classes(list(map(str, classes)))


@cache
def _installed(name: str) -> Objective:
    module = load_registry().get(name)
    if module.kind != "objective":
        raise NotFound(
            f"{name} is a {module.kind}, not an objective.",
            remedy="`easeml module list --kind objective` names them.",
        )
    return module.make()

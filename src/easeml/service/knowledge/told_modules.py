"""Which modules a task is told of, by the JSON of its spec."""

import json
from collections.abc import Mapping
from typing import Any

from easeml.modules import Module, load_registry, packed
from easeml.service.knowledge import knowledge_base


def names(payload: Mapping[str, Any]) -> set[str]:
    """Return the names of the modules, each once."""
    return {str(one["module"]) for one in _objects(payload) if one.get("module")}


def modules(payload: Mapping[str, Any]) -> list[Module]:
    """Return the modules, each once: added ones are told by their texts, others by their names."""
    named = names(payload)
    found = {}
    for module in load_registry().modules:
        if module.name in named:
            found[module.name] = module
    for one in _objects(payload):
        text = str(one.get("source", ""))
        if packed.MARK in text:
            module = knowledge_base.read_added(text)
            found[module.name] = module
    return list(found.values())


def _objects(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every object in the JSON of a task, however deep."""
    told: list[dict[str, Any]] = []
    json.loads(json.dumps(payload), object_hook=told.append)
    return told

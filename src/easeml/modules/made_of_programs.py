"""What runs the programs of a folder, or of an image: by the contract that they are written for."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .prototype.description import CONTRACTS

_CLASSES = {
    "model": "process:ProcessModel",
    "transform": "transform_programs:ProcessTransform",
    "objective": "objective_programs:ProcessObjective",
    "optimizer": "optimizer_programs:ProcessOptimizer",
}
_OF_PROTOTYPE = {
    "model": "PrototypeModel",
    "objective": "PrototypeObjective",
    "optimizer": "PrototypeOptimizer",
}


def made(contract: str, kind: str, given: Mapping[str, Any]) -> Any:
    """Return what runs programs of a kind; ``given``: the fields of its class."""
    if contract in CONTRACTS:
        of_prototype = import_module("easeml.modules.prototype.programs")
        more = {"contract": contract} if kind == "model" else {}
        return getattr(of_prototype, _OF_PROTOTYPE[kind])(**given, **more)
    module, _, name = _CLASSES[kind].partition(":")
    return getattr(import_module(f"easeml.modules.{module}"), name)(**given)

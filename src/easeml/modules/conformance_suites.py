"""Which checks a module has to pass before it is used."""

from . import (
    conformance,
    conformance_of_objectives,
    conformance_of_optimizers,
    conformance_of_transforms,
)
from .conformance import ConformanceCheck
from .module import Module
from .prototype.description import CONTRACTS

_OF_PROGRAMS: dict[str, tuple[ConformanceCheck, ...]] = {
    "model": conformance.OF_PROGRAMS,
    "transform": conformance_of_transforms.OF_PROGRAMS,
    "objective": conformance_of_objectives.OF_PROGRAMS,
    "optimizer": conformance_of_optimizers.OF_PROGRAMS,
}
_OF_PROTOTYPE: dict[str, tuple[ConformanceCheck, ...]] = {
    "model": conformance.OF_PROGRAMS,
    "objective": conformance_of_objectives.OF_PROTOTYPE,
    "optimizer": conformance_of_optimizers.OF_PROTOTYPE,
}


def checks_of(module: Module) -> tuple[ConformanceCheck, ...]:
    """Return the checks that a folder of programs, or a model that is a class, has to pass.

    All others stand on the first.
    """
    if module.contract in CONTRACTS:
        return _OF_PROTOTYPE[module.kind]
    return _OF_PROGRAMS[module.kind] if module.is_programs else conformance.CHECKS

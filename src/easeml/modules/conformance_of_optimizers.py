"""What a folder with the program ``suggest`` has to do: what every optimizer does.

The suite of all optimizers is ``easeml.search.optimizers.conformance``.
"""

from pathlib import Path

from easeml.search.optimizers import conformance

from .module import Module
from .registry import Registry


def check_proposals(module: Module, registry: Registry, folder: Path) -> None:
    """Suggestions are of the space, new, different, and the same when asked again."""
    conformance.check_proposals(module.make())


def check_used_up(module: Module, registry: Registry, folder: Path) -> None:
    """A small space is suggested whole, and then no more."""
    conformance.check_used_up(module.make())


def check_equal_qualities(module: Module, registry: Registry, folder: Path) -> None:
    """Where all qualities are equal, it goes on."""
    conformance.check_equal_qualities(module.make())


def check_suggestions(module: Module, registry: Registry, folder: Path) -> None:
    """Suggestions are of the space, and some of them are new, also when there is a history."""
    conformance.check_suggestions(module.make())


OF_PROTOTYPE = (check_suggestions,)
"""Its contract knows no seed and no history: it may draw again what was tried."""

OF_PROGRAMS = (check_proposals, check_used_up, check_equal_qualities)
"""The first stands for itself: what it finds wrong, all others would find as well."""

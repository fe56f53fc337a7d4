"""What every installed transform has to do: a model behind it passes the suite of models.

``check(module, registry, folder)`` raises ``AssertionError`` with what is wrong. ``OF_PROGRAMS`` are
those of a folder of programs, one by one, as a service runs them.
"""

from dataclasses import replace
from functools import lru_cache, wraps
from pathlib import Path

from easeml.modules import conformance
from easeml.modules.module import Module
from easeml.modules.registry import Registry
from easeml.schema import Schema

_MODEL = "ridge"  # quick, and it wants complete numbers of like size
_SCALING = "scale"


def check(module: Module, registry: Registry, folder: Path) -> None:
    """Run all checks of models on one that has the transform before it.

    A transform of tables stands first; one of features stands behind those that every table takes.
    """
    model, extended = behind(module, registry)
    for each in conformance.CHECKS:
        place = folder / each.__name__
        place.mkdir()
        each(model, extended, place)


def behind(transform: Module, registry: Registry) -> tuple[Module, Registry]:
    """Return a model with the transform before it, and the registry with this model for its own."""
    assert transform.schema_in is not None, f"{transform.name}: a transform has an input schema"
    model = registry.get(_MODEL)
    table = Schema.from_json(conformance.schemas(model, registry)[0])
    takes_tables = not transform.schema_in.why_not(table)
    chain = (transform.name, _SCALING) if takes_tables else (*model.transforms, transform.name)
    changed = replace(model, transforms=chain)
    others = [one for one in registry.modules if one.name != model.name]
    return changed, replace(registry, modules=(*others, changed))


@lru_cache(maxsize=1)  # checks look at the same trained model where the registry is the same
def _behind_named(name: str, registry: Registry) -> tuple[Module, Registry]:
    return behind(registry.get(name), registry)


def _behind_it(check_it: conformance.ConformanceCheck) -> conformance.ConformanceCheck:
    """Return a check of models, run on one that has the transform before it."""

    @wraps(check_it)
    def run(module: Module, registry: Registry, folder: Path) -> None:
        model, extended = _behind_named(module.name, registry)
        check_it(model, extended, folder)

    return run


OF_PROGRAMS = tuple(
    _behind_it(one) for one in conformance.OF_PROGRAMS if one is not conformance.check_killed
)
"""All stand on the first."""

"""What every installed transform has to do: a model behind it passes the suite of models.

``check(module, registry, folder)`` raises ``AssertionError`` with what is wrong.
"""

from dataclasses import replace
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

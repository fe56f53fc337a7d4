"""Optimizers by name: those that are installed, and folders of programs that were added."""

from easeml.errors import InvalidInput
from easeml.modules import Module, Registry
from easeml.search.optimizers import Optimizer, installed_optimizers


def optimizer_of(registry: Registry, name: str, tenant_id: str = "") -> Optimizer | Module:
    """Return the optimizer of a name; an archived one gives way to what has taken its place.

    ``tenant_id``: who asks, and may have private ones; empty: only what is everybody's. Raises
    ``InvalidInput`` where there is none.
    """
    registry = registry.seen_by(tenant_id)
    installed = installed_optimizers()
    if name in ("default", *installed.by_name):
        return installed.named(name)
    added = {module.name: module for module in registry.of_kind("optimizer")}
    usable = [one for one in added if one not in registry.archived]
    if name in usable:
        return added[name]
    if name in registry.archived:
        for newer in added.values():
            if name in newer.replaces:
                return optimizer_of(registry, newer.name, tenant_id)
    known = [*installed.by_name, *usable]
    raise InvalidInput(
        f"There is no optimizer {name!r}.",
        where="optimizer",
        remedy=" ".join([f"Use default or one of: {', '.join(known)}.", *installed.problems]),
    )


def title_of(name: str) -> str:
    """Return what an installed optimizer is called: TPE, Random."""
    is_acronym = len(name) == 3
    return name.upper() if is_acronym else name.capitalize()


def choices(registry: Registry, tenant_id: str) -> dict[str, str]:
    """Return the optimizers that a tenant may choose: names with titles."""
    installed = {name: title_of(name) for name in installed_optimizers().by_name}
    seen = registry.seen_by(tenant_id)
    added = [one for one in seen.of_kind("optimizer") if one.name not in registry.archived]
    return {**installed, **{one.name: one.title for one in added}}

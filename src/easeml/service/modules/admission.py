"""What may be added as a module, by whom, and under which name."""

import re
from importlib.util import find_spec
from typing import NoReturn

from easeml.contract.knowledge import LARGEST_MODULE, NewModule
from easeml.contract.states import ModuleState
from easeml.errors import Conflict, InvalidInput, NotAllowed, OverQuota, TooLarge
from easeml.modules import Module, Registry, load_registry
from easeml.search.optimizers import installed_optimizers
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.settings import Settings
from easeml.store import Transaction
from easeml.store.records import ModuleMark

MOST_PRIVATE = 20  # modules of a tenant; each is read with the knowledge base
_TRUSTED = ("easeml.zoo", "sklearn", "xgboost", "catboost")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FILE = "module.toml"


def trusted_packages(settings: Settings) -> list[str]:
    """Return the packages that a class may come from.

    They are those of every easeml, those that the installed modules need, as who installed these
    has trusted them, and those of the settings.
    """
    of_modules = [name.partition(".")[0] for name in load_registry().libraries]
    of_settings = map(str.strip, settings.module_packages.split(","))
    return list(dict.fromkeys([*_TRUSTED, *of_modules, *filter(None, of_settings)]))


def check_wish(caller: Caller, wish: NewModule) -> None:
    """Raise ``NotAllowed`` where this is for providers, ``TooLarge`` for too long a text."""
    if not (wish.private or caller.is_provider):
        raise NotAllowed(
            "Only a provider of this easeml adds modules for everybody.",
            remedy="Add a folder of programs with --private, for your tenant alone.",
        )
    if len(wish.toml.encode()) > LARGEST_MODULE:
        raise TooLarge(f"A module file has at most {LARGEST_MODULE:,} bytes.", where=_FILE)


def check_module(
    module: Module, settings: Settings, trusted: list[str], *, is_private: bool
) -> None:
    """Raise ``InvalidInput`` or ``Conflict`` for a module that no service takes, or not this one.

    ``trusted``: packages that a class may come from. Nothing is imported.
    """
    _check_kind(module)
    if module.kind == "optimizer":
        _check_optimizer(module)
    if module.is_programs:
        _check_isolation(settings)
    elif is_private:
        raise InvalidInput(
            "Only a folder of programs can be private: programs run confined.",
            where=f"{_FILE}: runtime",
            remedy="Begin with `easeml module init`, or ask a provider to add the class.",
        )
    else:
        _check_trust(module, trusted)


def check_new(tx: Transaction, module: Module, owner: str) -> None:
    """Raise ``Conflict`` for a name that is taken, ``OverQuota`` for one private module too many.

    ``owner``: the tenant it will be private to; empty: it will be everybody's. Raises
    ``InvalidInput`` for transforms that do not exist, and for what it cannot replace.
    """
    registry = knowledge_base.current(tx)
    mark = tx.module_marks.find(id=module.name)
    _check_name_is_free(registry, module, mark, owner)
    if mark is None and owner:
        _check_number(tx, owner)
    for name in module.replaces:
        _check_replaced(registry, module, name, owner)
    _check_transforms(registry, module)


def _check_kind(module: Module) -> None:
    """Raise ``InvalidInput`` for a kind that cannot be added, and a name that is none."""
    if module.kind != "model" and not module.is_programs:
        raise InvalidInput(
            f"This is a {module.kind} that is a class: only models can be added so.",
            where=f"{_FILE}: kind",
            remedy="Install its package, or write it as a folder of programs.",
        )
    if not _NAME.fullmatch(module.name):
        raise InvalidInput(
            "The name has lower-case letters, digits and dashes.", where=f"{_FILE}: name"
        )


def _check_optimizer(module: Module) -> None:
    """Raise ``Conflict`` for an optimizer with the name of an installed one."""
    if module.name in ("default", *installed_optimizers().by_name):
        _refuse_name(module, "")


def _check_isolation(settings: Settings) -> None:
    """Raise ``Conflict`` unless the provider has tasks confined: programs are anybody's code."""
    if settings.isolation == "none":
        raise Conflict(
            "This service takes no programs: its isolation level is none.",
            where="isolation",
            remedy="Ask the provider to start it with --isolation process.",
        )


def _check_trust(module: Module, trusted: list[str]) -> None:
    """Raise ``InvalidInput`` unless the class is of an installed, trusted package."""
    package = module.entry.partition(":")[0]
    beginnings = tuple(f"{one}." for one in trusted)
    if not f"{package}.".startswith(beginnings):
        remedy = f"Name a class of {', '.join(trusted)}; the setting module_packages names more."
        raise InvalidInput(
            f"The package of {module.entry} is not trusted.", where=f"{_FILE}: entry", remedy=remedy
        )
    top = package.partition(".")[0]
    if find_spec(top) is None:
        remedy = f"Install {top} on every machine with a worker, or name another class."
        raise InvalidInput(
            f"The package {top} is not installed.", where=f"{_FILE}: entry", remedy=remedy
        )


def _check_name_is_free(
    registry: Registry, module: Module, mark: ModuleMark | None, owner: str
) -> None:
    """Raise ``Conflict`` for a name that is taken. What has failed may be added anew."""
    known = mark or ModuleMark(module.name, tenant_id=owner)
    if known.tenant_id != owner:
        _refuse_name(module, "")  # no more is said of it: whoever asks may not see it
    older = _named(registry, module.name)
    if older is not None:
        _refuse_name(module, f" {older.version}")
    if known.state in (ModuleState.CHECKING, ModuleState.READY):
        _refuse_name(module, ", which is being checked")


def _refuse_name(module: Module, which: str) -> NoReturn:
    raise Conflict(
        f"There is a module {module.name}{which} already.",
        where=f"{_FILE}: name",
        remedy="Give the new one another name, such as NAME-v2, and write replaces = ['NAME'] to "
        "have it take the place of the old one.",
    )


def _check_number(tx: Transaction, owner: str) -> None:
    """Raise ``OverQuota`` where a tenant has as many private modules as it may have."""
    if tx.module_marks.count(tenant_id=owner) >= MOST_PRIVATE:
        raise OverQuota(
            f"A tenant may have {MOST_PRIVATE} private modules, archived and failed ones as well.",
            where=f"{_FILE}: name",
            remedy="Mend one that failed, or ask a provider to add this one for everybody.",
        )


def _check_replaced(registry: Registry, module: Module, name: str, owner: str) -> None:
    """Raise ``InvalidInput`` unless a new module may replace the one with this name."""
    if not _can_replace(registry, module, name, owner):
        whose = "private to your tenant" if owner else "everybody's"
        raise InvalidInput(
            f"There is no {module.kind} {name!r} that this one can replace.",
            where=f"{_FILE}: replaces",
            remedy=f"Name a {module.kind} that is {whose}.",
        )


def _can_replace(registry: Registry, module: Module, name: str, owner: str) -> bool:
    """Tell whether the module with this name is of the same kind and owner, and may go."""
    if registry.private.get(name, "") != owner:
        return False
    older = _named(registry, name)
    if older is None or older.kind != module.kind:
        return False
    return older.kind != "objective" or bool(older.source)  # the installed ones stay


def _named(registry: Registry, name: str) -> Module | None:
    """Return the module of exactly this name, which is no member of a family."""
    return next((module for module in registry.modules if module.name == name), None)


def _check_transforms(registry: Registry, module: Module) -> None:
    """Raise ``InvalidInput`` where a module names transforms that there are not."""
    known = {one.name for one in registry.of_kind("transform")}
    for name in module.transforms:
        message = f"There is no transform {name!r}."
        knowledge_base.check_known(name, known, message, f"{_FILE}: transforms")

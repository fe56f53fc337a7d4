"""What the programs of added modules run in: the images and environments that modules declare.

Any text may name one, such as a comment in a program of another tenant. So a name alone brings
nothing to a machine: a module has to declare it that may be called there. What modules declare was
stored by their tenant, or built for it, and modules are kept for ever.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from easeml.contract.states import ModuleState
from easeml.errors import EasemlError, InvalidInput
from easeml.modules import Module
from easeml.modules.containers import images
from easeml.modules.environments import placing, requirements
from easeml.service.knowledge import knowledge_base
from easeml.store import Transaction
from easeml.store.records import ModuleMark

_GOOD = (ModuleState.CHECKING, ModuleState.READY)


def check_unnamed(module: Module) -> None:
    """Raise ``InvalidInput`` for a new module that names an environment, or an image of others."""
    named = _named_in(module.source) - {module.image}
    if named or module.environment:
        raise InvalidInput(
            "The environment of a module is made by the service, and it has one image.",
            where=f"module.toml: {min(named, default='environment')}",
            remedy=f"Leave the name out; name packages in {requirements.FILE}.",
        )


def usable(tx: Transaction, tenant_id: str, texts: bytes) -> set[str]:
    """Return which of the images and environments that ``texts`` name a tenant's tasks may run in.

    They are those of modules that are everybody's, or the tenant's own.
    """
    named = _named_in(texts.decode(errors="replace"))
    if not named:
        return set()
    sources = tx.module_marks.column("source", tenant_id=["", tenant_id])
    concerned = [source for source in sources if named & _named_in(source)]
    return named & set(_declared(concerned))


def in_use(tx: Transaction) -> set[str]:
    """Return what the programs of all modules run in that may still be called.

    Those that failed their checks, and those that were archived and have trained nothing, are not.
    """
    used = set(tx.unscoped().candidates.column("model"))

    def may_be_called(mark: ModuleMark) -> bool:
        return mark.id in used or not mark.archived

    marks = tx.module_marks.list(state=_GOOD, limit=None)
    return set(_declared(mark.source for mark in filter(may_be_called, marks)))


def _named_in(text: str) -> set[str]:
    written = text.encode()
    return images.named_in(written) | placing.named_in(written)


def _declared(sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        with suppress(EasemlError):  # it was added to an older release
            module = knowledge_base.read_added(source)
            yield module.image
            yield module.environment

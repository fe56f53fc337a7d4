"""The knowledge base as this process knows it."""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from easeml.contract.states import ModuleState
from easeml.contract.tasks import Pipeline
from easeml.errors import EasemlError, InvalidInput
from easeml.modules import Module, Registry, load_registry, parse
from easeml.store import Transaction
from easeml.store.records import Candidate


def current(tx: Transaction, installed: Registry | None = None) -> Registry:
    """Return the whole knowledge base: what is installed and what was added.

    It holds the private modules of all tenants: ``of_tenant`` is for what a tenant asks. Archived
    models fit nothing.
    """
    return _with_added(tx, installed or load_registry(), {})


def of_tenant(tx: Transaction, tenant_id: str) -> Registry:
    """Return the knowledge base of a tenant: what is everybody's and what is private to them."""
    return _with_added(tx, load_registry(), {"tenant_id": ["", tenant_id]})


def _with_added(tx: Transaction, installed: Registry, wanted: dict[str, list[str]]) -> Registry:
    """Return ``installed`` with the added modules of the ``wanted`` tenants."""
    # The caller may have handed over a whole knowledge base; what was added is read anew.
    own = {module.name: module for module in installed.modules if not module.source}
    added: dict[str, Module] = {}
    owners: dict[str, str] = {}
    problems = list(installed.problems)
    found = tx.module_marks.pick("id", "source", "tenant_id", state=ModuleState.READY, **wanted)
    for name, source, tenant_id in found:
        try:
            module = read_added(source)
        except EasemlError as error:  # it was added to an older release
            problems.append(str(error))
            continue
        if name in own:
            problems.append(f"The added model {name!r} gives way to an installed one of that name.")
            continue
        added[name] = module
        owners[name] = tenant_id
    put_away = dict(tx.module_marks.pick("id", "error", archived=True))
    return replace(
        installed,
        modules=(*own.values(), *added.values()),
        problems=tuple(problems),
        archived=frozenset(put_away),
        faulty=frozenset(name for name, fault in put_away.items() if fault),
        private={name: owner for name, owner in owners.items() if owner},
    )


@lru_cache(1000)
def read_added(source: str) -> Module:
    """Return the module that a text describes. Raises ``InvalidInput``, ``SchemaError``."""
    return replace(parse(source, "module.toml"), source=source)


def objectives(tx: Transaction, names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return title and sentence of objectives by name.

    They are the name and nothing where it is no longer installed.
    """
    told = {name: (name, "") for name in names}
    lacking: list[str] = []
    for name in told:
        try:
            module = load_registry().get(name)
        except EasemlError:  # no longer installed, or added while easeml ran
            lacking.append(name)
        else:
            told[name] = (module.title, module.about)
    if lacking:
        told.update(_added_objectives(tx, lacking))
    return told


def _added_objectives(tx: Transaction, names: list[str]) -> dict[str, tuple[str, str]]:
    """Return title and sentence of those of these objectives that were added."""
    found: dict[str, tuple[str, str]] = {}
    for source in sources_of(tx, names):
        module = read_added(source)
        found[module.name] = (module.title, module.about)
    return found


def objective_source(tx: Transaction, name: str) -> str:
    """Return the text of an objective that was added; empty for one that is installed.

    Whose it is was decided when an application named it.
    """
    mark = tx.module_marks.find(id=name, state=ModuleState.READY)
    return mark.source if mark else ""


def sources_of(tx: Transaction, names: Iterable[str]) -> list[str]:
    """Return the texts of those of these modules that were added."""
    return tx.module_marks.column("source", id=sorted(names), state=ModuleState.READY)


def pipeline_of(registry: Registry, candidate: Candidate) -> Pipeline:
    """Return what a task is told of a candidate: whole, also where its modules are not installed."""
    pipeline = candidate.pipeline
    transforms = [registry.get(one.module).choice(one.config) for one in pipeline.transforms]
    model = registry.get(candidate.model).choice(pipeline.model.config)
    told = {**pipeline.to_json(), "transforms": transforms, "model": model}
    return Pipeline.model_validate(told)


def check_known(name: str, known: Iterable[str], message: str, where: str) -> None:
    """Raise ``InvalidInput`` with this message, and a remedy, for a name that is not known."""
    if name not in known:
        raise InvalidInput(message, where=where, remedy=likely(name, known))


def likely(word: str, known: Iterable[str]) -> str:
    """Return a remedy that names what ``word`` was probably meant to be, or else all that is known."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"There are: {', '.join(known)}."

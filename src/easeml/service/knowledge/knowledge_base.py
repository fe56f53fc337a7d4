"""The knowledge base as this process knows it."""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, lru_cache

from easeml.contract.states import ModuleState
from easeml.contract.tasks import Pipeline
from easeml.errors import EasemlError
from easeml.modules import Module, Registry, load_registry, parse
from easeml.store import Transaction
from easeml.store.records import Candidate


@cache
def registry() -> Registry:
    """Return the modules that are installed; they are looked for once in a process."""
    return load_registry()


def current(tx: Transaction, installed: Registry | None = None) -> Registry:
    """Return the whole knowledge base: what is installed and what was added.

    Archived models fit nothing.
    """
    installed = installed or registry()
    names, problems = {module.name for module in installed.modules}, list(installed.problems)
    added: list[Module] = []
    for name, source in tx.module_marks.pick("id", "source", state=ModuleState.READY):
        try:
            module = read_added(source)
        except EasemlError as error:  # it was added to an older release
            problems.append(str(error))
            continue
        if name in names:
            problems.append(f"The added model {name!r} gives way to an installed one of that name.")
        else:
            added.append(module)
    archived = frozenset(name for (name,) in tx.module_marks.pick("id", archived=True))
    return replace(
        installed, modules=(*installed.modules, *added), problems=tuple(problems), archived=archived
    )


@lru_cache(1000)
def read_added(source: str) -> Module:
    """Return the module that a text describes. Raises ``InvalidInput``, ``SchemaError``."""
    return replace(parse(source, "module.toml"), source=source)


def objective(name: str) -> tuple[str, str]:
    """Return title and sentence of an objective; its name and nothing if it is no longer installed."""
    found = next((one for one in registry().modules if one.name == name), None)
    return (found.title, found.about) if found else (name, "")


def pipeline_of(registry: Registry, candidate: Candidate) -> Pipeline:
    """Return what a task is told of a candidate: whole, also where its model is not installed."""
    pipeline = candidate.pipeline
    whole = registry.get(candidate.model).choice(pipeline.model.config)
    return Pipeline.model_validate({**pipeline.to_json(), "model": whole})


def likely(word: str, known: Iterable[str]) -> str:
    """Return a remedy that names what ``word`` was probably meant to be, or else all that is known."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(known)}."

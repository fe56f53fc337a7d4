"""The knowledge base as this process knows it."""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from easeml.modules import Registry, load_registry
from easeml.store import Transaction


@cache
def registry() -> Registry:
    """Return the modules that are installed; they are looked for once in a process."""
    return load_registry()


def without_archived(tx: Transaction, registry: Registry) -> Registry:
    """Return a knowledge base in which models that the provider archived fit nothing."""
    return replace(registry, archived=frozenset(name for (name,) in tx.module_marks.pick("id", archived=True)))


def likely(word: str, known: Iterable[str]) -> str:
    """Return a remedy that names what ``word`` was probably meant to be, or else all that is known."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(known)}."

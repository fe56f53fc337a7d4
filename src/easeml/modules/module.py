"""A module as its TOML file describes it, and reading that file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from easeml.errors import InvalidInput
from easeml.search import spaces

from .accepts import Accepts
from .contract import CONTRACT_VERSION

KINDS = ("model", "transform", "objective")
_KEYS = {
    "name", "kind", "version", "contract", "title", "about", "transforms", "rank", "runtime", "resources", "cost",
    "space", "schema_in", "schema_out", "replaces",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """Something that can be plugged in.

    A model has both schemas; a transform too; an objective has ``schema_in``, compared with an output schema. Of
    several schemas one has to match. ``about`` is a sentence for people who do not know it. ``transforms`` names what
    stands before a model, in order. A transform ``replaces`` others where these do not take the data: whatever model
    names one of them gets this one instead.
    ``rank`` orders modules of a kind that fit alike, the lowest first. ``entry`` is ``package.module:Class``.
    ``resources``: ``retries`` after a failure, ``memory`` in bytes. ``cost``: hints for predicting device seconds
    from rows and columns.
    """

    name: str
    kind: str
    version: str
    title: str
    about: str
    entry: str
    schema_in: Accepts | None
    schema_out: Accepts | None
    space: Mapping[str, Any]
    transforms: tuple[str, ...]
    rank: int
    resources: Mapping[str, Any]
    cost: Mapping[str, float]
    replaces: tuple[str, ...] = ()

    def make(self) -> Any:
        """Import the class and return an object of it. Raises ``InvalidInput`` where there is no such class."""
        package, _, name = self.entry.partition(":")
        try:
            return getattr(import_module(package), name)()
        except (ImportError, AttributeError) as error:
            remedy = "Install the package that the module needs."
            raise InvalidInput(f"{self.entry} cannot be loaded: {error}", where=self.name, remedy=remedy) from error


def parse(text: str, where: str) -> Module:
    """Read the text of a module file; ``where`` names it. Raises ``InvalidInput`` with the key that is wrong."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"This is not TOML: {error}", where=where) from error
    _check(document, where)
    space = document.get("space", {})
    spaces.check(space, f"{where}: space")
    return Module(
        name=document["name"],
        kind=document["kind"],
        version=document["version"],
        title=document["title"],
        about=document.get("about", ""),
        entry=document["runtime"]["entry"],
        schema_in=_accepts(document, "schema_in"),
        schema_out=_accepts(document, "schema_out"),
        space=space,
        transforms=tuple(document.get("transforms", ())),
        rank=document.get("rank", 100),
        resources=document.get("resources", {}),
        cost=document.get("cost", {}),
        replaces=tuple(document.get("replaces", ())),
    )


def _check(document: dict[str, Any], where: str) -> None:
    unknown = sorted(set(document) - _KEYS)
    if unknown:
        raise InvalidInput(f"Unknown key {unknown[0]!r}.", where=where, remedy=f"Keys: {', '.join(sorted(_KEYS))}.")
    for key in ("name", "version", "title"):
        if not (isinstance(document.get(key), str) and document[key]):
            raise InvalidInput(f"{key} is missing or not text.", where=where)
    if document.get("kind") not in KINDS:
        raise InvalidInput("kind is not known.", where=where, remedy=f"Kinds: {', '.join(KINDS)}.")
    if document.get("contract") != CONTRACT_VERSION:
        remedy = f"Install a release of the module for contract {CONTRACT_VERSION}."
        raise InvalidInput("contract is of another version.", where=where, remedy=remedy)
    runtime = document.get("runtime", {})
    if runtime.get("kind") != "python" or ":" not in str(runtime.get("entry", "")):
        remedy = "Write runtime.entry = 'package.module:Class'."
        raise InvalidInput("runtime is not a python class.", where=where, remedy=remedy)
    needed = ("schema_in",) if document["kind"] == "objective" else ("schema_in", "schema_out")
    for key in needed:
        if key not in document:
            raise InvalidInput(f"{key} is missing.", where=where)


def _accepts(document: dict[str, Any], key: str) -> Accepts | None:
    return Accepts.from_document(document[key]) if key in document else None

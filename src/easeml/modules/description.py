"""What the TOML file of a module may say: its keys, and the short forms of its schemas."""

from collections.abc import Mapping
from typing import Any

from easeml.errors import InvalidInput
from easeml.search import spaces
from easeml.search.costs import checked_hints
from easeml.search.numbers import is_number

from . import packed
from .contract import CONTRACT_VERSION
from .prototype import description as prototype

KINDS = ("model", "transform", "objective", "optimizer")
_TYPES: dict[str, type] = {
    "name": str, "kind": str, "version": str, "contract": object, "title": str, "about": str, "reference": str,
    "transforms": list, "rank": int, "runtime": dict, "resources": dict, "cost": dict, "space": dict, "wide": dict,
    "accepts": str,
    "schema_in": object, "schema_out": object, "replaces": list, "files": dict,
    "measure": dict, "takes": list, "sought": bool, "monotonic": bool, "weights": bool, "labels": bool,
    "image": dict, "environment": dict,
}  # fmt: skip
_SAID = {
    str: "text",
    int: "a whole number",
    list: "a list of names",
    dict: "a table",
    bool: "true or false",
}
_TAKES = ("class", "beta", "costs")
_SCHEMAS = {  # kind -> what it has to say of its data
    "model": ("schema_in", "schema_out"),
    "transform": ("schema_in", "schema_out"),
    "objective": ("schema_in",),
    "optimizer": (),
}
FEATURES = {"nodes": {"features": {"singleton": True, "type": "tensor", "dim": ["n"]}}}
TARGETS = {  # what a model ``accepts`` -> the target that it learns
    "classification": {
        "nodes": {"target": {"singleton": True, "type": "category", "class": "label"}},
        "classes": {"label": {"dim": "k"}},
    },
    "regression": {"nodes": {"target": {"singleton": True, "type": "tensor", "dim": [1]}}},
}
_SHORT_FORMS = {  # kind -> what it may say it ``accepts``
    "model": tuple(TARGETS),
    "transform": ("features",),
    "objective": tuple(TARGETS),
    "optimizer": (),
}
# Transforms that give complete numbers of one size, which every class can learn from.
_PREPARED = ("table-onehot", "scale")


def check(document: dict[str, Any], where: str) -> None:
    """Raise ``InvalidInput``, with the key that is wrong, for what describes no module."""
    _check_keys(document, where)
    _check_contract(document, where)
    runtime = document.get("runtime", {})
    is_class = runtime.get("kind") not in ("process", "container")
    if is_class and document["kind"] == "optimizer":
        raise InvalidInput(
            "An optimizer that is a class is not a module: a package brings it by an entry point.",
            where=where,
            remedy="Write runtime.kind = 'process' for a folder with the program suggest.",
        )
    if is_class:
        _check_runtime(runtime, where)
    else:
        packed.check_programs(document, where)
    _check_numbers(document, where)
    _check_takes(document, where)
    _check_schemas(document, where)


def check_powers(cost: Mapping[str, Any], space: Mapping[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` unless a cost's powers are of numbers of the space above 0."""
    defaults = spaces.default(space)
    for name in cost.get("powers", {}):
        value = defaults.get(name)
        if not is_number(value) or value <= 0:
            raise InvalidInput(
                f"{name} is not a number of the space with a default above 0.",
                where=f"{where}: cost.powers",
            )


def _check_keys(document: dict[str, Any], where: str) -> None:
    """Raise ``InvalidInput`` for a key that is unknown, missing, or of another type."""
    for key, value in document.items():
        if key not in _TYPES:
            raise InvalidInput(
                f"Unknown key {key!r}.",
                where=where,
                remedy=f"Keys: {', '.join(sorted(_TYPES))}.",
            )
        _check_type(value, _TYPES[key], key, where)
    for key in ("name", "version", "title"):
        if not document.get(key):
            raise InvalidInput(
                f"{key} is missing.",
                where=where,
            )
    if document.get("kind") not in KINDS:
        raise InvalidInput(
            "kind is not known.",
            where=where,
            remedy=f"Kinds: {', '.join(KINDS)}.",
        )


def _check_contract(document: dict[str, Any], where: str) -> None:
    is_known = str(document.get("contract")) in (str(CONTRACT_VERSION), *prototype.CONTRACTS)
    if not is_known:
        raise InvalidInput(
            "contract is missing, or of another version.",
            where=where,
            remedy=f"Write contract = {CONTRACT_VERSION}, "
            "or install a release of the module for that contract.",
        )


def _check_type(value: Any, wanted: type, key: str, where: str) -> None:
    if not _is_of(value, wanted):
        raise InvalidInput(
            f"{key} is not {_SAID[wanted]}.",
            where=where,
        )


def _is_of(value: Any, wanted: type) -> bool:
    """Whether a value of TOML is of a type of ``_TYPES``, where lists are of texts."""
    if wanted is int and isinstance(value, bool):  # which Python takes for a whole number
        return False
    if not isinstance(value, wanted):
        return False
    return wanted is not list or all(isinstance(one, str) for one in value)


def _check_runtime(runtime: dict[str, Any], where: str) -> None:
    if runtime.get("kind") != "python" or not _is_entry(str(runtime.get("entry", ""))):
        raise InvalidInput(
            "runtime is not a python class.",
            where=where,
            remedy="Write runtime.kind = 'python' and runtime.entry = 'package.module:Class'.",
        )

    unknown = sorted(set(runtime) - {"kind", "entry", "parameters", "libraries"})
    if unknown:
        raise InvalidInput(
            f"Unknown key 'runtime.{unknown[0]}'.",
            where=where,
            remedy="Keys: kind, entry, parameters, libraries.",
        )

    _check_type(runtime.get("parameters", {}), dict, "runtime.parameters", where)
    libraries = runtime.get("libraries", {})
    _check_type(libraries, dict, "runtime.libraries", where)
    for distribution in libraries.values():
        _check_type(distribution, str, "A distribution of runtime.libraries", where)


def _is_entry(text: str) -> bool:
    """Whether a text is of the form ``package.module:Class``."""
    package, _, name = text.partition(":")
    parts = [*package.split("."), name]
    return all(part.isidentifier() for part in parts)


def _check_numbers(document: dict[str, Any], where: str) -> None:
    for key, value in document.get("resources", {}).items():
        if not is_number(value) or value < 0:
            raise InvalidInput(f"resources.{key} is not a number from 0.", where=where)
    try:
        checked_hints(document.get("cost", {}))
    except InvalidInput as error:
        raise InvalidInput(
            f"{error.where}: {error.message}", where=where, remedy=error.remedy
        ) from error


def _check_takes(document: dict[str, Any], where: str) -> None:
    takes = document.get("takes", [])
    is_class_of_objectives = document["kind"] == "objective" and not document.get("files")
    if takes and not is_class_of_objectives:
        raise InvalidInput("takes is of an objective that is a class.", where=where)
    unknown = [one for one in takes if one not in _TAKES]
    if unknown:
        raise InvalidInput(
            f"takes names {unknown[0]!r}.",
            where=where,
            remedy=f"There are: {', '.join(_TAKES)}.",
        )


def _check_schemas(document: dict[str, Any], where: str) -> None:
    kind = document["kind"]
    if "accepts" in document:
        _check_short_form(document, where)
        return

    missing = [key for key in _SCHEMAS[kind] if key not in document]
    if missing:
        short_form = f"Write accepts = one of {', '.join(TARGETS)}."
        raise InvalidInput(
            f"{missing[0]} is missing.",
            where=where,
            remedy=short_form if kind == "model" else "",
        )


def _check_short_form(document: dict[str, Any], where: str) -> None:
    """A model for tables, or an objective, may name its kind of target in the place of schemas.

    A transform of numbers says ``features``.
    """
    known = _SHORT_FORMS[document["kind"]]
    if document["accepts"] not in known:
        told = f"write one of {', '.join(known)}" if known else "leave it out"
        raise InvalidInput(f"accepts is not of this kind of module: {told}.", where=where)
    if "schema_in" in document or "schema_out" in document:
        raise InvalidInput(
            "accepts stands in the place of schema_in and schema_out.",
            where=where,
        )


def with_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what ``accepts`` stands for.

    These are the schemas, and transforms that go with all tables.
    """
    if "accepts" not in document:
        return document
    if document["kind"] == "transform":
        return {**document, "schema_in": FEATURES, "schema_out": FEATURES}
    target = TARGETS[document["accepts"]]
    if document["kind"] == "objective":
        return {**document, "schema_in": target}
    usual = {"transforms": _PREPARED}
    return {**usual, **document, "schema_in": FEATURES, "schema_out": target}

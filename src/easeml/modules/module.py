"""A module as its TOML file describes it, and reading that file."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from easeml.errors import InvalidInput
from easeml.search import hinted_cost, spaces
from easeml.search.costs import checked_hints

from . import packed
from .accepts import Accepts
from .contract import CONTRACT_VERSION
from .prototype import description as prototype
from .scale import scale_of

KINDS = ("model", "transform", "objective", "optimizer")
_TYPES: dict[str, type] = {
    "name": str, "kind": str, "version": str, "contract": object, "title": str, "about": str, "reference": str,
    "transforms": list, "rank": int, "runtime": dict, "resources": dict, "cost": dict, "space": dict, "accepts": str,
    "schema_in": object, "schema_out": object, "replaces": list, "files": dict,
    "measure": dict, "takes": list, "sought": bool, "monotonic": bool, "image": dict,
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
_FEATURES = {"nodes": {"features": {"singleton": True, "type": "tensor", "dim": ["n"]}}}
_TARGETS = {  # what a model ``accepts`` -> the target that it learns
    "classification": {
        "nodes": {"target": {"singleton": True, "type": "category", "class": "label"}},
        "classes": {"label": {"dim": "k"}},
    },
    "regression": {"nodes": {"target": {"singleton": True, "type": "tensor", "dim": [1]}}},
}
_SHORT_FORMS = {  # kind -> what it may say it ``accepts``
    "model": tuple(_TARGETS),
    "transform": ("features",),
    "objective": tuple(_TARGETS),
    "optimizer": (),
}
# Transforms that give complete numbers of one size, which every class can learn from.
_PREPARED = ("table-onehot", "scale")


@dataclass(frozen=True, slots=True)
class Module:
    """Something that can be plugged in.

    A model has both schemas; a transform too; an objective has ``schema_in``, compared with an
    output schema; an optimizer has none. Of several schemas one has to match. ``about`` is a sentence for people who do
    not know it. ``transforms`` names what stands before a model, in order. A transform ``replaces``
    others where these do not take the data: whatever model names one of them gets this one instead.
    A model or objective that is added takes the place of those that it ``replaces``.
    ``rank`` orders modules of a kind that fit alike, the lowest first. ``entry`` is
    ``package.module:Class``: a class of the contract, or of scikit-learn's estimators, which is
    given the ``parameters`` that do not vary besides the configuration. ``resources``: ``retries``
    after a failure, ``memory`` in bytes. ``cost``: hints for predicting device seconds from rows
    and columns. ``libraries``: what the class needs beside easeml, package to import -> the
    distribution that brings it: imported ahead of time, trusted, and its version kept with what was
    trained. ``reference``: where to read of it. ``source``: the file's text, where the module
    was added to a running easeml; empty where it is installed. ``files``: of a folder of programs,
    name -> text; ``exchange``: the format of the tables that they are given. ``measure``: of an
    objective that is such a folder, the fields of ``scale.Scale``. ``image``: that the programs
    run in (``containers.images``); empty where they run as processes. ``takes``: what an objective
    has to be told, for which it is a family (``families``). ``sought``: a search may go by it; of
    others more is not better. ``monotonic``: a model that can be held to rise or fall with a feature
    (``contract.Data``). ``contract``: the version that it is written for, or one of
    ``prototype.description.CONTRACTS``.
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
    cost: Mapping[str, Any]
    replaces: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    exchange: str = "parquet"
    measure: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    sought: bool = True
    monotonic: bool = False
    image: str = ""
    contract: str = str(CONTRACT_VERSION)

    @property
    def is_programs(self) -> bool:
        """Whether it is a folder of programs, which run as processes or containers of their own."""
        return bool(self.files) or bool(self.image)

    @property
    def runtime(self) -> str:
        """Where its code runs: ``python``, in the process of a task; ``process`` or ``container``."""
        if self.image:
            return "container"
        return "process" if self.files else "python"

    def make(self) -> Any:
        """Import the class and return an object of it; or what runs the programs of a folder.

        Raises ``InvalidInput`` where there is no such class.
        """
        if self.is_programs:
            return self._programs()
        if self.takes:
            raise InvalidInput(
                f"{self.name} has to be told: {', '.join(self.takes)}.",
                where="objective",
                remedy=f"Write {self.name}({', '.join(one.upper() for one in self.takes)}).",
            )

        found = self.load_class()
        is_of_contract = self.kind != "model" or hasattr(found, "load")
        if is_of_contract:
            return found(**self.parameters)

        from .named import NamedEstimator

        return NamedEstimator(found, self.parameters)

    def _programs(self) -> Any:
        from .made_of_programs import made

        given = {"name": self.name, "files": self.files, "exchange": self.exchange}
        if self.image:
            given["image"] = self.image
        if self.kind == "objective":
            given["scale"] = scale_of(self.measure)
        return made(self.contract, self.kind, given)

    def load_class(self) -> type:
        """Import the class. Raises ``InvalidInput`` where there is none."""
        package, _, name = self.entry.partition(":")
        try:
            return getattr(import_module(package), name)
        except (ImportError, AttributeError) as error:
            remedy = "Install the package that the module needs."
            raise InvalidInput(
                f"{self.entry} cannot be loaded: {error}",
                where=self.name,
                remedy=remedy,
            ) from error

    def hinted_cost(
        self, rows: int, columns: int, classes: int = 0, config: Mapping[str, Any] | None = None
    ) -> float:
        """Return the device seconds that a run takes by the hints of the module.

        ``classes``: of the target, 0 for a number. ``config``: a configuration of its space, by
        default that of all defaults.
        """
        given = config or {}
        defaults = spaces.default(self.space)
        shares = {}
        for name in self.cost.get("powers", {}):
            if name in given:
                shares[name] = given[name] / defaults[name]
        return hinted_cost(self.cost, rows, columns, classes, shares)

    def choice(self, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the module with a configuration (its default if None) as a part of a pipeline."""
        return {"module": self.name, "config": dict(config or {}), "source": self.source}


def parse(text: str, where: str) -> Module:
    """Read the text of a module file; ``where`` names it.

    Raises ``InvalidInput`` with the key that is wrong.
    """
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(
            f"This is not TOML: {error}",
            where=where,
        ) from error
    document = prototype.completed(document, _FEATURES, _TARGETS, where)
    _check(document, where)
    document = _with_schemas(document)
    space = document.get("space", {})
    spaces.check(space, f"{where}: space")
    _check_powers(document.get("cost", {}), space, where)
    return Module(
        name=document["name"],
        kind=document["kind"],
        version=document["version"],
        title=document["title"],
        about=document.get("about", ""),
        entry=document["runtime"].get("entry", ""),
        schema_in=_accepts(document, "schema_in"),
        schema_out=_accepts(document, "schema_out"),
        space=space,
        transforms=tuple(document.get("transforms", ())),
        rank=document.get("rank", 100),
        resources=document.get("resources", {}),
        cost=document.get("cost", {}),
        replaces=tuple(document.get("replaces", ())),
        parameters=document["runtime"].get("parameters", {}),
        libraries=document["runtime"].get("libraries", {}),
        reference=document.get("reference", ""),
        files=document.get("files", {}),
        exchange=document["runtime"].get("data", packed.FORMATS[document["kind"]][0]),
        measure=document.get("measure", {}),
        takes=tuple(document.get("takes", ())),
        sought=document.get("sought", True),
        monotonic=document.get("monotonic", False),
        image=document.get("image", {}).get("ref", ""),
        contract=str(document["contract"]),
    )


def _check_powers(cost: Mapping[str, Any], space: Mapping[str, Any], where: str) -> None:
    defaults = spaces.default(space)
    for name in cost.get("powers", {}):
        value = defaults.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is None or not is_number or value <= 0:
            raise InvalidInput(
                f"{name} is no number of the space with a default above 0.",
                where=f"{where}: cost.powers",
            )


def _check(document: dict[str, Any], where: str) -> None:
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
    is_known = str(document.get("contract")) == str(CONTRACT_VERSION)
    if not is_known and not prototype.is_prototype(document):
        remedy = f"Write contract = {CONTRACT_VERSION}, or install a release of the module for that contract."
        raise InvalidInput(
            "contract is missing, or of another version.",
            where=where,
            remedy=remedy,
        )
    runtime = document.get("runtime", {})
    if runtime.get("kind") in ("process", "container"):
        packed.check_programs(document, where)
    elif document["kind"] == "optimizer":
        raise InvalidInput(
            "An optimizer that is a class is no module: a package brings it by an entry point.",
            where=where,
            remedy="Write runtime.kind = 'process' for a folder with the program suggest.",
        )
    else:
        _check_runtime(runtime, where)
    _check_numbers(document, where)
    _check_takes(document, where)
    _check_schemas(document, where)


def _check_type(value: Any, wanted: type, key: str, where: str) -> None:
    good = isinstance(value, wanted)
    if wanted is int and isinstance(value, bool):
        good = False  # in TOML true is no number
    if wanted is list and isinstance(value, list):
        good = all(isinstance(one, str) for one in value)
    if not good:
        raise InvalidInput(
            f"{key} is not {_SAID[wanted]}.",
            where=where,
        )


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
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < math.inf:
            raise InvalidInput(f"resources.{key} is not a number from 0.", where=where)
    try:
        checked_hints(document.get("cost", {}))
    except InvalidInput as error:
        raise InvalidInput(
            f"{error.where}: {error.message}", where=where, remedy=error.remedy
        ) from error


def _check_takes(document: dict[str, Any], where: str) -> None:
    takes = document.get("takes", [])
    is_family = document["kind"] == "objective" and not document.get("files")
    if takes and not is_family:
        raise InvalidInput("takes is of an objective that is a class.", where=where)
    for one in takes:
        if one not in _TAKES:
            raise InvalidInput(
                f"takes names {one!r}.", where=where, remedy=f"There are: {', '.join(_TAKES)}."
            )


def _check_schemas(document: dict[str, Any], where: str) -> None:
    kind = document["kind"]
    if "accepts" in document:
        _check_short_form(document, where)
        return

    needed = _SCHEMAS[kind]
    missing = [key for key in needed if key not in document]
    if missing:
        short_form = f"Write accepts = one of {', '.join(_TARGETS)}."
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


def _with_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what ``accepts`` stands for.

    These are the schemas, and transforms that go with all tables.
    """
    if "accepts" not in document:
        return document
    if document["kind"] == "transform":
        return {**document, "schema_in": _FEATURES, "schema_out": _FEATURES}
    target = _TARGETS[document["accepts"]]
    if document["kind"] == "objective":
        return {**document, "schema_in": target}
    usual = {"transforms": _PREPARED}
    schemas = {"schema_in": _FEATURES, "schema_out": target}
    return {**usual, **document, **schemas}


def _accepts(document: dict[str, Any], key: str) -> Accepts | None:
    if key not in document:
        return None
    return Accepts.from_document(document[key])

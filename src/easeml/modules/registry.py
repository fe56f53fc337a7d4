"""All installed modules: the zoo's, and those of packages with an entry point for modules.

An entry point's value is a package; every ``.toml`` file below it describes a module. Only these
files are read: no module's code is imported before it is used.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from easeml.data.errors import did_you_mean
from easeml.errors import EasemlError, InvalidInput, NotFound
from easeml.schema import Schema

from .calls import read_call
from .families import member
from .module import Module, parse

_GROUP = "easeml.modules"
_ZOO = "easeml.zoo"


@dataclass(frozen=True, slots=True)
class ModelMatch:
    """A model against a pair of schemas.

    ``why_not`` is empty where it fits; ``transforms`` are what stands before it then, in order.
    """

    module: Module
    fits: bool
    why_not: str = ""
    transforms: tuple[Module, ...] = ()


@dataclass(frozen=True, eq=False)
class Registry:
    """The knowledge base. ``problems`` tells of files that are no modules; they harm no other.

    ``archived``: names of models that fit nothing any more; ``faulty``: those of them that are
    archived because their runs failed, which no search tries any more. ``private``: the only tenant, by id,
    of each module that is not everybody's, by its name. ``lacking``: the distribution that a module
    needs and that is not installed, by the module's name; such a module fits nothing.
    """

    modules: tuple[Module, ...]
    problems: tuple[str, ...] = ()
    archived: frozenset[str] = frozenset()
    faulty: frozenset[str] = frozenset()
    private: Mapping[str, str] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _by_name(self) -> dict[str, Module]:
        return {module.name: module for module in self.modules}

    def get(self, name: str) -> Module:
        """Return a module by name; ``recall(bad)`` is one of the family ``recall``.

        Raises ``NotFound``, and ``InvalidInput`` for what a family does not take.
        """
        if name in self._by_name:
            return self._by_name[name]
        call = read_call(name)
        if call is not None and call.family in self._by_name:
            return member(self._by_name[call.family], call)
        public = [module.name for module in self.modules if module.name not in self.private]
        remedy = "Install the package that brings it."
        meant = did_you_mean(name[:80], public)
        if meant.startswith("Did"):
            remedy = f"{meant} Or install the package that brings it."
        raise NotFound(f"There is no module {name[:80]!r}.", remedy=remedy)

    def seen_by(self, tenant_id: str) -> "Registry":
        """Return the knowledge base without the private modules of other tenants."""
        others = {name for name, owner in self.private.items() if owner != tenant_id}
        seen = [module for module in self.modules if module.name not in others]
        return replace(self, modules=tuple(seen))

    @property
    def libraries(self) -> tuple[str, ...]:
        """The packages that the modules import beside easeml, each once, by name."""
        names = set[str]().union(*(module.libraries for module in self.modules))
        return tuple(sorted(names))

    @cached_property
    def asking_for_gpus(self) -> frozenset[str]:
        """The names of the models that need a GPU to learn."""
        return frozenset(module.name for module in self.modules if module.gpu)

    def of_kind(self, kind: str) -> list[Module]:
        """Return the modules of a kind, by rank and name."""
        found = [module for module in self.modules if module.kind == kind]
        return sorted(found, key=lambda module: (module.rank, module.name))

    def models_for(
        self, schema_in: Schema | dict[str, Any], schema_out: Schema | dict[str, Any]
    ) -> list[ModelMatch]:
        """Return every model, those that fit first, each with the reason where it does not fit."""
        source = _schema(schema_in)
        target = _schema(schema_out)
        matches = []
        for module in self.of_kind("model"):
            matches.append(self._match(module, source, target))
        return sorted(matches, key=lambda match: not match.fits)

    def match(
        self, model: Module, schema_in: Schema | dict[str, Any], schema_out: Schema | dict[str, Any]
    ) -> ModelMatch:
        """Return a model against a pair of schemas."""
        source, target = _schema(schema_in), _schema(schema_out)
        return self._match(model, source, target)

    def _match(self, model: Module, source: Schema, target: Schema) -> ModelMatch:
        if model.name in self.archived:
            return ModelMatch(model, False, "It is archived.")

        assert model.schema_out is not None  # parse() has checked it
        output = model.schema_out.why_not(_learned(target))
        if output:
            return ModelMatch(model, False, f"Output: {output}")

        chain, reason = self._chain(model, source)
        if reason:
            return ModelMatch(model, False, reason)
        if model.name in self.lacking:
            return ModelMatch(model, False, _not_installed(self.lacking[model.name]))
        return ModelMatch(model, True, transforms=tuple(chain))

    def objectives_for(
        self, schema_out: Schema | dict[str, Any], *, weighted: bool = False
    ) -> list[Module]:
        """Return the objectives that measure such an output, the default first; no families.

        ``weighted``: those that count rows by their weights.
        """
        found = [one for one in self._measuring(schema_out) if not one.takes]
        return [one for one in found if one.weights] if weighted else found

    def families_for(self, schema_out: Schema | dict[str, Any]) -> list[Module]:
        """Return the families of objectives that measure such an output, by rank."""
        return [one for one in self._measuring(schema_out) if one.takes]

    def _measuring(self, schema_out: Schema | dict[str, Any]) -> list[Module]:
        target = _schema(schema_out)
        out_of_use = self.archived | self.lacking.keys()
        several = bool(target.labels_of_rows)
        usable = [one for one in self.of_kind("objective") if one.name not in out_of_use]
        alike = [one for one in usable if one.labels == several]
        return [one for one in alike if not _refuses(one, target)]

    def candidates(self, model: Module, schema_in: Schema | dict[str, Any]) -> list[Module]:
        """Return the chain of transforms to put before a model, in order.

        Raises ``InvalidInput`` if it cannot fit.
        """
        chain, reason = self._chain(model, _schema(schema_in))
        if reason:
            raise InvalidInput(
                reason,
                where=model.name,
                remedy="Choose a model that fits.",
            )
        return chain

    def _chain(self, model: Module, source: Schema) -> tuple[list[Module], str]:
        """Return the transforms before a model, and why they do not fit.

        Each is the one that the model names, or else the first by rank of those that replace it
        and fit.
        """
        chain: list[Module] = []
        given = source
        for name in model.transforms:
            try:
                choices = self._choices(name)
            except NotFound as error:
                return chain, str(error)

            reasons = [_refuses(module, given) for module in choices]
            if "" not in reasons:
                return chain, f"Input of {choices[0].name}: {reasons[0]}"

            chosen = choices[reasons.index("")]
            assert chosen.schema_out is not None  # parse() has checked it
            chain.append(chosen)
            given = chosen.schema_out.first

        reason = _refuses(model, given)
        return chain, f"Input of {model.name}: {reason}" if reason else ""

    def _choices(self, name: str) -> list[Module]:
        """Return the transform of a name, then those that replace it. Raises ``NotFound``."""
        replacing = [module for module in self.of_kind("transform") if name in module.replaces]
        return [self.get(name), *replacing]


_ONE_LABEL = Schema.from_text("{label: category(2)}")  # has it, or has it not
_ONE_NUMBER = Schema.from_text("{target: number}")


def _learned(target: Schema) -> Schema:
    """Return what a model learns: of several answers a row it is fitted once an answer."""
    if target.labels_of_rows:
        return _ONE_LABEL
    return _ONE_NUMBER if target.parts else target


def _refuses(module: Module, given: Schema) -> str:
    assert module.schema_in is not None  # parse() has checked it
    return module.schema_in.why_not(given)


@cache
def load_registry() -> Registry:
    """Read every installed module file, once in a process; import no model library.

    It takes a tenth of a second: a fork server calls it before it forks (``warm_up``).
    """
    modules: dict[str, Module] = {}
    problems: list[str] = []
    plug_ins = {point.value for point in entry_points(group=_GROUP)}
    for package in [_ZOO, *sorted(plug_ins)]:
        try:
            found = sorted(_files(files(package)), key=lambda file: file.name)
        except ImportError as error:
            problems.append(f"{package}: {error}")
            continue
        for file in found:
            _add(modules, problems, file, f"{package}: {file.name}")

    lacking = _lacking(modules.values())
    return Registry(tuple(modules.values()), tuple(problems), lacking=lacking)


def _add(modules: dict[str, Module], problems: list[str], file: Traversable, where: str) -> None:
    """Add the module of a file by its name, or a problem: the first module of a name stays."""
    try:
        module = parse(file.read_text("utf-8"), where)
    except EasemlError as error:
        problems.append(str(error))
        return
    if module.name in modules:
        problems.append(f"{where}: there is another module {module.name!r}.")
        return
    modules[module.name] = module


def _lacking(modules: Iterable[Module]) -> dict[str, str]:
    """Return the first distribution that each module needs and that is not installed."""
    lacking = {}
    for module in modules:
        missing = [one for one in module.libraries.values() if not _is_installed(one)]
        if missing:
            lacking[module.name] = missing[0]
    return lacking


@cache
def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _not_installed(distribution: str) -> str:
    """Return what is said of a module whose distribution is not there."""
    return (
        f"It needs {distribution}, which is not installed: run pip install {distribution},"
        " and start easeml again."
    )


def warm_up() -> None:
    """Import the installed modules and what they need, so that children forked later have it.

    A library that is missing or broken fails where its module is used, and there alone.
    """
    registry = load_registry()
    entries = {module.entry.partition(":")[0] for module in registry.modules if module.entry}
    for name in [*registry.libraries, *sorted(entries)]:
        with suppress(Exception):
            import_module(name)


def _files(folder: Traversable) -> Iterator[Traversable]:
    """Yield the module files below a folder, which may lie in an archive."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry)
        elif entry.name.endswith(".toml"):
            yield entry


def _schema(schema: Schema | Mapping[str, Any]) -> Schema:
    if isinstance(schema, Schema):
        return schema
    return Schema.from_json(dict(schema))

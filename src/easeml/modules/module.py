"""A module as its TOML file describes it, and reading that file."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from easeml.errors import InvalidInput
from easeml.search import hinted_cost, spaces

from . import description, packed
from .accepts import Accepts
from .contract import CONTRACT_VERSION
from .environments import requirements
from .prototype import description as prototype
from .scale import scale_of


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
    after a failure, ``memory`` in bytes; ``gpu``: 1 where it learns on a GPU if it sees one, and
    ``gpu_memory``: the bytes that it is believed to take of one until that was measured. ``cost``:
    hints for predicting device seconds from rows and columns. ``libraries``: what the class needs
    beside easeml, package to import -> the distribution that brings it: imported ahead of time,
    trusted, and its version kept with what was trained. ``reference``: where to read of it.
    ``source``: the file's text, where the module was added to a running easeml; empty where it is
    installed. ``files``: of a folder of programs, name -> text; ``exchange``: the format of the
    tables that they are given. ``measure``: of an objective that is such a folder, the fields of
    ``scale.Scale``. ``image``: that the programs run in (``containers.images``); empty where they
    run as processes. ``environment``: of packages that these have (``environments.placing``).
    ``gpu``: of a model in a container, whether it needs one. ``takes``: what an objective has to be
    told, for which it is a family (``families``). ``sought``: a search may go by it; of others more
    is not better. ``monotonic``: a model that can be held to rise or fall with a feature
    (``contract.Data``). ``weights``: a model that learns from weights of rows, or an objective that
    counts rows by them (``contract.Context``). ``labels``: an objective of rows that may have
    several labels, which no other measures. ``wide``: what narrows the space on a table of more
    columns than rows (``spaces.narrow``). ``contract``:
    the version that it is written for, or one of ``prototype.description.CONTRACTS``.
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
    weights: bool = False
    labels: bool = False
    image: str = ""
    environment: str = ""
    gpu: bool = False
    wide: Mapping[str, Any] = field(default_factory=dict)
    contract: str = str(CONTRACT_VERSION)

    @property
    def uses_gpu(self) -> bool:
        """Whether it learns on a GPU where there is one: of what runs as a process none does."""
        if self.runtime == "python":
            return bool(self.resources.get("gpu"))
        return self.gpu

    @property
    def is_programs(self) -> bool:
        """Whether it is a folder of programs, which run as processes or containers of their own."""
        return bool(self.files) or bool(self.image)

    @property
    def needs_packages(self) -> bool:
        """Whether its programs run as processes, and ``requirements.txt`` names packages."""
        return not self.image and bool(requirements.read(self.files))

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
        if self.image or self.environment:
            given["image"] = self.image or self.environment
        if self.kind == "model":
            given["gpu"] = self.gpu
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
        powers = self.cost.get("powers", {})
        defaults = spaces.default(self.space)
        shares = {name: given[name] / defaults[name] for name in powers.keys() & given.keys()}
        return hinted_cost(self.cost, rows, columns, classes, shares)

    def space_on(
        self, rows: int, columns: int, wishes: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the space in which a table of that size is searched.

        ``wishes``: of the owner, as ``spaces.narrow`` takes them; they come before what the module
        says. Raises ``InvalidInput`` for what the space does not have.
        """
        bounds = self.wide if columns > rows else {}
        return spaces.narrow(self.space, {**bounds, **(wishes or {})}, self.name)

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
    document = prototype.completed(document, description.FEATURES, description.TARGETS, where)
    description.check(document, where)
    document = description.with_schemas(document)
    space = document.get("space", {})
    spaces.check(space, f"{where}: space")
    description.check_powers(document.get("cost", {}), space, where)
    wide = document.get("wide", {})
    spaces.narrow(space, wide, f"{where}: wide")
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
        wide=wide,
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
        weights=document.get("weights", False),
        labels=document.get("labels", False),
        image=document.get("image", {}).get("ref", ""),
        environment=document.get("environment", {}).get("ref", ""),
        gpu=document["runtime"].get("gpu", False),
        contract=str(document["contract"]),
    )


def _accepts(document: dict[str, Any], key: str) -> Accepts | None:
    if key not in document:
        return None
    return Accepts.from_document(document[key])

"""The REST types of the knowledge base."""

import re
from typing import Any

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import CheckState
from easeml.contract.times import Moment

LARGEST_MODULE = 64 * 2**10  # bytes of a module file
RUNTIMES = {
    "python": "a class of a trusted package, in the process of a task",
    "process": "programs, each a process that is confined to one folder",
    "container": "programs in a container without network, of an image that was added",
}
"""Where the code of a module runs -> in words."""
MOST_FILES = 200  # of a folder of programs


class Record(Answer):
    """How a model has done, over all tenants: numbers only.

    ``best``: in how many of its ``searches`` it found the best quality. ``seconds``: median device
    seconds of a task.
    """

    tasks: int
    failed: int
    searches: int
    best: int
    seconds: float | None = None


class FittingApplication(Answer):
    """An application of the caller that a module fits."""

    id: str
    name: str


class MeasureFacts(Answer):
    """What the values of an objective mean.

    ``best``: highest or lowest, empty where neither is; ``low`` and ``high``: the ends of the range,
    None where there is none. ``unit``: empty where it has none; ``needs``: labels or probabilities.
    """

    best: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""
    needs: str = "labels"

    @property
    def in_words(self) -> str:
        """The same in a sentence's words: ``lowest is best, 0 or more, in the unit of the target``."""
        best = f"{self.best} is best" if self.best else "to compare, neither end is best"
        unit = f"in {self.unit}" if self.unit else ""
        words = [best, _range(self.low, self.high), unit, f"needs {self.needs}"]
        return ", ".join(filter(None, words))


def _range(low: float | None, high: float | None) -> str:
    """Return a range of values in words; nothing where neither end is known."""
    match low, high:
        case None, None:
            return ""
        case None, _:
            return f"{high:g} or less"
        case _, None:
            return f"{low:g} or more"
    return f"from {low:g} to {high:g}"


class Module(Answer):
    """A model, transform, objective or optimizer.

    Schemas in their text form; ``space``: name -> what it may be. ``measure``: of an objective.
    """

    name: str
    kind: str
    title: str
    about: str = ""
    version: str
    schema_in: str = ""
    schema_out: str = ""
    transforms: list[str] = Field(default_factory=list)
    space: dict[str, Any] = Field(default_factory=dict)
    record: Record | None = None
    fits: list[FittingApplication] = Field(default_factory=list)
    reference: str = ""  # where to read of it
    archived: bool = False  # no new search tries it
    superseded_by: str = ""  # name of the added module that has taken its place
    fault: str = ""  # how a task found it worse than no model; providers only
    added: bool = False  # to this easeml while it ran; else it is installed
    private: bool = False  # only the tenant that added it sees and uses it
    runtime: str = (
        "python"  # a class in a task's process; or programs, as a process or in a container
    )
    measure: MeasureFacts | None = None
    lacks: str = ""  # the library that must be installed before it can be used


_CANDIDATE = re.compile(r"(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d+(?![\w-])")
_ENSEMBLE = "ensemble-"  # what the names of ensembles begin with


class Titles(Answer):
    """What modules are called. ``titles``: by their names."""

    titles: dict[str, str]

    def of(self, name: str) -> str:
        """Return ``Random forest 2`` for ``random-forest-classifier-2``; other names as they are.

        Ensembles are no module, and have a title of their own.
        """
        if name in self.titles:
            return self.titles[name]
        if name.removeprefix(_ENSEMBLE).isdecimal():
            return f"Ensemble {name.removeprefix(_ENSEMBLE)}"
        model, plus, transform = name.partition("+")
        if plus:  # a model behind a transform that was added
            title = self.titles.get(model, model)
            return f"{title} + {self.of(transform)}"
        model, _, number = name.rpartition("-")
        if number.isdecimal() and model in self.titles:
            return f"{self.titles[model]} {number}"
        return name

    def in_sentence(self, sentence: str, *names: str) -> str:
        """Return a sentence in which candidates are called by their titles.

        ``names``: of the candidates; one that is a part of another word is left.
        """
        known = "|".join(map(re.escape, filter(None, names)))
        if not known:
            return sentence
        return re.sub(rf"(?<![\w-])(?:{known})(?![\w-])", lambda name: self.of(name[0]), sentence)

    def in_text(self, text: str) -> str:
        """Return a text in which every candidate, of any search, is called by its title."""
        return _CANDIDATE.sub(lambda name: self.of(name[0]), text)


class NewModule(Request):
    """The text of a ``module.toml``.

    ``private``: for the applications of the tenant who adds it alone, whoever they are; it has to
    be a folder of programs. ``files``: the other files of the folder, name -> text, where they are
    not packed into the text already. ``image_upload``: the id of the upload that is the image's tar
    file.
    """

    toml: str = Field(max_length=LARGEST_MODULE)
    private: bool = False
    files: dict[str, str] | None = Field(default=None, max_length=MOST_FILES)
    image_upload: str = ""


class Check(Answer):
    """One thing that a module has to do. ``error`` and ``remedy`` where it failed."""

    name: str
    title: str
    state: CheckState = CheckState.WAITING
    error: str = ""
    remedy: str = ""


class ModuleChecks(Answer):
    """A module on its way into the knowledge base. ``state``: checking, then ready (it is there) or
    failed.

    ``joined``: how many searches go on with it. ``private``: only those of the tenant that added it.
    ``module_kind``: model, transform, objective or optimizer. ``isolation``: the level that tasks of
    this service are confined to.
    """

    name: str
    module_kind: str = "model"
    private: bool = False
    state: str
    checks: list[Check] = Field(default_factory=list)
    error: str = ""
    toml: str
    task_id: str
    joined: int = 0
    isolation: str = ""
    created: Moment


class KnowledgeBase(Answer):
    """All modules, by kind and rank; ``problems`` tells of files that are no modules.

    ``arriving``: those that are being checked, or failed: for providers all, for others their own.
    """

    modules: list[Module]
    arriving: list[ModuleChecks] = Field(default_factory=list)
    problems: list[str] = Field(default_factory=list)

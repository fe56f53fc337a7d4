"""Advise: does a module that is being added do what every module has to?"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from easeml.contract.knowledge import Check
from easeml.contract.states import CheckState
from easeml.contract.tasks import Spec, TaskResult
from easeml.errors import EasemlError, InvalidInput
from easeml.modules import Module, Registry, load_registry, parse
from easeml.modules.titles import title_of
from easeml.service.tasks.kinds import Kind

_CLASS = "The class is there, of a trusted package, and takes the parameters that are named."
# All others stand on these.
_FIRST = ("check_class", "check_predictions", "check_values", "check_proposals")
_LONGEST = 300  # characters of an error
_REMEDIES = {  # of the library's checks, by name
    "check_predictions": "Name transforms that prepare the data: table-onehot and scale fill and bound all values.",
    "check_saved": "Name another class: this one cannot be kept in a file without pickle.",
    "check_seed": "Name another class, or fix the parameter that makes it vary.",
    "check_strange_rows": "Put the transforms table-onehot and scale before the class: they fill and bound values.",
    "check_weights": "Leave `weights = true` out: the class does not learn from weights of rows.",
    "check_space": "Narrow the space to what the class can learn with.",
}
_OF_PROGRAMS = "Mend the programs: `easeml module check` runs the same checks on your machine."
_REMEDY = "Read the log of the task, and name another class or other parameters."


if TYPE_CHECKING:
    from collections.abc import Mapping

    from easeml.store import Transaction
    from easeml.store.records import Task


class CheckModuleSpec(Spec):
    """Advise: does a module that is being added do what every module has to? ``trusted``: packages
    of its class.

    Each check prints a line when it begins and when it ends: an
    ``easeml.contract.knowledge.Check``.
    """

    kind: Literal["check-module"] = "check-module"
    source: str
    trusted: list[str]


def check_module(spec: CheckModuleSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{checks}``, each as it ended; what stands on a failed one is left waiting.

    Writes no output.
    """
    from easeml.modules.conformance_suites import checks_of
    from easeml.modules.environments import placing, requirements

    module = replace(parse(spec.source, "module.toml"), source=spec.source)
    registry = load_registry()
    registry = replace(registry, modules=(*registry.modules, module))
    steps = []
    if not module.is_programs:
        steps.append(_Step("check_class", _CLASS, lambda: _check_class(module, spec.trusted)))
    if module.environment:
        is_here = partial(placing.folder_of, module.environment)
        steps.append(_Step(requirements.CHECK, requirements.TITLE, is_here))
    steps += [_of_library(check, module, registry, outputs) for check in checks_of(module)]
    checks = [Check(name=step.name, title=step.title) for step in steps]
    for check in checks:
        _tell(check)
    for place, step in enumerate(steps):
        _tell(checks[place].model_copy(update={"state": CheckState.RUNNING}))
        checks[place] = step.run()
        _tell(checks[place])
        if step.name in _FIRST and checks[place].state == CheckState.FAILED:
            break
    return TaskResult(ok=True, value={"checks": [check.model_dump() for check in checks]})


class _Step:
    """One check, and how it ended."""

    def __init__(self, name: str, title: str, act: Callable[[], object], remedy: str = ""):
        self.name = name
        self.title = title
        self._act = act
        self._remedy = remedy or _REMEDIES.get(name, _REMEDY)

    def run(self) -> Check:
        """Run it; whatever a class raises is its failure, but for memory that ran out."""
        try:
            self._act()
        except MemoryError:
            raise
        except EasemlError as error:
            return self._ended(CheckState.FAILED, error.message, error.remedy)
        except BaseException as error:  # SystemExit, too
            return self._ended(CheckState.FAILED, _said(error))
        return self._ended(CheckState.PASSED)

    def _ended(self, state: CheckState, error: str = "", remedy: str = "") -> Check:
        if error:
            remedy = remedy or self._remedy
        ended = {
            "name": self.name,
            "title": self.title,
            "state": state,
            "error": error,
            "remedy": remedy,
        }
        return Check.model_validate(ended)


def _of_library(
    check: Callable[[Module, Registry, Path], None], module: Module, registry: Registry, place: Path
) -> _Step:
    def act() -> None:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            check(module, registry, Path(folder))

    title = title_of(check)
    return _Step(check.__name__, title, act, _OF_PROGRAMS if module.is_programs else "")


def _check_class(module: Module, trusted: list[str]) -> None:
    """Raise ``InvalidInput`` for what is no class of a trusted package, or does not take its
    parameters.
    """
    from easeml.modules.named import parameters_of

    found = module.load_class()
    if not inspect.isclass(found):
        raise InvalidInput(f"{module.entry} is not a class.", remedy="Name a class.")
    packages = tuple(f"{package}." for package in trusted)
    if not f"{found.__module__}.".startswith(packages):
        remedy = f"Name a class of {', '.join(trusted)}."
        raise InvalidInput(
            f"{module.entry} comes from {found.__module__}, which is not trusted.", remedy=remedy
        )
    if not hasattr(found, "load"):
        known = parameters_of(found)
        for name in (*module.space, *module.parameters):
            if name not in known:
                remedy = f"It takes: {', '.join(sorted(known))}."
                raise InvalidInput(
                    f"{found.__qualname__} has no parameter {name!r}.", remedy=remedy
                )
    module.make()


def _said(error: BaseException) -> str:
    """Return an error in one line, from its end where it is long: a wrong configuration is named at
    the beginning.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    named = text if isinstance(error, AssertionError) else f"{type(error).__name__}: {text}"
    return named if len(named) <= _LONGEST else f"{named[:_LONGEST]} …"


def _tell(check: Check) -> None:
    print(check.model_dump_json(), flush=True)


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Take the module in, or note what failed."""
    from easeml.service.modules import adding

    adding.record(tx, task, result)


def failed(tx: Transaction, task: Task) -> None:
    """Note that the checks did not come to an end."""
    from easeml.service.modules import adding

    adding.record_failure(tx, task)


KIND = Kind(
    name="check-module",
    title="Check a module",
    about="Checks that a module that is being added does what every module has to.",
    group="advise",
    spec=CheckModuleSpec,
    body=check_module,
    record=record,
    failed=failed,
    values=("checks",),
    seconds=300.0,
)

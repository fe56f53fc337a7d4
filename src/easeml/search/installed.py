"""What is installed of a kind: easeml's own, and what other packages bring by an entry point.

Both are found alike. A file declares what it brings in a tuple, such as ``POLICIES``; easeml's own
files lie in one package, and an entry point names a file elsewhere. Decisions are made from what
was found here, and look at nothing themselves.
"""

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from easeml.errors import InvalidInput

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Installed(Generic[T]):
    """What was found. ``problems``: a sentence on each entry point that brings nothing usable."""

    kind: str  # policy, optimizer
    default: str
    by_name: dict[str, T]
    problems: tuple[str, ...]

    def named(self, name: str) -> T:
        """Return the one called ``name``; ``default`` is easeml's own. Raises ``InvalidInput``."""
        wanted = self.default if name == "default" else name
        found = self.by_name.get(wanted)
        if found is not None:
            return found

        known = f"Use default or one of: {', '.join(self.by_name)}."
        raise InvalidInput(
            f"There is no {self.kind} {name!r}.",
            where=self.kind,
            remedy=" ".join([known, *self.problems]),
        )


def find_installed(kind: str, default: str, package: str, group: str, declared: str) -> Installed:
    """Return all of a kind: those declared in files of ``package``, then those of entry points.

    ``declared``: the name of the tuple that a file declares. The first of a name is kept; a plug-in
    that cannot be imported, declares nothing or takes a name is a problem, and harms no other.
    """
    by_name: dict[str, Any] = {}
    for module in _own_modules(package):
        for one in getattr(import_module(module), declared, ()):
            by_name[one.name] = one

    problems: list[str] = []
    plug_ins = {point.value for point in entry_points(group=group)}
    for module in sorted(plug_ins):
        try:
            brought = {one.name: one for one in getattr(import_module(module), declared)}
        except Exception as error:  # whatever the code of others raises
            problems.append(f"{module} brings no {kind}: {error}.")
            continue

        taken = list(filter(by_name.__contains__, brought))
        problems += [f"{module}: there is another {kind} {name!r}." for name in taken]
        by_name = {**brought, **by_name}

    return Installed(
        kind,
        default,
        by_name=dict(sorted(by_name.items())),
        problems=tuple(problems),
    )


def _own_modules(package: str) -> Iterator[str]:
    for module in pkgutil.iter_modules(import_module(package).__path__):
        yield f"{package}.{module.name}"

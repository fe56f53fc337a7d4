"""Write the lock files from what is installed: requirements.lock holds what runs easeml,
requirements-dev.lock what its tests and tools need beside that.

    .venv/bin/python scripts/lock.py
"""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
ABOUT = "# Versions that CI tests; 'make {target}' uses them. Renew: make lock.\n"
EDITABLE = "editables"  # what an editable install by hatchling asks for
LEFT_OUT = {"easeml", "pip", "setuptools", "wheel"}


def needed_by(requirements: list[str]) -> set[str]:
    """Return the names of installed distributions that requirements lead to, themselves included."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in ("", *requirement.extras):
            name = plain(requirement.name)
            if (name, wanted) in found or not is_installed(name):
                continue
            found.add((name, wanted))
            further = distribution(name).requires or []
            waiting += [(Requirement(text), wanted) for text in further]
    return {name for name, _ in found}


def plain(name: str) -> str:
    """Return a distribution's name as it is compared: ``types_PyYAML`` is ``types-pyyaml``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_installed(name: str) -> bool:
    """Return whether a distribution is there; what only other systems need is not."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def versions_of(names: set[str]) -> str:
    """Return the lines of a lock file."""
    lines = sorted(f"{name}=={distribution(name).version}" for name in names - LEFT_OUT)
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    roots = [*about["project"]["dependencies"], *about["build-system"]["requires"], EDITABLE]
    runtime = needed_by(roots)
    installed = {plain(each.metadata["Name"]) for each in distributions()}
    runs = ABOUT.format(target="install") + versions_of(runtime)
    develops = ABOUT.format(target="develop") + versions_of(installed - runtime)
    (ROOT / "requirements.lock").write_text(runs, "utf-8")
    (ROOT / "requirements-dev.lock").write_text(develops, "utf-8")


if __name__ == "__main__":
    main()

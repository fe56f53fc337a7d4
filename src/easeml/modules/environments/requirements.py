"""The file ``requirements.txt`` of a folder of programs: which packages they need."""

import hashlib
import re
import sys
import sysconfig
from collections.abc import Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement

from easeml.errors import InvalidInput

FILE = "requirements.txt"
CHECK = "packages"
TITLE = "The packages of requirements.txt can be installed."
"""The check of a module that needs some, by its name, and as people read it."""
_COMMENT = re.compile(r"(^|\s)#.*")
_MOST = 100


def read(files: Mapping[str, str]) -> list[str]:
    """Return the requirements of a folder's files, each written in one way, in order of their names.

    Raises ``InvalidInput`` for an option of pip, an address, and what is no requirement: a service
    decides itself where packages come from.
    """
    found = set()
    for number, line in enumerate(files.get(FILE, "").splitlines(), 1):
        text = _COMMENT.sub("", line).strip()
        if text:
            found.add(_read_one(text, f"{FILE}, line {number}"))
    if len(found) > _MOST:
        raise InvalidInput(f"There are more than {_MOST} requirements.", where=FILE)
    return sorted(found)


def key_of(requirements: Sequence[str], interpreter: str) -> str:
    """Return by what an environment is found again: a digest of all that decides what is in it."""
    return hashlib.sha256("\n".join([interpreter, *requirements]).encode()).hexdigest()


def interpreter() -> str:
    """Return for which Pythons an environment that is made here is good: ``cpython-311-linux-x86_64``."""
    return f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"


def _read_one(text: str, where: str) -> str:
    if text.startswith("-"):
        raise InvalidInput(
            f"{text.split(maxsplit=1)[0]!r} is an option of pip.",
            where=where,
            remedy="Name packages and versions only: a service decides where packages come from.",
        )
    try:
        found = Requirement(text)
    except InvalidRequirement as error:
        raise InvalidInput(
            f"{text[:80]!r} is not a requirement.",
            where=where,
            remedy="Write a package and its versions, such as scipy>=1.15.",
        ) from error
    if found.url:
        raise InvalidInput(
            f"{found.name} is named by an address.",
            where=where,
            remedy="Name a version that an index of packages has.",
        )
    return str(found)

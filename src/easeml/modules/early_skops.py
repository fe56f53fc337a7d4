"""skops imported in half of its time, by a process that others are forked from."""

import sys

import numpy  # noqa: F401
import scipy.special  # noqa: F401

_HAVE_UFUNCS = ("numpy", "scipy")


def import_skops() -> None:
    """Import ``skops.io``. This process must have one thread.

    skops looks for the module of each of 320 ufuncs in all that is loaded, in the order in which it
    was loaded. Behind a whole service that takes a second, so what has them is moved to the front.
    """
    for name in sorted(sys.modules, key=_comes_later):
        module = sys.modules.pop(name)
        sys.modules[name] = module
    import skops.io  # noqa: F401


def _comes_later(name: str) -> bool:
    package, _, _ = name.partition(".")
    return package not in _HAVE_UFUNCS

"""Compiled functions, kept on disk where that works and compiled anew where it does not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache

_SETTINGS: Any = config  # its attributes are made from environment variables


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function by ``numba.njit``, whose cache then cannot break the caller.

    Numba raises where a folder of its cache is deleted, full, read-only or damaged, though it
    could compile, or has just compiled, what it was asked for.

    Args:
        cache: whether to keep what was compiled beside the source, for the next process.
        options: of ``numba.njit``.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher: Any = numba.njit(**options)(function)
        if not cache:
            return dispatcher
        try:
            dispatcher._cache = _OptionalCache(function)
        except (OSError, RuntimeError):
            return dispatcher  # no folder can be written to: compile in every process
        return dispatcher

    return compiled


def parts_of(most: int) -> int:
    """Return into how many parts work is divided: one a core, at most ``most``, at least one."""
    return max(1, min(_SETTINGS.NUMBA_NUM_THREADS, most))


def in_parts(kernel: Any, parts: int, *arguments: Any) -> None:
    """Run a kernel on all parts of its work at the same time; return when all are done.

    Numba's own loops over parts (``prange``) are as fast, but take several times as long to compile.

    Args:
        kernel: made by ``njit(nogil=True)``; is called with the number of its part, the number of
            all parts, and the arguments. Parts write to different places.
        parts: as ``parts_of`` gave them.
        arguments: of the kernel.
    """
    if parts == 1:
        kernel(0, 1, *arguments)
        return
    kernel.compile(tuple(map(numba.typeof, (0, parts, *arguments))))  # once, not in every thread
    with ThreadPoolExecutor(parts) as threads:
        running = [threads.submit(kernel, part, parts, *arguments) for part in range(parts)]
        for each in running:
            each.result()


class _OptionalCache(FunctionCache):
    """A cache of one function that answers "not there" and keeps nothing where it fails."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:
            return

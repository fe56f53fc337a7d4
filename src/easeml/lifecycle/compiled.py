"""Compiled functions, kept on disk where that works and compiled anew where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache


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

"""Names for pandas objects, for the signatures of functions that work on columns.

As pandas declares it, ``frame[name]`` may be a series or a frame, and results of series are unions
of a dozen types, so these are not checked: they only tell the reader what is meant.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Frame: TypeAlias = Any
"""A ``pandas.DataFrame``."""

Column: TypeAlias = Any
"""A ``pandas.Series``."""

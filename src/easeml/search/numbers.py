"""What counts as a number where a person wrote it down."""

import sys
from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite number.

    A truth value is none, and neither is a whole number that is too large for floating point.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # not so of NaN either

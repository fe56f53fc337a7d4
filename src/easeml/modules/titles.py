"""What checks are called: the first sentences of their docstrings."""

import inspect
from collections.abc import Callable
from typing import Any


def title_of(check: Callable[..., Any]) -> str:
    """Return the first paragraph of a docstring in one line."""
    paragraph = (inspect.getdoc(check) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())

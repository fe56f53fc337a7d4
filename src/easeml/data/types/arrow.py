"""Arrow's functions on columns, loaded when first used."""

from typing import Any


def arrow_compute() -> Any:
    """``pyarrow.compute``, typed as anything.

    Its functions are made when it is imported, so type checkers do not know them.
    """
    import pyarrow.compute

    return pyarrow.compute

"""What is made of the errors of models that were trained elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from easeml.errors import EasemlError
from easeml.modules.programs import ProgramFailed


@contextmanager
def told_as_failure() -> Iterator[None]:
    """Turn whatever a model raises on rows into ``ProgramFailed``, which says it to its users."""
    try:
        yield
    except (EasemlError, MemoryError):
        raise
    except Exception as error:
        said = f"The model fails on these rows: {type(error).__name__}: {error}"
        remedy = "Fit it on the columns as pandas reads them, missing cells included."
        raise ProgramFailed(said[:600], remedy=remedy) from error

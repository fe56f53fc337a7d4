"""Optimizers: which configurations of a model to try next.

Each is a module's part of the search, not of tenants.
"""

from easeml.errors import InvalidInput
from easeml.search.optimizers.base import Optimizer, Tried
from easeml.search.optimizers.guided import Guided
from easeml.search.optimizers.plain import Grid, QuasiRandom, Random
from easeml.search.optimizers.tpe import TPE

__all__ = [
    "OPTIMIZERS", "TPE", "Grid", "Guided", "Optimizer", "QuasiRandom", "Random", "Tried", "optimizer_named",
]  # fmt: skip

OPTIMIZERS: dict[str, Optimizer] = {
    one.name: one for one in (Guided(), QuasiRandom(), Random(), Grid(), TPE())
}
DEFAULT = Guided.name


def optimizer_named(name: str = "default") -> Optimizer:
    """Return the optimizer called ``name``; ``default`` is easeml's own.

    Raises ``InvalidInput``.
    """
    found = OPTIMIZERS.get(DEFAULT if name == "default" else name)
    if found is None:
        remedy = f"Use default or one of: {', '.join(OPTIMIZERS)}."
        raise InvalidInput(f"There is no optimizer {name!r}.", where="optimizer", remedy=remedy)
    return found

"""What every objective has to do, as checks that a test suite runs over the zoo and over plug-ins.

``check(module)`` raises ``AssertionError`` with what is wrong.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.contract import Objective
from easeml.modules.module import Module

_ROWS, _CLASSES, _SEEDS = 40, 3, 5


def check(module: Module) -> None:
    """Run all checks on made answers, right, wrong and of a single row."""
    assert module.kind == "objective", f"{module.name} is a {module.kind}"
    assert module.schema_in is not None, f"{module.name}: an objective has an input schema"
    is_category = next(iter(module.schema_in.first.nodes.values())).type == "category"
    objective: Objective = module.make()
    for seed in range(_SEEDS):
        actual, right, wrong = _answers(is_category, seed)
        _check_answers(objective, actual, right, wrong, f"{module.name}, seed {seed}")


def _check_answers(
    objective: Objective,
    actual: NDArray[Any],
    right: NDArray[np.float64],
    wrong: NDArray[np.float64],
    where: str,
) -> None:
    best = objective.quality(actual, right)
    assert math.isclose(best, 1.0, abs_tol=1e-9), f"{where}: right answers have quality {best}"
    worse = objective.quality(actual, wrong)
    assert -1 <= worse < 1, f"{where}: wrong answers have quality {worse}"
    again = objective.quality(actual, wrong)
    assert worse == again, f"{where}: differs when asked again"
    assert math.isfinite(objective.value(actual, wrong)), f"{where}: the value is no number"
    for row in range(3):
        alone = objective.quality(actual[row : row + 1], wrong[row : row + 1])
        assert -1 <= alone <= 1, f"{where}: row {row} alone has quality {alone}"


def _answers(
    is_category: bool, seed: int
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Return answers with right and wrong predictions: probabilities, or values."""
    random = np.random.default_rng(seed)
    if not is_category:
        actual = random.normal(100, 20, _ROWS)
        return actual, actual.copy(), random.normal(100, 40, _ROWS)
    codes = np.concatenate([np.arange(_CLASSES), random.integers(_CLASSES, size=_ROWS)])
    wrong = random.dirichlet(np.ones(_CLASSES), size=len(codes))
    return codes, np.eye(_CLASSES)[codes], wrong

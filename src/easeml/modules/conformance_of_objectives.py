"""What every objective has to do, as checks that a test suite runs over the zoo and over plug-ins.

``check(module)`` raises ``AssertionError`` with what is wrong; of a family it is given an objective
about the class "0" … "2". ``OF_PROGRAMS`` are those of a folder
of programs, one by one, as a service runs them.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.modules.contract import Objective
from easeml.modules.module import Module
from easeml.modules.objective_programs import ProcessObjective
from easeml.modules.registry import Registry
from easeml.modules.scale import scale_of, why_no_measure

_ROWS, _CLASSES, _SEEDS = 40, 3, 5


def check(module: Module) -> None:
    """Run all checks on made answers, right, wrong and of a single row."""
    assert module.kind == "objective", f"{module.name} is a {module.kind}"
    objective: Objective = module.make()
    for_classes = getattr(objective, "for_classes", None)
    if for_classes is not None:
        objective = for_classes(list(map(str, range(_CLASSES))))
    if module.measure:
        _check_description(module, objective)
    for seed in range(_SEEDS):
        actual, right, wrong = _answers(module, seed)
        _check_answers(objective, actual, right, wrong, f"{module.name}, seed {seed}")


def _check_description(module: Module, objective: Objective) -> None:
    """The table ``[measure]`` of a description says what the class does."""
    reason = why_no_measure(module.measure, unbounded=True)
    assert not reason, f"{module.name}: {reason}"
    scale = scale_of(module.measure)
    lower_is_better = getattr(objective, "lower_is_better", False)
    assert lower_is_better == (scale.best < scale.worst), f"{module.name}: which end is the best?"
    assert objective.needs_probabilities == scale.needs_probabilities, module.name
    in_unit = getattr(objective, "in_unit_of_target", False)
    assert in_unit == scale.in_unit_of_target, module.name
    low, high = sorted((scale.worst, scale.best))
    for seed in range(_SEEDS):
        actual, right, wrong = _answers(module, seed)
        found = [objective.value(actual, right), objective.value(actual, wrong)]
        assert all(low - 1e-9 <= one <= high + 1e-9 for one in found), f"{module.name}: {found}"


def check_values(module: Module, registry: Registry, folder: Path) -> None:
    """Every answer has a measure: a finite number between worst and best."""
    objective: ProcessObjective = module.make()
    for seed in range(_SEEDS):
        actual, right, wrong = _answers(module, seed)
        objective.values([(actual, right), (actual, wrong)])  # it raises for any other number


def check_direction(module: Module, registry: Registry, folder: Path) -> None:
    """Right answers are better than wrong ones."""
    objective: ProcessObjective = module.make()
    for seed in range(_SEEDS):
        actual, right, wrong = _answers(module, seed)
        good, bad = map(objective.quality_of, objective.values([(actual, right), (actual, wrong)]))
        assert good > bad, (
            f"Right answers have the score {good:.4g}, wrong ones {bad:.4g}: "
            "are worst and best of [measure] the wrong way round?"
        )


def check_rows_alone(module: Module, registry: Registry, folder: Path) -> None:
    """A row alone has a measure, and so have rows of one class."""
    objective: ProcessObjective = module.make()
    actual, right, wrong = _answers(module, 0)
    alone = [(actual[place : place + 1], wrong[place : place + 1]) for place in range(_CLASSES)]
    same = actual == actual[0]
    objective.values([*alone, (actual[same], right[same]), (actual[same], wrong[same])])


def check_again(module: Module, registry: Registry, folder: Path) -> None:
    """Equal answers have equal measures, whatever else is measured with them."""
    objective: ProcessObjective = module.make()
    actual, right, wrong = _answers(module, 1)
    alone = objective.value(actual, wrong)
    among = objective.values([(actual, right), (actual, wrong)])[1]
    assert alone == among, f"The same answers have the measure {alone:.6g}, and then {among:.6g}."


OF_PROGRAMS = (check_values, check_direction, check_rows_alone, check_again)
"""The first stands for itself: what it finds wrong, all others would find as well."""

OF_PROTOTYPE = (check_direction, check_again)
"""Its contract says nothing of rows alone: some of its measures are no numbers there. Each of its
measures is a call, and the first check finds what ``check_values`` would.
"""


def _is_category(module: Module) -> bool:
    assert module.schema_in is not None, f"{module.name}: an objective has an input schema"
    return next(iter(module.schema_in.first.nodes.values())).type == "category"


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
    assert math.isfinite(objective.value(actual, wrong)), f"{where}: the value is not a number"
    for row in range(3):
        alone = objective.quality(actual[row : row + 1], wrong[row : row + 1])
        assert -1 <= alone <= 1, f"{where}: row {row} alone has quality {alone}"


def _answers(
    module: Module, seed: int
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    """Return answers with right and wrong predictions: probabilities, labels of rows, or values."""
    random = np.random.default_rng(seed)
    if module.labels:
        shape = (_ROWS, _CLASSES)
        labels = random.integers(2, size=shape).astype(np.float64)
        return labels, labels.copy(), random.integers(2, size=shape).astype(np.float64)
    if not _is_category(module):
        actual = random.normal(100, 20, _ROWS)
        return actual, actual.copy(), random.normal(100, 40, _ROWS)
    codes = np.concatenate([np.arange(_CLASSES), random.integers(_CLASSES, size=_ROWS)])
    wrong = random.dirichlet(np.ones(_CLASSES), size=len(codes))
    return codes, np.eye(_CLASSES)[codes], wrong

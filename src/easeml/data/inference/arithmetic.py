"""Numbers that make up another: its parts, its factors, or the whole that it is a part of.

Each column has as many numbers as the target, which has one at least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Numbers = dict[str, "np.ndarray"]  # columns by name, a number a row; NaN is missing
_Test = Callable[[Sequence[int]], bool]  # whether columns, by place, are enough for the target

_MOST = 60  # columns that are tried
_LEFT_OF_SUM = 1e-10  # share of the variance that may be left: single precision leaves 1e-12
_LEFT_OF_PRODUCT = 1e-6  # factors are often rounded
_NEVER = 0.995  # share of rows that are all rows but for errors
_RISE = 0.9  # of the variance of the part that the whole explains
_OWN = 0.1  # how much of the whole the part is at least
_MOST_SWAPS = 200  # fits that are tried to find columns that can stand for each other
_UNIT = 0.1  # how far from 1 the weight of a part may be
_MOST_GAPS = 0.2  # share of the rows, above which a column with gaps is left out
_FEWEST = 40  # rows without gaps
_DIGITS = range(-3, 7)  # of rounded numbers, after the point
_OFF = 0.75  # of the last digit: half is what rounding leaves, the rest is for the weights
_LEFT_OF_ROUNDED = 0.01  # share of the variance that rounding may be
_AS_WELL = 1.2  # of what all columns leave, what some of them may leave


def rows_without_gaps(numbers: Numbers) -> np.ndarray | None:
    """The rows in which every column has a number, of those columns that have few gaps.

    None where there are too few: then only columns without gaps tell.
    """
    import numpy as np

    given = list(map(np.isfinite, numbers.values()))
    with_few_gaps = [one for one in given if one.mean() >= 1 - _MOST_GAPS]
    if not with_few_gaps:
        return None
    everywhere = np.logical_and.reduce(with_few_gaps)
    is_enough = everywhere.sum() >= max(_FEWEST, len(everywhere) // 3)
    return everywhere if is_enough else None


def parts(numbers: Numbers, target: np.ndarray) -> list[str]:
    """The columns whose weighted sum is the target, exactly or before it was rounded.

    Least squares leave nothing, or less than half of the target's last digit in every row.
    """
    return _exact(_complete(numbers), target, _LEFT_OF_SUM)


def factors(numbers: Numbers, target: np.ndarray) -> list[str]:
    """The columns whose product (or ratio) is the target: as ``parts``, of logarithms."""
    import numpy as np

    if target.min() <= 0:
        return []
    possible = _those(_complete(numbers), _is_possible_factor)
    logs = {name: np.log(values) for name, values in possible.items()}
    return _exact(logs, np.log(target), _LEFT_OF_PRODUCT, np.exp)


def _is_possible_factor(values: np.ndarray) -> bool:
    import numpy as np

    return bool(values.min() > 0 and np.ptp(values) > 0)


def whole_and_parts(numbers: Numbers, target: np.ndarray) -> dict[str, list[str]]:
    """Columns that the target is a part of, each with the other parts: fare and tip of a total.

    A whole is never smaller than the target and rises with it: alone, or once what the other parts
    add is taken off.
    """
    import numpy as np

    found: dict[str, list[str]] = {}
    if target.min() < 0 or np.ptp(target) == 0:
        return found
    complete = _complete(numbers)
    for name in complete:
        others = _other_parts(complete, name, target)
        if others is not None:
            found[name] = others
    return found


def _other_parts(complete: Numbers, name: str, target: np.ndarray) -> list[str] | None:
    """What else makes up a whole of which the target is a part; None where it is no such whole."""
    import numpy as np

    whole = complete[name]
    is_above = (whole >= target).mean() >= _NEVER
    is_much = target.mean() >= _OWN * whole.mean()
    rest = whole - target
    could_hold_target = is_above and is_much and np.ptp(rest) > 0
    if not could_hold_target:
        return None

    possible = _possible_parts(complete, name)
    added = _unit_parts(possible, rest)
    left = reduce(np.subtract, map(possible.__getitem__, added), whole)
    return added if _rises_with(left, target) else None


def _rises_with(left: np.ndarray, target: np.ndarray) -> bool:
    """Whether what is left of a whole explains the target in a line."""
    import numpy as np

    if np.ptp(left) == 0:
        return False
    return bool(np.corrcoef(left, target)[0, 1] ** 2 >= _RISE)


def _possible_parts(complete: Numbers, name: str) -> Numbers:
    """The other columns that vary, are not negative, and are not larger than the whole.

    Empty where they are more than are tried.
    """
    others = dict(complete)
    whole = others.pop(name)
    inside = {}
    for other, values in others.items():
        if _is_inside(whole, values):
            inside[other] = values
            if len(inside) > _MOST:
                return {}
    return inside


def _is_inside(whole: np.ndarray, values: np.ndarray) -> bool:
    import numpy as np

    is_below = (values <= whole).mean() >= _NEVER
    return bool(is_below and values.min() >= 0 and np.ptp(values) > 0)


def _unit_parts(others: Numbers, rest: np.ndarray) -> list[str]:
    """The columns that the rest holds once each: their weights in least squares are 1."""
    import numpy as np

    if not others:
        return []
    X = np.column_stack([*others.values()])
    weights, *_ = np.linalg.lstsq(X - X.mean(axis=0), rest - rest.mean(), rcond=None)
    spread = X.std(axis=0)
    is_one = np.abs(weights - 1) <= _UNIT
    matters = spread >= _UNIT * rest.std()
    return list(compress(others, is_one & matters))


def _complete(numbers: Numbers) -> Numbers:
    """The columns without gaps and infinite numbers."""
    return _those(numbers, _are_finite)


def _are_finite(values: np.ndarray) -> bool:
    import numpy as np

    return bool(np.isfinite(values).all())


def _those(numbers: Numbers, test: Callable[[np.ndarray], bool]) -> Numbers:
    """The columns that pass a test."""
    return {name: values for name, values in numbers.items() if test(values)}


def _exact(
    columns: Numbers,
    target: np.ndarray,
    tolerance: float,
    unscaled: Callable[[np.ndarray], np.ndarray] | None = None,
) -> list[str]:
    """The columns that least squares needs for the target; empty where it leaves too much.

    ``unscaled``: gives the numbers of which the target is a function; None: it is these numbers.
    """
    import numpy as np

    if not 2 <= len(columns) <= min(_MOST, len(target) // 4):
        return []
    X = np.column_stack([*columns.values()])
    triangle, total = _triangle(X, target)
    if triangle is None:
        return []
    answer = triangle[:, -1]

    def left_by(chosen: Sequence[int]) -> float:
        weights, *_ = np.linalg.lstsq(triangle[:, chosen], answer, rcond=None)
        return float(((answer - triangle[:, chosen] @ weights) ** 2).sum())

    everything = list(range(len(columns)))
    left = left_by(everything)
    may_be_left = tolerance * total
    if left > may_be_left:
        is_near = left <= _LEFT_OF_ROUNDED * total
        if not is_near or not _is_rounded(X, target, unscaled):
            return []
        may_be_left = _AS_WELL * left

    def is_enough(chosen: Sequence[int]) -> bool:
        return left_by(chosen) <= may_be_left

    needed = _needed(everything, is_enough)
    told = sorted([*needed, *_stand_ins(everything, needed, is_enough)])
    names = list(columns)
    return [names[one] for one in told]


def _is_rounded(
    X: np.ndarray, target: np.ndarray, unscaled: Callable[[np.ndarray], np.ndarray] | None
) -> bool:
    """Whether the target is what least squares give, but for its rounding to the last digit."""
    import numpy as np

    centred = X - X.mean(axis=0)
    scaled = centred / np.maximum(centred.std(axis=0), 1e-300)
    weights, *_ = np.linalg.lstsq(scaled, target - target.mean(), rcond=None)
    told = target.mean() + scaled @ weights
    if unscaled is not None:
        told, target = unscaled(told), unscaled(target)
    return bool(np.abs(told - target).max() <= _OFF * _last_digit(target))


def _last_digit(values: np.ndarray) -> float:
    """What the last digit of numbers counts, such as .01; 0 where they are not rounded."""
    import numpy as np

    for digits in _DIGITS:
        if np.allclose(np.round(values, digits), values, rtol=1e-12, atol=1e-9):
            return 10.0**-digits
    return 0.0


def _triangle(X: np.ndarray, target: np.ndarray) -> tuple[np.ndarray | None, float]:
    """A square of ``X`` and, as its last column, the target; and the target's sum of squares.

    What least squares leaves is the same on this triangle as on all rows, and dozens of fits on it
    cost no more than one on these. None where numbers are too large, or the target does not vary.
    """
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        centred = X - X.mean(axis=0)
        y = target - target.mean()
        scaled = centred / np.maximum(centred.std(axis=0), 1e-300)
        total = float(y @ y)
    if not 0 < total < np.inf or not np.isfinite(scaled).all():
        return None, total
    return np.linalg.qr(np.column_stack([scaled, y])).R, total


def _needed(everything: Sequence[int], is_enough: _Test) -> Sequence[int]:
    """Columns of which none can be left out. Some that make up each other are not among them."""
    needed = everything
    for one in everything:
        without = _without(needed, one)
        if without and is_enough(without):
            needed = without
    return needed


def _stand_ins(everything: Sequence[int], needed: Sequence[int], is_enough: _Test) -> Sequence[int]:
    """Columns that could take the place of one that is needed: the same in another unit."""
    others = sorted({*everything}.difference(needed))
    if len(others) * len(needed) > _MOST_SWAPS:
        return []
    return list(filter(partial(_can_stand_in, needed, is_enough), others))


def _can_stand_in(needed: Sequence[int], is_enough: _Test, other: int) -> bool:
    return any(is_enough([other, *_without(needed, out)]) for out in needed)


def _without(columns: Sequence[int], one: int) -> Sequence[int]:
    return [other for other in columns if other != one]

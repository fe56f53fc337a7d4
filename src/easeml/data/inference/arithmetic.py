"""Numbers that make up another: its parts, its factors, or the whole that it is a part of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Numbers = dict[str, "np.ndarray"]  # columns by name, a number a row; NaN is missing

_MOST = 60  # columns that are tried
_LEFT_OF_SUM = 1e-10  # share of the variance that may be left: single precision leaves 1e-12
_LEFT_OF_PRODUCT = 1e-6  # factors are often rounded
_NEVER = 0.995  # share of rows that are all rows but for errors
_RISE = 0.9  # of the variance of the part that the whole explains
_OWN = 0.1  # how much of the whole the part is at least
_MOST_SWAPS = 200  # fits that are tried to find columns that can stand for each other
_UNIT = 0.1  # how far from 1 the weight of a part may be


def parts(numbers: Numbers, target: np.ndarray) -> list[str]:
    """The columns whose weighted sum is the target exactly: least squares without anything left."""
    return _exact(_complete(numbers), target, _LEFT_OF_SUM)


def factors(numbers: Numbers, target: np.ndarray) -> list[str]:
    """The columns whose product (or ratio) is the target: as ``parts``, of logarithms."""
    import numpy as np

    if not len(target) or target.min() <= 0:
        return []
    positive = {name: x for name, x in _complete(numbers).items() if x.min() > 0}
    logs = {name: np.log(x) for name, x in positive.items() if np.ptp(x) > 0}
    return _exact(logs, np.log(target), _LEFT_OF_PRODUCT)


def whole_and_parts(numbers: Numbers, target: np.ndarray) -> dict[str, list[str]]:
    """Columns that the target is a part of, each with the other parts: fare and tip of a total.

    A whole is never smaller than the target and rises with it: alone, or once what the other parts
    add is taken off.
    """
    import numpy as np

    found: dict[str, list[str]] = {}
    complete = _complete(numbers)
    if not len(target) or target.min() < 0 or np.ptp(target) == 0:
        return found
    for name in complete:
        others = _other_parts(complete, name, target)
        if others is not None:
            found[name] = others
    return found


def _other_parts(complete: Numbers, name: str, target: np.ndarray) -> list[str] | None:
    """What else makes up a whole of which the target is a part; None where it is no such whole."""
    import numpy as np

    whole = complete[name]
    could_hold_target = (whole >= target).mean() >= _NEVER
    if not could_hold_target or target.mean() < _OWN * whole.mean():
        return None
    rest = whole - target
    if np.ptp(rest) == 0:
        return None

    possible = _possible_parts(complete, name)
    added = _unit_parts(possible, rest)
    left = whole
    for other in added:
        left = left - possible[other]
    if np.ptp(left) == 0:
        return None
    rises_alike = np.corrcoef(left, target)[0, 1] ** 2 >= _RISE
    return added if rises_alike else None


def _possible_parts(complete: Numbers, name: str) -> dict[str, np.ndarray]:
    """The other columns that vary, are not negative, and are not larger than the whole."""
    import numpy as np

    whole = complete[name]
    found = {}
    for other, values in complete.items():
        if other == name or np.ptp(values) == 0:
            continue
        inside = (values <= whole).mean() >= _NEVER
        if inside and values.min() >= 0:
            found[other] = values
    return found


def _unit_parts(others: Numbers, rest: np.ndarray) -> list[str]:
    """The columns that the rest holds once each: their weights in least squares are 1."""
    import numpy as np

    if not others or len(others) > _MOST:
        return []
    X = np.column_stack([*others.values()])
    weights, *_ = np.linalg.lstsq(X - X.mean(axis=0), rest - rest.mean(), rcond=None)
    spread = X.std(axis=0)
    is_one = np.abs(weights - 1) <= _UNIT
    matters = spread >= _UNIT * rest.std()
    return [name for name, kept in zip(others, is_one & matters, strict=True) if kept]


def _complete(numbers: Numbers) -> Numbers:
    import numpy as np

    return {name: x for name, x in numbers.items() if len(x) and np.isfinite(x).all()}


def _exact(columns: Numbers, target: np.ndarray, tolerance: float) -> list[str]:
    """The columns that least squares needs for the target; empty where it leaves too much."""
    import numpy as np

    if not 2 <= len(columns) <= min(_MOST, len(target) // 4):
        return []
    X = np.column_stack([*columns.values()])
    with np.errstate(over="ignore", invalid="ignore"):
        centred = X - X.mean(axis=0)
        y = target - target.mean()
        scale = np.maximum(centred.std(axis=0), 1e-300)
        scaled = centred / scale
        total = float(y @ y)
    if not np.isfinite(scaled).all() or not np.isfinite(total) or total == 0:
        return []

    # What least squares leaves is the same on this triangle, which has a row a column: dozens of
    # fits cost no more than one on all rows.
    triangle = np.linalg.qr(np.column_stack([scaled, y])).R
    answer = triangle[:, -1]

    def is_enough(chosen: list[int]) -> bool:
        weights, *_ = np.linalg.lstsq(triangle[:, chosen], answer, rcond=None)
        left = float(((answer - triangle[:, chosen] @ weights) ** 2).sum())
        return left <= tolerance * total

    everything = list(range(len(columns)))
    if not is_enough(everything):
        return []
    needed = _needed(everything, is_enough)
    told = sorted([*needed, *_stand_ins(everything, needed, is_enough)])
    names = list(columns)
    return [names[one] for one in told]


def _needed(everything: list[int], is_enough: Callable[[list[int]], bool]) -> list[int]:
    """Columns of which none can be left out. Some that make up each other are not among them."""
    needed = everything
    for one in everything:
        without = [other for other in needed if other != one]
        if without and is_enough(without):
            needed = without
    return needed


def _stand_ins(
    everything: list[int], needed: list[int], is_enough: Callable[[list[int]], bool]
) -> list[int]:
    """Columns that could take the place of one that is needed: the same in another unit."""
    others = [one for one in everything if one not in needed]
    if len(others) * len(needed) > _MOST_SWAPS:
        return []
    return [other for other in others if _can_stand_in(other, needed, is_enough)]


def _can_stand_in(other: int, needed: list[int], is_enough: Callable[[list[int]], bool]) -> bool:
    for out in needed:
        kept = [one for one in needed if one != out]
        if is_enough([other, *kept]):
            return True
    return False

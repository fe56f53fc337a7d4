"""How a number is made up of others, in words: its formula where it is determined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from easeml.data.inference.arithmetic import Numbers

if TYPE_CHECKING:
    import numpy as np

_SAME = 0.005  # how far a constant may be from none, as numbers are rounded
_MOST_NAMED = 4  # columns of a sum or product
_READ = range(1, _MOST_NAMED + 1)  # columns of a formula
_ROWS = 400  # that weights are computed from: the formula is exact in each


def sum_in_words(numbers: Numbers, made_of: Sequence[str], actual: np.ndarray) -> str:
    """How the target is made up of parts: 2 × 'mean' - 'reading'.

    Where parts can stand for each other, or there are many, it is no formula.
    """
    import numpy as np

    weights = _weights(list(map(numbers.__getitem__, made_of)), actual)
    if not weights:
        return f"a weighted sum of {_listed(made_of)}"

    constant = weights.pop()
    has_constant = abs(constant) >= _SAME * actual.std()
    is_plain = not has_constant and np.allclose(weights, 1.0, atol=_SAME)
    if is_plain:
        return f"a sum of {_listed(made_of)}"

    terms = list(map(_term, weights, made_of))
    if has_constant:
        sign = f"{constant:+}"[0]
        terms.append(f"{sign} {abs(constant):.3g}")
    return " ".join(terms).removeprefix("+ ")


def product_in_words(numbers: Numbers, made_of: Sequence[str], actual: np.ndarray) -> str:
    """How the target is made up of factors: 0.05 × 'price' × 'number', or 'pupils' / 'teachers'.

    Where factors can stand for each other, or there are many, it is no formula.
    """
    import numpy as np

    factors = list(map(numbers.__getitem__, made_of))
    with np.errstate(divide="ignore", invalid="ignore"):  # what is not positive has no factors
        powers = _weights(list(map(np.log, factors)), np.log(actual))
    if not powers:
        return f"a product or ratio of {_listed(made_of)}"

    constant = float(np.exp(powers.pop()))
    by_power = sorted(zip(powers, made_of, strict=True), key=_shown_power, reverse=True)
    told = [f"{constant:.3g}"]
    for power, name in by_power:
        sign = "×" if power > 0 else "/"
        raised = f"'{name}'^{abs(power):.3g}"
        told.append(f"{sign} {raised.removesuffix('^1')}")
    return " ".join(told).removeprefix("1 × ")


def _shown_power(factor: tuple[float, str]) -> float:
    """The power of a factor without the noise of least squares: equal ones keep their order."""
    power, _ = factor
    return round(power, 3)


def _term(weight: float, name: str) -> str:
    """One part of a sum, with its sign."""
    sign = f"{weight:+}"[0]
    size = f"{abs(weight):.3g} × "
    shown = "" if size == "1 × " else size
    return f"{sign} {shown}'{name}'"


def _weights(columns: Sequence[np.ndarray], target: np.ndarray) -> list[float]:
    """The weights of least squares, and its constant, last.

    Empty where they are not determined, or too many to be read.
    """
    import numpy as np

    if len(columns) not in _READ:
        return []
    step = max(1, len(target) // _ROWS)
    X = np.column_stack(columns)[::step]
    y = target[::step]
    middle = X.mean(axis=0)
    centred = X - middle
    scale = centred.std(axis=0)
    found, _, rank, _ = np.linalg.lstsq(centred / scale, y - y.mean(), rcond=1e-6)
    if rank < len(columns):
        return []
    weights = found / scale
    constant = y.mean() - middle @ weights
    return [*map(float, weights), float(constant)]


def _listed(columns: Sequence[str]) -> str:
    """The columns in words: 'a', 'b' and 'c'; of many the first."""
    quoted = list(map("'{}'".format, columns))
    if len(quoted) > _MOST_NAMED:
        more = len(quoted) - _MOST_NAMED
        quoted = [*quoted[:_MOST_NAMED], f"{more} more"]
    return f"{', '.join(quoted[:-1])} and {''.join(quoted[-1:])}"

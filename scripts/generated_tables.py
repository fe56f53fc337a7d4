"""Tables that nobody measured, but which look like those that people have.

Columns are made of a few hidden factors and bent into the shapes of real ones: skewed, heavy-tailed,
counted, rounded, cut into named levels, with gaps. The answer depends on some of the factors by
steps, by smooth bumps, by lines, by products, or by two of these together, and is blurred by noise.
Each number of a table belongs to one table for ever.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

ROWS = (300, 9000)
COLUMNS = (4, 50)
FACTORS = (3, 16)
NOISE = (0.03, 1.0)  # standard deviation beside that of the signal
_LEVELS = (2, 12)
_STEPS = (20, 400)  # cells of a signal of steps
_BUMPS = (10, 80)
_ENDS = (0.001, 0.999)  # quantiles at which numbers are cut

Signal = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class GeneratedTable:
    """``rows`` (n, d) and ``answers`` (n,): texts for classification, numbers for regression."""

    name: str
    kind: str
    rows: pd.DataFrame
    answers: np.ndarray


def generated_table(number: int, sizes: tuple[int, int] = ROWS) -> GeneratedTable:
    """Return the table of a number: even ones are for classification, odd ones for regression.

    ``sizes``: the fewest and the most rows.
    """
    kind = "regression" if number % 2 else "classification"
    generator = np.random.default_rng([2026, number])
    rows = round(_spread(generator, sizes))
    columns = round(_spread(generator, COLUMNS))
    factors = _factors(generator, rows, min(columns, round(_spread(generator, FACTORS))))
    signal = _signal(generator, factors)
    noise = _spread(generator, NOISE) * generator.standard_normal(rows)
    blurred = signal + noise
    answers = _numbers(generator, blurred)
    if kind == "classification":
        answers = _classes(generator, factors, blurred)
    shown = np.concatenate([generator.permutation(factors.shape[1]) for _ in range(columns)])
    frame = pd.DataFrame(
        {f"column {place}": _column(generator, factors, shown[place]) for place in range(columns)}
    )
    return GeneratedTable(f"generated-{number}", kind, frame, answers)


def _spread(generator: np.random.Generator, ends: tuple[float, float]) -> float:
    """Return a draw between two ends that is even in the logarithm."""
    low, high = np.log(ends)
    return float(np.exp(generator.uniform(low, high)))


def _factors(generator: np.random.Generator, rows: int, count: int) -> np.ndarray:
    """Return correlated factors (rows, count), some in groups of rows."""
    mixing = np.eye(count) + 0.4 * generator.standard_normal((count, count))
    factors = generator.standard_normal((rows, count)) @ mixing
    if generator.random() < 0.4:
        groups = generator.integers(0, 6, rows)
        factors += 1.5 * generator.standard_normal((6, count))[groups]
    return (factors - factors.mean(axis=0)) / factors.std(axis=0)


def _signal(generator: np.random.Generator, factors: np.ndarray) -> np.ndarray:
    """Return what the answer depends on, (n,), at mean 0 and standard deviation 1."""
    kinds: list[Signal] = [_lines, _steps, _bumps, _products]
    chosen = generator.choice(len(kinds), size=2, replace=False, p=[0.2, 0.4, 0.2, 0.2])
    share = generator.choice([1.0, 0.75, 0.5])
    parts = [_standard(kinds[place](factors, generator)) for place in chosen]
    return _standard(share * parts[0] + (1 - share) * parts[1])


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(float(values.std()), 1e-9)


def _lines(factors: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    weights = generator.standard_normal(factors.shape[1]) * generator.exponential(
        size=factors.shape[1]
    )
    return factors @ weights


def _steps(factors: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Cells of a few random trees, each with a value of its own."""
    total = np.zeros(len(factors))
    cells = round(_spread(generator, _STEPS))
    for _ in range(3):
        place = np.zeros(len(factors), dtype=int)
        for _ in range(max(2, round(np.log2(cells)))):
            factor = factors[:, generator.integers(factors.shape[1])]
            cut = generator.normal(0, 0.7, size=4096)[place % 4096]
            place = 2 * place + (factor > cut)
        total += generator.standard_normal(4096)[place % 4096]
    return total


def _bumps(factors: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A sum of smooth bumps over some of the factors."""
    used = generator.choice(
        factors.shape[1], size=min(factors.shape[1], int(generator.integers(2, 5))), replace=False
    )
    points = factors[:, used]
    count = round(_spread(generator, _BUMPS))
    centres = points[generator.integers(0, len(points), count)]
    heights = generator.standard_normal(count)
    squares = ((points[:, None, :] - centres[None]) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * generator.uniform(0.4, 1.2) ** 2)) @ heights


def _products(factors: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    total = np.zeros(len(factors))
    for _ in range(max(2, factors.shape[1] // 2)):
        first, second = generator.integers(0, factors.shape[1], 2)
        total += generator.standard_normal() * factors[:, first] * np.tanh(factors[:, second])
    return total + 0.5 * np.abs(factors[:, 0])


def _classes(
    generator: np.random.Generator, factors: np.ndarray, blurred: np.ndarray
) -> np.ndarray:
    """Return classes (n,): levels of one signal, or the largest of some."""
    count = int(generator.choice([2, 2, 2, 3, 4, 6, 10]))
    if count == 2 or generator.random() < 0.4:
        shares = generator.dirichlet(np.full(count, 4.0))
        cuts = np.quantile(blurred, np.cumsum(shares)[:-1])
        return np.array([f"class {place}" for place in np.searchsorted(cuts, blurred)])
    others = [_signal(generator, factors) for _ in range(count - 1)]
    noise = 0.3 * generator.standard_normal((count - 1, len(blurred)))
    stacked = np.vstack([blurred, np.array(others) + noise])
    return np.array([f"class {place}" for place in stacked.argmax(axis=0)])


def _numbers(generator: np.random.Generator, blurred: np.ndarray) -> np.ndarray:
    """Return the answers of regression: the signal as it is, or skewed as prices are."""
    if generator.random() < 0.35:
        return np.exp(0.7 * _standard(blurred))
    return 10 * blurred + 50


def _column(generator: np.random.Generator, factors: np.ndarray, factor: int) -> np.ndarray:
    """Return one column (n,) that shows a factor: numbers or texts, some of it perhaps missing."""
    rows, count = factors.shape
    base = factors[:, factor]
    if generator.random() < 0.1:
        base = generator.standard_normal(rows)  # says nothing
    elif generator.random() < 0.4:
        base = base + 0.5 * factors[:, generator.integers(count)]
    base = base + generator.choice([0.0, 0.0, 0.05, 0.3]) * generator.standard_normal(rows)
    shape = generator.choice(["plain", "skewed", "heavy", "counted", "rounded", "levels"])
    column = _shaped(generator, base, str(shape))
    if generator.random() < 0.2:
        gaps = generator.random(rows) < generator.uniform(0.01, 0.3)
        column = np.where(gaps, None, column.astype(object))
    return column


def _shaped(generator: np.random.Generator, base: np.ndarray, shape: str) -> np.ndarray:
    if shape == "skewed":
        return np.exp(base)
    if shape == "heavy":
        cut = np.clip(base, *np.quantile(base, _ENDS))
        return np.sinh(2 * cut)
    if shape == "counted":
        return np.floor(np.exp(np.clip(base, None, 5))).astype(int)
    if shape == "rounded":
        return np.round(base, 1)
    if shape == "levels":
        count = round(_spread(generator, _LEVELS))
        cuts = np.sort(generator.choice(base, count - 1, replace=False))
        names = generator.permutation(count)
        return np.array([f"level {names[place]}" for place in np.searchsorted(cuts, base)])
    return base

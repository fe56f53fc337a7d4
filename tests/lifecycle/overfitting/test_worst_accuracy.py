"""The promise of the meter, reckoned exactly: at every true accuracy of a model."""

import numpy as np
import pytest
from scipy.stats import binom

from easeml.errors import InvalidInput
from easeml.lifecycle.overfitting import Meter
from easeml.lifecycle.overfitting.sizes import deviation, widest_deviation


def greatest_chance_of_a_wrong_reading(meter: Meter) -> float:
    """Return it over true and validation qualities, for the first reading; by enumeration."""
    right = np.arange(meter.examples + 1)
    places = right / meter.examples
    bounds = np.array([-np.inf, *meter.edges, np.inf])
    worst = 0.0
    for quality in np.linspace(0.5, 1.0, 11):
        reading, _ = meter.read(float(quality), np.ones(meter.examples))
        signals = np.searchsorted(meter.edges, quality - places, side="left")
        low = bounds[signals] - reading.tolerance
        high = bounds[signals + 1] + reading.tolerance
        for truth in np.linspace(0.0, 1.0, 101):
            gap = quality - truth
            is_wrong = (gap < low - 1e-12) | (gap > high + 1e-12)
            worst = max(worst, float(binom.pmf(right, meter.examples, truth)[is_wrong].sum()))
    return worst


@pytest.mark.parametrize("mode", ["coded", "plain", "monotone"])
@pytest.mark.parametrize(("examples", "delta"), [(20, 0.001), (30, 0.01), (200, 0.3)])
def test_a_first_reading_is_wrong_as_seldom_as_promised(
    mode: str, examples: int, delta: float
) -> None:
    meter = Meter(examples, (0.05, 0.1), 0.4, delta, 1, mode)  # type: ignore[arg-type]
    assert greatest_chance_of_a_wrong_reading(meter) <= delta


@pytest.mark.parametrize(("learned", "examples"), [(0.0, 20), (5.0, 60), (8.0, 454), (20.0, 1999)])
def test_the_widest_deviation_is_that_of_the_worst_count(learned: float, examples: int) -> None:
    found = widest_deviation(learned, examples, 0.05)
    each = [deviation(learned, examples, 0.05, one / examples) for one in range(examples + 1)]
    assert found == pytest.approx(max(each), rel=1e-9)
    assert found > deviation(learned, examples, 0.05, 0.5)


def test_the_size_that_is_named_is_enough_at_any_accuracy() -> None:
    with pytest.raises(InvalidInput, match="too few") as refused:
        Meter(100, tolerance=0.02, delta=0.01, reports=10, mode="monotone")
    named = int(refused.value.remedy.split()[1].replace(",", ""))  # type: ignore[union-attr]
    meter = Meter(named, tolerance=0.02, delta=0.01, reports=10, mode="monotone", widest=0.02)
    reading, _ = meter.read(0.9, np.ones(named))
    assert reading.signal is not None
    assert reading.tolerance <= 0.02

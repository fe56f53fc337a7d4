"""Formulas of numbers that make up a target, in words."""

import numpy as np
import pytest

from easeml.data.inference.formulas import product_in_words


@pytest.mark.parametrize("seed", range(20))
def test_factors_of_equal_power_stand_in_the_order_of_their_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    price, number = rng.uniform(10, 99, 300).round(2), rng.integers(1, 11, 300).astype(float)
    tax = (price * number * 0.05).round(4)
    told = product_in_words({"price": price, "number": number}, ["price", "number"], tax)
    assert told == "0.05 × 'price' × 'number'"

"""What a module's file says of tables with more columns than rows."""

import pytest

from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.modules.module import Module, parse
from easeml.search import spaces

RIDGE = """
name = "my-ridge"
kind = "model"
version = "1"
contract = 1
title = "My ridge"
accepts = "regression"

[runtime]
kind = "python"
entry = "sklearn.linear_model:Ridge"

[space]
alpha = {{ ".float" = [0.01, 100.0], ".scale" = "log", ".default" = 1.0 }}
solver = {{ ".choice" = ["lsqr", "svd"] }}

[wide]
{wide}
"""


def ridge(wide: str = "alpha = { low = 10.0 }") -> Module:
    return parse(RIDGE.format(wide=wide), "module.toml")


def bounds(space: dict) -> list[float]:
    return space["alpha"][".float"]


def test_the_space_is_narrowed_where_columns_are_more_than_rows() -> None:
    module = ridge()
    assert bounds(module.space_on(100, 101)) == [10.0, 100.0]
    assert module.space_on(100, 100) == module.space
    assert spaces.default(module.space_on(100, 101))["alpha"] == 10.0


def test_what_the_owner_wishes_comes_first() -> None:
    wishes = {"alpha": {"low": 0.1, "high": 0.5}}
    assert bounds(ridge().space_on(100, 101, wishes)) == [0.1, 0.5]


@pytest.mark.parametrize("wide", ["other = 1", "alpha = { low = 1000.0 }", "solver = { low = 1 }"])
def test_what_the_space_does_not_have_is_refused(wide: str) -> None:
    with pytest.raises(InvalidInput, match=r"module\.toml: wide\."):
        ridge(wide)


def test_an_elastic_net_begins_with_a_strong_penalty_on_a_wide_table() -> None:
    for name in ("elastic-net-classifier", "elastic-net-regressor"):
        module = load_registry().get(name)
        first = spaces.suggest(module.space_on(400, 2000), 4, seed=0)
        assert all(0.05 <= config["alpha"] <= 0.3 for config in first)
        assert spaces.default(module.space_on(2000, 20))["alpha"] < 0.05

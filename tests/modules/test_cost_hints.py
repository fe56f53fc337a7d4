"""What a module's file says of how costs grow: with classes and with parameters."""

import pytest

from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.modules.module import Module, parse

TREE = """
name = "my-tree"
kind = "model"
version = "1"
contract = 1
title = "My tree"
accepts = "classification"

[runtime]
kind = "python"
entry = "sklearn.tree:DecisionTreeClassifier"

[cost]
seconds = 0.1
rows = 1.0
classes = 0.5

[cost.powers]
{powers}

[space]
max_depth = {{ ".int" = [1, 20], ".default" = 5 }}
criterion = {{ ".choice" = ["gini", "entropy"] }}
"""


def tree(powers: str = "max_depth = 0.5") -> Module:
    return parse(TREE.format(powers=powers), "module.toml")


def test_costs_grow_with_classes_and_parameters() -> None:
    module = tree()
    usual = module.hinted_cost(1000, 10)
    assert module.hinted_cost(1000, 10, classes=8) == pytest.approx(2 * usual)
    assert module.hinted_cost(1000, 10, config={"max_depth": 20}) == pytest.approx(2 * usual)
    assert module.hinted_cost(1000, 10, config={"criterion": "entropy"}) == pytest.approx(usual)


@pytest.mark.parametrize("powers", ["criterion = 1", "other = 1", 'max_depth = "1"'])
def test_powers_of_what_is_no_number_are_refused(powers: str) -> None:
    with pytest.raises(InvalidInput, match=r"cost\.powers"):
        tree(powers)


def test_more_trees_are_said_to_take_longer() -> None:
    module = load_registry().get("lightgbm-classifier")
    few = module.hinted_cost(10_000, 20, 2, {"trees": 20})
    many = module.hinted_cost(10_000, 20, 2, {"trees": 500})
    assert 5 < many / few < 30

"""Matching: examples for each rule, and a brute force as the oracle."""

import dataclasses
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.schema import CategoryClass, Match, Node, Schema, match, why_not


def tensor(name: str, *dim: int | str, **more) -> Node:
    return Node(name, "tensor", dim=dim or (1,), **more)


def schema(*nodes: Node, **classes: int | str) -> Schema:
    return Schema(
        {node.name: node for node in nodes},
        {name: CategoryClass(dim) for name, dim in classes.items()},
    )


def category(name: str, class_name: str, **more) -> Node:
    return Node(name, "category", class_name=class_name, **more)


ANY_TABLE = schema(
    tensor("numbers", repeat="*", optional=True),
    category("labels", "c", repeat="*", optional=True),
    c="n",
)


def test_a_table_model_takes_any_mix_of_numbers_and_categories() -> None:
    source = schema(
        tensor("age", optional=True),
        category("job", "j"),
        category("sex", "s", optional=True),
        tensor("b"),
        j=12,
        s=2,
    )
    assert ANY_TABLE.match(source) == Match(
        {"age": "numbers", "job": "labels", "sex": "labels", "b": "numbers"}
    )
    assert why_not(ANY_TABLE, source) == ""


def test_a_column_that_nothing_takes() -> None:
    source = schema(tensor("a"), Node("t", "text", column="The text"))
    assert match(ANY_TABLE, source) is None
    assert (
        why_not(ANY_TABLE, source) == "'The text' is text, and it takes only: a number, a category."
    )


def test_missing_values_need_an_optional_node() -> None:
    strict = schema(tensor("x", repeat="+"))
    assert match(strict, schema(tensor("a"))) is not None
    assert match(strict, schema(tensor("a", optional=True))) is None
    assert "missing values" in why_not(strict, schema(tensor("a", optional=True)))


def test_plus_wants_at_least_one() -> None:
    wanted = schema(tensor("x", repeat="*"), Node("t", "text", repeat="+"))
    assert match(wanted, schema(tensor("a"))) is None
    assert why_not(wanted, schema(tensor("a"))) == "It needs text, and there is none."
    assert match(wanted, schema(Node("t1", "text"), Node("t2", "text"))) is not None


@pytest.mark.parametrize(("size", "fits"), [(2, True), (3, False)])
def test_class_sizes(size: int, fits: bool) -> None:
    binary = schema(category("y", "c"), c=2)
    source = schema(category("target", "t"), t=size)
    assert (match(binary, source) is not None) == fits
    assert (why_not(binary, source) == "") == fits


def test_names_of_classes_and_variables_are_bound() -> None:
    wanted = schema(category("y", "c"), tensor("x", "n"), c="n")
    found = match(wanted, schema(category("t", "k"), tensor("s", 3), k=3))
    assert found == Match({"t": "y", "s": "x"}, {"c": "k"}, {"n": 3})
    assert match(wanted, schema(category("t", "k"), tensor("s", 4), k=3)) is None
    assert why_not(wanted, schema(category("t", "k"), tensor("s", 4), k=3)) == (
        "Sizes that have to be equal are not: 'n' is 3 in 'y', 4 in 'x'."
    )


def test_each_copy_of_a_repeated_node_has_variables_of_its_own() -> None:
    wanted = schema(tensor("x", "n", "n", repeat="+"))
    assert match(wanted, schema(tensor("a", 2, 2), tensor("b", 3, 3))) is not None
    assert match(wanted, schema(tensor("a", 2, 3))) is None


def test_a_variable_source_is_an_opaque_value() -> None:
    source = schema(tensor("a", "k"), tensor("b", "k"))
    assert match(schema(tensor("x", "n"), tensor("y", "n")), source) is not None
    assert match(schema(tensor("x", 1), tensor("y", "n")), source) is None


def test_two_nodes_of_one_class_need_one_source_class() -> None:
    wanted = schema(category("x", "c"), category("y", "c"), c="n")
    assert match(wanted, schema(category("a", "k"), category("b", "k"), k=2)) is not None
    assert match(wanted, schema(category("a", "k"), category("b", "l"), k=2, l=2)) is None


def test_numbers_of_values_are_compared() -> None:
    two = schema(tensor("x"), tensor("y"))
    assert match(two, schema(tensor("a"))) is None
    assert why_not(two, schema(tensor("a"))) == "It takes exactly 2 values, and there are 1."


def test_many_interchangeable_columns_are_quick() -> None:
    source = schema(*(tensor(f"n{i}") for i in range(300)), Node("t", "text"))
    wanted = schema(*(tensor(f"m{i}") for i in range(301)))
    assert match(wanted, source) is None
    assert match(source, source) is not None


@st.composite
def small(draw, destination: bool) -> Schema:
    nodes, classes = [], {}
    sizes = st.sampled_from([1, 2, "m", "n"] if destination else [1, 2])
    for i in range(draw(st.integers(1, 4))):
        more = {"optional": draw(st.booleans())}
        if destination:
            more["repeat"] = draw(st.sampled_from(["", "", "*", "+"]))
        if draw(st.booleans()):
            nodes.append(tensor(f"t{i}", *draw(st.lists(sizes, min_size=1, max_size=2)), **more))
        else:
            name = draw(st.sampled_from("cd"))
            classes.setdefault(name, draw(sizes))
            nodes.append(category(f"t{i}", name, **more))
    return schema(*nodes, **classes)


def holds(wanted: Schema, source: Schema, places: dict[str, str]) -> bool:
    """Check an assignment source -> destination against the rules, one by one."""
    shared: dict[str, object] = {}
    for slot in wanted.nodes.values():
        count = sum(place == slot.name for place in places.values())
        if (slot.repeat == "" and count != 1) or (slot.repeat == "+" and count == 0):
            return False
    for name, place in places.items():
        node, slot = source.nodes[name], wanted.nodes[place]
        bound = {} if slot.repeat else shared
        if (
            node.type != slot.type
            or (node.optional and not slot.optional)
            or len(node.dim) != len(slot.dim)
        ):
            return False
        pairs = list(zip(slot.dim, node.dim, strict=True))
        if slot.type == "category":
            if bound.setdefault(f"class {slot.class_name}", node.class_name) != node.class_name:
                return False
            pairs = [(wanted.classes[slot.class_name].dim, source.classes[node.class_name].dim)]
        for left, right in pairs:
            if (bound.setdefault(left, right) if isinstance(left, str) else left) != right:
                return False
    return True


@settings(max_examples=100)
@given(small(True), small(False))
def test_a_match_is_found_whenever_there_is_one(wanted: Schema, source: Schema) -> None:
    slots = list(wanted.nodes)
    every = (
        dict(zip(source.nodes, places, strict=True))
        for places in product(slots, repeat=len(source.nodes))
    )
    exists = any(holds(wanted, source, places) for places in every)
    found = match(wanted, source)
    assert (found is not None) == exists
    assert (why_not(wanted, source) == "") == exists
    if found is not None:
        assert holds(wanted, source, found.nodes)


@given(small(False), st.randoms(use_true_random=False))
def test_order_and_names_of_nodes_do_not_matter(source: Schema, random) -> None:
    names = list(source.nodes)
    order = random.choice(list(permutations(names)))
    renamed = {
        f"x{i}": Node(**{**_fields(source.nodes[name]), "name": f"x{i}"})
        for i, name in enumerate(order)
    }
    assert match(source, Schema(renamed, source.classes)) is not None


def _fields(node: Node) -> dict:
    return {item.name: getattr(node, item.name) for item in dataclasses.fields(node)}

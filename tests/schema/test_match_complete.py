"""Matching of the whole language against a judge that tries everything."""

import dataclasses
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from easeml.schema import (
    CategoryClass,
    Constraints,
    Field,
    Link,
    Match,
    Node,
    Schema,
    Undecided,
    match,
    match_both,
    why_not,
)

from .schema_oracle import exists, holds

SETTINGS = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
VARIABLES = ["a", "b"]


@st.composite
def dims(draw, variable: bool) -> tuple[int | str, ...]:
    sizes = st.sampled_from([2, 3, *VARIABLES] if variable else [2, 3])
    made: list[int | str] = draw(st.lists(sizes, min_size=1, max_size=3))
    if variable and draw(st.integers(0, 2)) == 0:
        at = draw(st.integers(0, len(made) - 1))
        made[at] = draw(st.sampled_from(VARIABLES)) + draw(
            st.sampled_from("+" if len(made) == 1 else "?+*")
        )
    return tuple(made)


@st.composite
def fields(draw, name: str, variable: bool, classes: dict[str, CategoryClass]) -> Field:
    optional = draw(st.integers(0, 3)) == 0
    kind = draw(st.sampled_from(["tensor", "tensor", "category", "text"]))
    if kind == "tensor":
        return Field(name, kind, dim=draw(dims(variable)), optional=optional)
    if kind == "category":
        klass = draw(st.sampled_from("pq"))
        classes.setdefault(
            klass, CategoryClass(draw(st.sampled_from([2, 3, *(VARIABLES if variable else [])])))
        )
        return Field(name, kind, class_name=klass, optional=optional)
    return Field(name, kind, optional=optional)


@st.composite
def links(draw, targets: list[str], name: str) -> tuple[Link, ...]:
    made = []
    for target in draw(st.lists(st.sampled_from(targets), max_size=2, unique=True)):
        lower = draw(st.integers(0, 1))
        made.append(Link(target, lower, draw(st.sampled_from([1, 2, None]))))
    return tuple(made)


@st.composite
def schemas(draw, variable: bool, most: int = 3) -> Schema:
    count = draw(st.integers(1, most))
    grouped = [f"n{i}" for i in range(count) if draw(st.booleans())]
    classes: dict[str, CategoryClass] = {}
    nodes = {}
    for name in [f"n{i}" for i in range(count)]:
        if name not in grouped:
            value = draw(fields(name, variable, classes))
            nodes[name] = Node(
                **{
                    key: getattr(value, key)
                    for key in [item.name for item in dataclasses.fields(Field)]
                }
            )
            continue
        joined = draw(links(grouped, name))
        made = tuple(
            draw(fields(f"f{i}", variable, classes))
            for i in range(draw(st.integers(0 if joined else 1, 2)))
        )
        nodes[name] = Node(name, fields=made, links=joined)
    cyclic, undirected, fan_in = (draw(st.integers(0, 4)) == 0 for _ in range(3))
    return Schema(nodes, classes, constraints=Constraints(cyclic, undirected, fan_in or undirected))


@st.composite
def derived(draw, source: Schema) -> Schema:
    """A destination that takes the source, or nearly: sizes become variables, names and orders
    change.
    """
    letters = draw(st.permutations([2, 3]))
    names = dict(zip(letters, VARIABLES, strict=True))

    def loosen(dim: int | str) -> int | str:
        return draw(
            st.sampled_from([dim, dim, names.get(dim, dim), draw(st.sampled_from(VARIABLES))])
        )

    def changed(value: Field) -> Field:
        size = [loosen(dim) for dim in value.dim]
        wild = any(str(dim)[-1] in "?+*" for dim in size)
        if len(size) > 1 and not wild and draw(st.integers(0, 3)) == 0:
            size[-1] = draw(st.sampled_from(["a?", "b*", "a+"]))
        return replace(
            value,
            name=f"x_{value.name}",
            dim=tuple(size),
            optional=value.optional or draw(st.booleans()),
        )

    nodes = {}
    for name in draw(st.permutations(list(source.nodes))):
        node = source.nodes[name]
        if node.singleton:
            nodes[f"x_{name}"] = changed(node)
            continue
        turned = tuple(changed(value) for value in draw(st.permutations(node.fields)))
        joined = tuple(replace(link, target=f"x_{link.target}") for link in node.links)
        nodes[f"x_{name}"] = Node(f"x_{name}", fields=turned, links=joined)
    classes = {name: CategoryClass(loosen(value.dim)) for name, value in source.classes.items()}
    return Schema(nodes, classes, constraints=source.constraints)


def check(wanted: Schema, source: Schema) -> None:
    found = match(wanted, source)
    assert (found is not None) == exists((wanted, source))
    assert (why_not(wanted, source) == "") == (found is not None)
    if found is not None:
        assert holds(wanted, source, found)
        assert Schema.from_json(found.annotate(wanted, source).to_json()) == found.annotate(
            wanted, source
        )


@SETTINGS
@given(schemas(True), schemas(False))
def test_any_two_schemas(wanted: Schema, source: Schema) -> None:
    check(wanted, source)


@SETTINGS
@given(st.data())
def test_a_destination_like_its_source(data) -> None:
    source = data.draw(schemas(data.draw(st.sampled_from([False, False, True]))))
    check(data.draw(derived(source)), source)


@settings(SETTINGS, max_examples=50)
@given(st.data())
def test_input_and_output_together(data) -> None:
    sources = data.draw(schemas(False, 2)), data.draw(schemas(False, 2))
    wanted = data.draw(derived(sources[0])), data.draw(derived(sources[1]))
    found = match_both(wanted, sources)
    assert (found is not None) == exists(*zip(wanted, sources, strict=True))
    if found is not None:
        assert all(holds(*side) for side in zip(wanted, sources, found, strict=True))
        shared = found[0].variables.keys() & found[1].variables.keys()
        assert all(found[0].variables[key] == found[1].variables[key] for key in shared)


@settings(SETTINGS, max_examples=50)
@given(schemas(True))
def test_a_schema_takes_itself(schema: Schema) -> None:
    """Its variables stand for themselves; only constants made of variables refuse them, and there
    are none.
    """
    assert match(schema, schema) is not None


def wide(count: int, *dim: int | str) -> Schema:
    return Schema({f"n{i}": Node(f"n{i}", "tensor", dim=dim) for i in range(count)})


def test_work_is_limited_with_a_clear_answer() -> None:
    pairs = {
        f"{p}{i}": Node(f"{p}{i}", "tensor", dim=(f"v{i}", k))
        for i in range(40)
        for k, p in enumerate("xy", 1)
    }
    sizes = {
        f"{p}{i}": Node(f"{p}{i}", "tensor", dim=(i + 1, k))
        for i in range(40)
        for k, p in enumerate("xy", 1)
    }
    assert match(Schema(pairs), Schema(sizes)) is not None
    with pytest.raises(Undecided, match="within 500 steps"):
        match(Schema(pairs), Schema(sizes), limit=500)
    assert why_not(Schema(pairs), Schema(sizes), limit=500).startswith("It could not be decided")


@pytest.mark.parametrize("count", [2, 40, 300])
def test_interchangeable_nodes_need_no_search(count: int) -> None:
    assert match(wide(count, "a"), wide(count, 16), limit=50 * count) is not None
    mixed = Schema({**wide(count - 1, 16).nodes, "odd": Node("odd", "tensor", dim=(32,))})
    assert match(wide(count, "a"), mixed, limit=50 * count) is None


def ring(sizes: list[int], upper: int | None = 1) -> Schema:
    nodes = {}
    for number, size in enumerate(sizes):
        for i in range(size):
            links = (Link(f"r{number}_{(i + 1) % size}", 0, upper),)
            nodes[f"r{number}_{i}"] = Node(
                f"r{number}_{i}", fields=(Field("f", "text"),), links=links
            )
    return Schema(nodes, constraints=Constraints(cyclic=True))


def test_rings_of_links() -> None:
    assert match(ring([300]), ring([300])) is not None
    assert match(ring([300], None), ring([300])) is not None
    assert match(ring([300]), ring([300], 2)) is None
    assert match(ring([100, 100, 50]), ring([50, 100, 100])) is not None
    assert match(ring([300]), ring([150, 150])) is None


def test_the_result_is_the_same_every_time() -> None:
    one = match(wide(5, "a"), wide(5, 3))
    assert one == match(wide(5, "a"), wide(5, 3))
    assert one == Match({f"n{i}": f"n{i}" for i in range(5)}, {}, {"a": 3})

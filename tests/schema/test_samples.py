"""The schema of samples, and samples of a schema: a test for each rule."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.schema import (
    CategoryClass,
    Constraints,
    Field,
    Link,
    Node,
    Sample,
    Samples,
    Schema,
    SchemaError,
    TensorShape,
    generate,
    schema_of_samples,
)


def links(*pairs: str) -> frozenset:
    """Links between instances of the node ``n``: ``"01"`` is from 0 to 1."""
    return frozenset((("n", int(a)), ("n", int(b))) for a, b in pairs)


def graph(*pairs: str, count: int = 6) -> Sample:
    return Sample({"n": {"f": TensorShape((count, 2))}}, links(*pairs))


def of(*samples: Sample, **classes: tuple[str, ...]) -> Schema:
    return schema_of_samples(
        Samples(classes, {f"s{i}": sample for i, sample in enumerate(samples)})
    )


def both_ways(*pairs: str) -> list[str]:
    return [pair for a, b in pairs for pair in (a + b, b + a)]


def test_without_links_instances_form_a_chain() -> None:
    found = of(Sample({"n": {"f": TensorShape((4, 2))}}), Sample({"n": {"f": TensorShape((7, 2))}}))
    assert found == Schema(
        {"n": Node("n", fields=(Field("f", "tensor", dim=(2,)),), links=(Link("n", 1, 1),))}
    )


def test_no_links_at_all_are_no_links() -> None:
    assert of(graph()).nodes["n"].links == ()
    assert of(graph()).constraints == Constraints(undirected=True)


@pytest.mark.parametrize(
    ("samples", "bounds", "flags"),
    [
        ([["01", "12"]], (1, 1), ""),
        ([["01", "02"], ["01"]], (1, 2), ""),
        ([["01"], ["01", "02", "03"], ["45"]], (1, 3), ""),
        ([["02", "12"]], (1, 1), "fan-in"),
        ([["01", "12", "20"]], (1, 1), "cyclic"),
        ([["00"]], (1, 1), "cyclic undirected"),
        ([["01", "10"], ["01"]], (1, 1), "cyclic"),
        ([both_ways("01", "12")], (1, 2), "undirected"),
        ([both_ways("01", "12", "20")], (2, 2), "cyclic undirected"),
        ([both_ways("01", "02", "03")], (1, 3), "undirected fan-in"),
        ([both_ways("01", "23"), both_ways("45")], (1, 1), "undirected"),
        ([[*both_ways("01"), "12"]], (1, 2), "cyclic"),
        ([both_ways("01", "02"), ["01"]], (1, 2), "cyclic fan-in"),
    ],
)
def test_bounds_and_flags(samples: list[list[str]], bounds: tuple[int, int], flags: str) -> None:
    for order in (samples, samples[::-1]):
        found = of(*(graph(*pairs) for pairs in order))
        assert found.nodes["n"].links == (Link("n", *bounds),)
        wanted = Constraints(
            *(flag in flags.split() for flag in ("cyclic", "undirected", "fan-in"))
        )
        assert found.constraints == wanted


def value(held: object) -> Sample:
    return Sample({"v": held})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("samples", "where", "said"),
    [
        ([], "", "at least one sample"),
        (
            [value(TensorShape((2,))), Sample({"w": TensorShape((2,))})],
            "s1",
            "expected the node 'v'",
        ),
        (
            [value({"f": TensorShape((2, 2))}), value({"g": TensorShape((2, 2))})],
            "s1.v",
            "expected the field 'f'",
        ),
        (
            [value(TensorShape((2,))), value({"f": TensorShape((2, 2))})],
            "s1.v",
            "singleton in some",
        ),
        ([value(TensorShape((2,))), value(("x",))], "s1.v", "a category in others"),
        ([value(TensorShape((2,))), value(TensorShape((3,)))], "s1.v", r"expected shape \[2\]"),
        ([value(TensorShape(()))], "s0.v", "at least one number"),
        ([value(TensorShape((0, 3)))], "s0.v", "at least one number"),
        ([value({"f": TensorShape((4,))})], "s0.v.f", "an axis of instances"),
        ([value({"f": TensorShape((4, 1)), "g": ("x",) * 3})], "s0.v", "as many instances"),
        ([value({})], "s0.v", "at least one field"),
        ([value(("z",))], "s0.v", "no class has all of its labels, such as 'z'"),
        ([value(("x",)), value(("p",))], "v", "one class in some samples"),
        ([value(("x", "y"))], "s0.v", "one label"),
        ([value(())], "s0.v", "one label"),
        ([value(("x",))], "classes.d", "no category uses"),
        ([graph("01"), Sample(graph().values)], "s1", "expected links"),
        ([Sample({"v": TensorShape((2,))}, frozenset())], "s0", "expected no links"),
        ([graph("09")], "s0", "instance 9 of 'n', which has 6"),
        ([Sample(graph().values, frozenset({(("n", 0), ("m", 0))}))], "s0", "names 'm'"),
        ([Sample({"A": TensorShape((2,))})], "nodes.A", "expected a name"),
    ],
)
def test_samples_without_a_schema(samples: list[Sample], where: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said) as caught:
        of(*samples, c=("x", "y"), d=("p",))
    assert caught.value.where == where


def test_a_category_has_the_first_class_that_fits_all_samples() -> None:
    found = of(value(("x",)), value(("y",)), Sample({"v": ("y",)}), a=("x", "y"))
    assert found.nodes["v"].class_name == "a"
    overlapping = Samples({"a": ("x",), "b": ("x", "y")}, {"1": value(("x",)), "2": value(("y",))})
    with pytest.raises(
        SchemaError, match="no category uses"
    ) as caught:  # b fits all samples, a is left
        schema_of_samples(overlapping)
    assert caught.value.where == "classes.a"


GENERATED = [
    "{a: [x: number] links {a: 1..1}}",
    "{a: [x: number] links {a: 2..2}}",
    "{a: [x: number] links {a: 2..2}} undirected cyclic",
    "{a: [x: number] links {a: 1..2}} undirected",
    "{a: [x: number] links {b: 2..2}, b: [y: number] links {a: 0..1}} undirected fan-in",
    "{a: [x: number] links {b: 3..4}, b: [y: number] links {a: 2..5}} undirected fan-in cyclic",
    "{a: [x: number] links {a: 1..1, b: 1..1}, b: [x: tensor[2]] links {a: 0..inf}} cyclic",
    '{v: tensor[2, 3], c: category("x", "y"), n: [d: category(3), e: category of d]} classes {d: 4}'.replace(
        "d: category(3)", "d: category of d"
    ),
]


@pytest.mark.parametrize("text", GENERATED, ids=range(len(GENERATED)))
def test_generated_samples_fit_their_schema(text: str) -> None:
    schema = Schema.from_text(text)
    for seed in range(5):
        made = generate(schema, np.random.default_rng(seed), samples=4, instances=8)
        assert schema.match(schema_of_samples(made)) is not None
        assert len(made.samples) == 4
        for sample in made.samples.values():
            kinds = Counter((start[0], end[0]) for start, end in sample.links or ())
            assert set(kinds) == {
                (node.name, link.target) for node in schema.nodes.values() for link in node.links
            }


def test_the_seed_decides() -> None:
    schema = Schema.from_text(GENERATED[5])
    one, again = (generate(schema, np.random.default_rng(3)) for _ in "12")
    assert [sample.links for sample in one.samples.values()] == [
        sample.links for sample in again.samples.values()
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{a: tensor[n]}", "nodes.a"),
        ("{a: category(n)}", "nodes.a"),
        ("{a: [b: text]}", "nodes.a.fields.b"),
        ("{a*: number}", "nodes.a"),
        ("{a: [x: number] links {a: 11..12}}", "nodes"),
        ("{a: [x: number] links {a: 2..3}} undirected fan-in", "nodes"),
        ("{a: [x: number] links {b: 1..1}, b: [x: number]} undirected", "nodes.b.links"),
    ],
)
def test_what_cannot_be_generated(text: str, where: str) -> None:
    with pytest.raises(SchemaError) as caught:
        generate(Schema.from_text(text), np.random.default_rng(0))
    assert caught.value.where == where


@st.composite
def feasible(draw) -> Schema:
    """Constant schemas with bounds that can be met: at least 0 or 1."""
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True))
    undirected = draw(st.booleans())
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=3, unique=True)
    )
    if undirected:
        pairs = list(dict.fromkeys(pair for a, b in pairs for pair in ((a, b), (b, a))))
    nodes = {}
    for name in names:
        bounds = [(draw(st.integers(0, 1)), draw(st.sampled_from([1, 2, None]))) for _ in pairs]
        made = tuple(
            Link(b, *bound) for (a, b), bound in zip(pairs, bounds, strict=True) if a == name
        )
        field = draw(
            st.sampled_from(
                [Field("f", "tensor", dim=(2,)), Field("f", "category", class_name="c")]
            )
        )
        nodes[name] = Node(name, fields=(field,), links=made)
    used = any(node.fields[0].type == "category" for node in nodes.values())
    flags = Constraints(draw(st.booleans()), undirected, undirected or draw(st.booleans()))
    return Schema(nodes, {"c": CategoryClass(3)} if used else {}, constraints=flags)


@settings(max_examples=40, deadline=None)
@given(feasible(), st.integers(0, 99))
def test_any_generated_data_has_a_schema_that_its_own_accepts(schema: Schema, seed: int) -> None:
    made = generate(schema, np.random.default_rng(seed), samples=2, instances=6)
    assert schema.match(schema_of_samples(made)) is not None

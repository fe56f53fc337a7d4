"""Every rule of validation, each fault with its path, and schemas from and to JSON."""

import copy
import string
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.schema import Constraints, Link, Schema, SchemaError, SchemaWarning, node_names

from .schema_makers import TENSOR, many, number, one, schemas

CATEGORY = {"singleton": True, "type": "category", "class": "c"}
TWO = {"c": {"dim": 2}}
DIM_FAULTS = [0, -1, True, 1.0, None, "", "A", "1a", "a-b", "é", "a\n", "a??", "?", [1]]
BOUND_FAULTS = [
    (0, ""), (-1, ""), (True, ""), (1.0, ""), (None, ""), ("inf", ""), ([], ""), ([1], ""), ([1, 2, 3], ""),
    ([-1, 1], ".0"), (["inf", "inf"], ".0"), ([None, 1], ".0"), ([True, 1], ".0"), ([0, 0], ".1"), ([0, None], ".1"),
    ([0, "INF"], ".1"), ([0, 1.5], ".1"), ([2, 1], ""),
]  # fmt: skip

FAULTS: list[tuple[Any, str]] = [
    *((value, "schema") for value in (None, [], 3, "x", True)),
    ({}, "nodes"),
    *(({"nodes": value}, "nodes") for value in ({}, None, [], 3, "x")),
    *((one(number(), classes=value), "classes") for value in (None, 0, "x", [])),
    *(
        (one(number(), **{"ref-constraints": value}), "ref-constraints")
        for value in (None, 0, "x", [])
    ),
    *(
        (one(number(), **{"ref-constraints": {key: value}}), f"ref-constraints.{key}")
        for key in ("cyclic", "undirected", "fan-in")
        for value in (None, 0, 1, "true")
    ),
    *(
        ({"nodes": {name: number()}}, f"nodes.{name}")
        for name in ("", "A", "1a", "a\n", "a-b", "ä", 3)
    ),
    *((one(many(("A", TENSOR[1]))), "nodes.a.fields.A") for _ in "1"),
    (one(many(TENSOR, links={"A": 1})), "nodes.a.links.A"),
    (one(CATEGORY, classes={"C": {"dim": 2}}), "classes.C"),
    *((one(value), "nodes.a") for value in (None, [], 3, "x")),
    *(
        (one({**number(), "singleton": value}), "nodes.a.singleton")
        for value in (None, 0, 1, "yes")
    ),
    (one({"type": "tensor", "dim": [1]}), "nodes.a.singleton"),
    (one({"singleton": True, "fields": {"x": TENSOR[1], "y": TENSOR[1]}}), "nodes.a.fields"),
    (one({"singleton": True, "fields": [1]}), "nodes.a.fields"),
    (one({"singleton": True, "fields": {"x": None}}), "nodes.a.fields.x"),
    (one({**number(), "fields": {"x": {"dim": [1]}}}), "nodes.a.fields.x.type"),
    (one({**number(), "links": {"a": 1}}), "nodes.a.links"),
    *(
        (one(value), "nodes.a")
        for value in ({}, {"fields": None, "links": None}, {"fields": {}, "links": {}})
    ),
    *((one({"fields": {"t": value}}), "nodes.a.fields.t") for value in (None, [], 3)),
    (one({"fields": [1]}), "nodes.a.fields"),
    (one(many(TENSOR, links=[1])), "nodes.a.links"),
    (one({"singleton": True}), "nodes.a.type"),
    *(
        (one({"singleton": True, "type": value}), "nodes.a.type")
        for value in ("picture", None, 3, ["tensor"], "Tensor")
    ),
    (one({"singleton": True, "type": "tensor"}), "nodes.a.dim"),
    *(
        (one(number() | {"dim": value}), "nodes.a.dim")
        for value in (1, "a", None, {}, [], ["a?"], ["a*"])
    ),
    (one(number("a?", "b*")), "nodes.a.dim"),
    (one(number("a+", 3, "a+")), "nodes.a.dim"),
    *((one(number(3, value)), "nodes.a.dim.1") for value in DIM_FAULTS),
    *(
        (one(many(TENSOR, links={"a": value})), f"nodes.a.links.a{tail}")
        for value, tail in BOUND_FAULTS
    ),
    (one(many(TENSOR, links={"b": 1})), "nodes.a.links.b"),
    ({"nodes": {"a": many(TENSOR, links={"b": 1}), "b": number()}}, "nodes.a.links.b"),
    (one({"singleton": True, "type": "category"}), "nodes.a.class"),
    *(
        (one({**CATEGORY, "class": value}, classes=TWO), "nodes.a.class")
        for value in (-1, None, "C", "", ["c"])
    ),
    (one(CATEGORY), "nodes.a.class"),
    (one(many(("f", {"type": "category", "class": "c"}))), "nodes.a.fields.f.class"),
    (one(number(), classes=TWO), "classes.c"),
    (one(CATEGORY, classes={"c": {}}), "classes.c.dim"),
    *((one(CATEGORY, classes={"c": value}), "classes.c") for value in (None, [], 3)),
    *(
        (one(CATEGORY, classes={"c": {"dim": value}}), "classes.c.dim")
        for value in (*DIM_FAULTS, "a?", "a+", "a*")
    ),
    (one(CATEGORY, classes={"c": {"dim": 2, "labels": ["x"]}}), "classes.c.labels"),
    (one(CATEGORY, classes={"c": {"dim": 2, "labels": ["x", "x"]}}), "classes.c.labels"),
    (one(CATEGORY, classes={"c": {"dim": 2, "labels": "xy"}}), "classes.c.labels"),
    *((one(number(), **{"src-dims": value}), "src-dims") for value in (0, "x", [])),
    *(
        (one(number(), **{"src-dims": {"x": value}}), "src-dims.x")
        for value in (None, 1.5, True, [1])
    ),
    *(
        (one(number(**{"src-name": value})), "nodes.a.src-name")
        for value in (0, None, "A", "", "a\n")
    ),
    (one(many(TENSOR, **{"src-name": 0})), "nodes.a.src-name"),
    (one(many(("t", TENSOR[1] | {"src-name": "A"}))), "nodes.a.fields.t.src-name"),
    (one(CATEGORY, classes={"c": {"dim": 2, "src-name": 0}}), "classes.c.src-name"),
    *((one(number(**{"src-dim": value})), "nodes.a.src-dim") for value in (0, None, "a", {})),
    *(
        (one(number(**{"src-dim": [1, value]})), "nodes.a.src-dim.1")
        for value in (0, None, "A", True, 1.0)
    ),
    (one(number(optional=1)), "nodes.a.optional"),
    *((one(number(repeat=value)), "nodes.a.repeat") for value in ("?", "", None, True)),
    (one(many(TENSOR, repeat="*", singleton=False)), "nodes.a.repeat"),
    (one(number(column=3)), "nodes.a.column"),
    (one({"singleton": True, "type": "timestamp", "format": 3}), "nodes.a.format"),
    (one(number(), dropped="x"), "dropped"),
    (one(number(), dropped=[1]), "dropped"),
]


@pytest.mark.filterwarnings("ignore::easeml.schema.SchemaWarning")
@pytest.mark.parametrize(
    ("document", "where"), FAULTS, ids=[f"{i}: {where!r}" for i, (_, where) in enumerate(FAULTS)]
)
def test_a_fault_is_reported_with_its_path_and_what_was_expected(document: Any, where: str) -> None:
    before = copy.deepcopy(document)
    with pytest.raises(SchemaError) as caught:
        Schema.from_json(document)
    assert caught.value.where == where
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.message.endswith(".")
    assert document == before


GOOD: list[dict[str, Any]] = [
    one(number("a?", 3)),
    one(number("a", "a+", "a")),
    one(number("_", 1)),
    one(number(fields={})),
    one(number(fields=None, links=None)),
    one(number(links={})),
    one(many(TENSOR, links={"a": 1})),
    one(
        many(TENSOR, links={"a": [0, "inf"]}),
        **{"ref-constraints": {"undirected": True, "fan-in": True}},
    ),
    one(many(TENSOR, links={"a": [0, 2]}), **{"ref-constraints": {"undirected": True}}),
    one(many(links={"a": 1})),
    one(number(), **{"src-dims": None}),
    one(number(), **{"src-dims": {"a": -1, "B": "C?"}}),
    one(number(**{"src-name": "x", "src-dim": ["a?", 3]}), **{"src-dims": {"a": 3}}),
    one(number(**{"src-dim": []})),
    one(CATEGORY, classes={"c": {"dim": "n", "src-name": "k"}}),
    one({"singleton": True, "type": "document", "optional": True}),
    one({"type": "text", "repeat": "+"}),
]


@pytest.mark.parametrize("document", GOOD, ids=range(len(GOOD)))
def test_what_is_allowed(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    schema = Schema.from_json(document)
    again = Schema.from_json(schema.to_json())
    assert (again, again.src_dims) == (schema, schema.src_dims)
    assert document == before


@pytest.mark.parametrize(
    ("links", "flags", "fits"),
    [
        ({"a": [0, 2]}, {"undirected": True}, True),
        ({"a": [0, 3]}, {"undirected": True}, False),
        ({"a": [0, "inf"]}, {"undirected": True}, False),
        ({"a": 1, "b": 1}, {"undirected": True}, True),
        ({"a": 1, "b": [1, 2]}, {"undirected": True}, False),
        ({"a": [0, "inf"]}, {"undirected": True, "fan-in": True}, True),
        ({"a": [0, "inf"]}, {"undirected": False}, True),
    ],
)
def test_an_undirected_graph_without_fan_in_has_two_neighbours(
    links: dict, flags: dict, fits: bool
) -> None:
    document = {
        "nodes": {"a": many(TENSOR, links=links), "b": many(TENSOR)},
        "ref-constraints": flags,
    }
    if fits:
        Schema.from_json(document)
    else:
        with pytest.raises(SchemaError, match="at most 2") as caught:
            Schema.from_json(document)
        assert caught.value.where == "nodes.a.links"


@given(schemas())
def test_json_round_trip(schema: Schema) -> None:
    document = schema.to_json()
    before = copy.deepcopy(document)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Schema.from_json(document)
    assert again == schema
    assert hash(again) == hash(schema)
    assert document == before


KEYS = [
    "nodes",
    "classes",
    "a",
    "c",
    "singleton",
    "type",
    "dim",
    "class",
    "fields",
    "links",
    "labels",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.just(1.5),
    st.sampled_from(["a", "tensor", "category", "A", "a?"]),
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)


@pytest.mark.filterwarnings("ignore::easeml.schema.SchemaWarning")
@given(JSON)
def test_any_json_is_a_schema_or_a_schema_error(document: Any) -> None:
    try:
        Schema.from_json(document)
    except SchemaError as error:
        assert error.where


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (one(number(), clases={}), "clases: .*Did you mean 'classes'"),
        (one(number(), **{"ref_constraints": {}}), "Did you mean 'ref-constraints'"),
        (
            one(number(), **{"ref-constraints": {"fan_in": True}}),
            "ref-constraints.fan_in: .*Did you mean 'fan-in'",
        ),
        (one(number(optinal=True)), "nodes.a.optinal: .*Did you mean 'optional'"),
        (one(many(TENSOR, link={"a": 1})), "nodes.a.link: .*Did you mean 'links'"),
        (
            one(many(("t", TENSOR[1] | {"class": "c"}))),
            r"nodes.a.fields.t.class: .*Known here: dim, format, optional",
        ),
        (
            one(CATEGORY, classes={"c": {"dim": 2, "label": ["x", "y"]}}),
            "classes.c.label: .*Did you mean 'labels'",
        ),
        (one(number(**{"zzz": 1})), "nodes.a.zzz: .*no meaning"),
    ],
)
def test_unknown_keys_are_ignored_with_a_warning(document: dict[str, Any], said: str) -> None:
    with pytest.warns(SchemaWarning, match=said):
        Schema.from_json(document)


def test_a_warning_names_each_known_key_once() -> None:
    field = {"type": "no type", "xyz": 1}
    with pytest.warns(SchemaWarning) as warned, pytest.raises(SchemaError):
        Schema.from_json(one(many(("f", field))))
    _, known = str(warned[0].message).split("Known here: ")
    names = known.rstrip(".").split(", ")
    assert sorted(set(names)) == names


@pytest.mark.filterwarnings("ignore::easeml.schema.SchemaWarning")
@pytest.mark.parametrize(
    ("document", "remedy"),
    [
        ({"node": {}}, "Write 'nodes' for 'node'."),
        (one(CATEGORY, clases=TWO), "Write 'classes' for 'clases'."),
        (one({"singleton": True, "typ": "text"}), "Write 'type' for 'typ'."),
        (one({"singleton": True, "type": "tensor", "dims": [1]}), "Write 'dim' for 'dims'."),
        (one({"field": {}}), "Write 'fields' for 'field'."),
    ],
)
def test_a_mistyped_key_is_named_where_the_right_one_is_missing(
    document: dict[str, Any], remedy: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_json(document)
    assert caught.value.remedy == remedy


def test_the_long_form_means_the_same() -> None:
    long = {
        "nodes": {
            "a": {
                "singleton": True,
                "fields": {"x": {"type": "tensor", "dim": [1]}},
                "optional": True,
            }
        }
    }
    short = {"nodes": {"a": {**number(), "optional": True, "fields": {}}}}
    assert Schema.from_json(long) == Schema.from_json(short)


def test_what_the_json_form_always_says() -> None:
    schema = Schema.from_json(one(many(TENSOR, links={"a": 2})))
    assert schema.nodes["a"].links == (Link("a", 2, 2),)
    assert schema.constraints == Constraints()
    assert schema.to_json() == {
        "nodes": {"a": {"singleton": False, "fields": dict([TENSOR]), "links": {"a": [2, 2]}}},
        "ref-constraints": {"cyclic": False, "undirected": False, "fan-in": False},
    }


def test_columns_and_labels() -> None:
    schema = Schema.from_json(
        {
            "nodes": {
                "a": {"singleton": True, "type": "category", "class": "c", "column": "A!"},
                "b": number(),
            },
            "classes": {"c": {"dim": 2, "labels": ["x", "y"]}},
        }
    )
    assert list(schema.columns) == ["A!", "b"]
    assert schema.labels("a") == ("x", "y")


@given(st.lists(st.text(alphabet=string.printable + "äß日", max_size=6), max_size=8))
def test_node_names_are_valid_and_unique(columns: list[str]) -> None:
    names = node_names(columns)
    assert len(set(names)) == len(columns)
    document = {"nodes": {"zz": number(), **dict.fromkeys(names, number())}}
    assert set(names) <= set(Schema.from_json(document).nodes)


def test_node_names_stay_readable() -> None:
    columns = ["Lot Area", "1st Flr SF", "lot-area", "Café", "??"]
    assert node_names(columns) == ["lot_area", "_1st_flr_sf", "lot_area_2", "cafe", "column"]

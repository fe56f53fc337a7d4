"""Schemas from and to JSON."""

import copy
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.schema import CategoryClass, Node, Schema, SchemaError, node_names

NUMBER = {"singleton": True, "type": "tensor", "dim": [1]}
NAMES = st.from_regex(r"[a-z_][0-9a-z_]{0,8}", fullmatch=True)


@st.composite
def schemas(draw) -> Schema:
    nodes, classes = {}, {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=6, unique=True)):
        kind = draw(st.sampled_from(["tensor", "category", "text", "timestamp"]))
        extra = {
            "optional": draw(st.booleans()),
            "repeat": draw(st.sampled_from(["", "*", "+"])),
            "column": draw(st.text(max_size=5)),
        }
        if kind == "tensor":
            dim = draw(st.lists(st.one_of(st.integers(1, 9), NAMES), min_size=1, max_size=3))
            nodes[name] = Node(name, kind, dim=tuple(dim), **extra)
        elif kind == "category":
            labels = tuple(draw(st.lists(st.text(max_size=3), max_size=4, unique=True)))
            classes[name] = CategoryClass(len(labels) or draw(st.one_of(st.integers(1, 9), NAMES)), labels)
            nodes[name] = Node(name, kind, class_name=name, **extra)
        else:
            form = draw(st.sampled_from(["", "%Y"])) if kind == "timestamp" else ""
            nodes[name] = Node(name, kind, format=form, **extra)
    return Schema(nodes, classes, tuple(draw(st.lists(st.text(max_size=4), max_size=2))))


@given(schemas())
def test_json_round_trip(schema: Schema) -> None:
    document = schema.to_json()
    before = copy.deepcopy(document)
    again = Schema.from_json(document)
    assert again == schema
    assert hash(again) == hash(schema)
    assert document == before


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (None, "schema"),
        ([], "schema"),
        ({}, "nodes"),
        ({"nodes": {}}, "nodes"),
        ({"nodes": None}, "nodes"),
        ({"nodes": {"": NUMBER}}, "nodes."),
        ({"nodes": {"A": NUMBER}}, "nodes.A"),
        ({"nodes": {"a\n": NUMBER}}, "nodes.a\n"),
        ({"nodes": {"a": None}}, "nodes.a"),
        ({"nodes": {"a": {"type": "tensor", "dim": [1]}}}, "nodes.a.singleton"),
        ({"nodes": {"a": {**NUMBER, "singleton": None}}}, "nodes.a.singleton"),
        ({"nodes": {"a": {**NUMBER, "links": {"b": 1}}}}, "nodes.a.links"),
        ({"nodes": {"a": {"singleton": True}}}, "nodes.a.type"),
        ({"nodes": {"a": {**NUMBER, "type": "picture"}}}, "nodes.a.type"),
        ({"nodes": {"a": {**NUMBER, "dim": []}}}, "nodes.a.dim"),
        ({"nodes": {"a": {**NUMBER, "dim": 1}}}, "nodes.a.dim"),
        ({"nodes": {"a": {**NUMBER, "dim": [1, 0]}}}, "nodes.a.dim.1"),
        ({"nodes": {"a": {**NUMBER, "dim": [True]}}}, "nodes.a.dim.0"),
        ({"nodes": {"a": {**NUMBER, "dim": [1.0]}}}, "nodes.a.dim.0"),
        ({"nodes": {"a": {**NUMBER, "optional": 1}}}, "nodes.a.optional"),
        ({"nodes": {"a": {**NUMBER, "repeat": "?"}}}, "nodes.a.repeat"),
        ({"nodes": {"a": {**NUMBER, "column": 3}}}, "nodes.a.column"),
        ({"nodes": {"a": {"singleton": True, "fields": {"x": NUMBER, "y": NUMBER}}}}, "nodes.a.fields"),
        ({"nodes": {"a": {"singleton": True, "fields": {"x": {"type": "tensor"}}}}}, "nodes.a.fields.x.dim"),
        ({"nodes": {"a": {"singleton": True, "type": "category"}}}, "nodes.a.class"),
        ({"nodes": {"a": {"singleton": True, "type": "category", "class": "c"}}}, "nodes.a.class"),
        ({"nodes": {"a": NUMBER}, "classes": None}, "classes"),
        ({"nodes": {"a": NUMBER}, "classes": {"c": {"dim": 2}}}, "classes.c"),
        ({"nodes": {"a": NUMBER}, "classes": {"c": {}}}, "classes.c.dim"),
        ({"nodes": {"a": NUMBER}, "classes": {"c": {"dim": "C"}}}, "classes.c.dim"),
        ({"nodes": {"a": NUMBER}, "classes": {"c": {"dim": 2, "labels": ["x"]}}}, "classes.c.labels"),
        ({"nodes": {"a": NUMBER}, "classes": {"c": {"dim": 2, "labels": ["x", "x"]}}}, "classes.c.labels"),
        ({"nodes": {"a": NUMBER}, "dropped": "x"}, "dropped"),
    ],
)
def test_a_fault_is_reported_with_its_path(document: object, where: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_json(document)
    assert caught.value.where == where
    assert isinstance(caught.value, InvalidInput)


def test_the_long_form_means_the_same() -> None:
    long = {"nodes": {"a": {"singleton": True, "fields": {"x": {"type": "tensor", "dim": [1]}}, "optional": True}}}
    short = {"nodes": {"a": {**NUMBER, "optional": True, "fields": {}}}}
    assert Schema.from_json(long) == Schema.from_json(short)


def test_columns_and_labels() -> None:
    schema = Schema.from_json(
        {
            "nodes": {"a": {"singleton": True, "type": "category", "class": "c", "column": "A!"}, "b": NUMBER},
            "classes": {"c": {"dim": 2, "labels": ["x", "y"]}},
        }
    )
    assert list(schema.columns) == ["A!", "b"]
    assert schema.labels("a") == ("x", "y")


@given(st.lists(st.text(alphabet=string.printable + "äß日", max_size=6), max_size=8))
def test_node_names_are_valid_and_unique(columns: list[str]) -> None:
    names = node_names(columns)
    assert len(set(names)) == len(columns)
    document = {"nodes": {"zz": NUMBER, **dict.fromkeys(names, NUMBER)}}
    assert set(names) <= set(Schema.from_json(document).nodes)


def test_node_names_stay_readable() -> None:
    columns = ["Lot Area", "1st Flr SF", "lot-area", "Café", "??"]
    assert node_names(columns) == ["lot_area", "_1st_flr_sf", "lot_area_2", "cafe", "column"]

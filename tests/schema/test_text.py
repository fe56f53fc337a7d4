"""The short text form: both ways, and what it says about faults."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.schema import (
    CategoryClass,
    Constraints,
    Field,
    Link,
    Node,
    Schema,
    SchemaError,
    parse_text,
)

from .schema_makers import schemas


@given(schemas())
def test_text_round_trip(schema: Schema) -> None:
    text = schema.to_text()
    assert Schema.from_text(text) == schema
    assert Schema.from_text(text).to_text() == text


def test_input_and_output() -> None:
    source, target = parse_text("{age: number?, job: category(12)} -> category(2)")
    assert source == Schema(
        {
            "age": Node("age", "tensor", dim=(1,), optional=True),
            "job": Node("job", "category", class_name="job"),
        },
        {"job": CategoryClass(12)},
    )
    assert target == Schema(
        {"value": Node("value", "category", class_name="value")}, {"value": CategoryClass(2)}
    )
    assert (
        f"{source.to_text()} -> {target.to_text()}"
        == "{age: number?, job: category(12)} -> category(2)"
    )


def test_the_whole_grammar() -> None:
    text = """
    {  # a table, a picture and a graph
      price "Price, in €": number?,
      others*: category of kind?,
      notes+: document,
      when: timestamp("%d.%m.%Y"),
      picture: tensor[n, n, c?],
      atom: [element: category("C", "H", "O"), place: tensor[3], name: text?] links {atom: 0..4, ring: 1},
      ring: [] links {atom: 3..inf,},
    } cyclic undirected fan-in classes {kind: k} dropped ("id", "row \\"no\\"")
    """
    schema = Schema.from_text(text)
    assert schema.nodes["price"] == Node(
        "price", "tensor", dim=(1,), optional=True, column="Price, in €"
    )
    assert schema.nodes["others"].repeat == "*"
    assert schema.nodes["notes"] == Node("notes", "document", repeat="+")
    assert schema.nodes["when"].format == "%d.%m.%Y"
    assert schema.nodes["picture"].dim == ("n", "n", "c?")
    assert schema.nodes["atom"].fields[0] == Field("element", "category", class_name="element")
    assert schema.nodes["atom"].links == (Link("atom", 0, 4), Link("ring", 1, 1))
    assert schema.nodes["ring"] == Node("ring", links=(Link("atom", 3, None),))
    assert schema.classes == {
        "element": CategoryClass(3, ("C", "H", "O")),
        "kind": CategoryClass("k"),
    }
    assert schema.constraints == Constraints(True, True, True)
    assert schema.dropped == ("id", 'row "no"')
    assert Schema.from_text(schema.to_text()) == schema


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        (
            "",
            "line 1, column 1",
            "expected number, tensor, category, text, document, timestamp, found the end.",
        ),
        ("{", "line 1, column 2", "expected the name of a node, found the end."),
        ("{a number}", "line 1, column 4", "expected ':', found 'number'."),
        ("{a: numbr}", "line 1, column 5", "found 'numbr'. Did you mean 'number'?"),
        ("{a: text\n b: text}", "line 2, column 2", "expected ',' or '}', found 'b'."),
        ("{a: text,\n a: text}", "line 2, column 2", "the node 'a' occurs twice."),
        ("{a: tensor[3.5]}", "line 1, column 13", "'.' has no meaning here."),
        ("{a: tensor[]}", "line 1, column 12", "expected a size"),
        ("{a: tensor[99999999999999999999]}", "line 1, column 12", "at most 1,000,000,000"),
        ("{a: tensor[0]}", "nodes.a.dim.0", "expected a positive integer"),
        ("{a: category()}", "line 1, column 14", "expected the number of classes"),
        ("{a: category of c}", "nodes.a.class", "class 'c' is not declared."),
        (
            "{a: [x: category(2)], b: [x: category(3)]}",
            "line 1, column 38",
            "two classes of the name 'x'",
        ),
        ("{a*: [x: text]}", "line 1, column 6", "expected number"),
        ("{a: [x: text] links {a: 1..}}", "line 1, column 28", "expected a number"),
        ("{A: number}", "nodes.A", "expected a name"),
        ("{}", "nodes", "expected at least one node."),
        ("{a: text} cyclic cyclic", "line 1, column 18", "'cyclic' occurs twice."),
        (
            "{a: text} loud",
            "line 1, column 11",
            "expected the end, or '->' and an output, found 'loud'.",
        ),
        ('{a: timestamp("\\x")}', "line 1, column 15", "cannot be read"),
        ('{a "b: text}', "line 1, column 4", "has no meaning here"),
    ],
)
def test_faults_name_the_place(text: str, where: str, said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_text(text)
    assert caught.value.where == where
    assert said in f"{caught.value.message} {caught.value.remedy}"


def test_one_schema_is_not_two() -> None:
    with pytest.raises(SchemaError, match="an input and an output"):
        Schema.from_text("{a: text} -> number")


@given(st.text(alphabet='{}[]()":,?*+->.#ab19 \ntextnumbercategory', max_size=40))
def test_any_text_is_a_schema_or_a_schema_error(text: str) -> None:
    try:
        parse_text(text)
    except SchemaError as error:
        assert error.where


def test_long_schemas_take_a_line_for_each_node() -> None:
    schema = Schema({f"n{i}": Node(f"n{i}", "tensor", dim=(1,)) for i in range(20)})
    assert schema.to_text().splitlines()[1] == "  n0: number,"


def test_the_example_of_the_reference_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "schema.md").read_text("utf-8")
    [block] = re.findall(r"```\n(\{\n  price.*?)```", page, re.DOTALL)
    assert list(Schema.from_text(block).nodes) == ["price", "others", "picture", "atom"]

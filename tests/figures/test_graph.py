"""A graph of boxes: where they stand, where they lead, and what cannot be drawn."""

import re
from graphlib import CycleError
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.figures import Box, graph_element, graph_svg
from easeml.figures.graph import layout

SVG = "{http://www.w3.org/2000/svg}"


def graphs() -> st.SearchStrategy[dict[str, Box]]:
    """Graphs without circles: each box is made of earlier ones."""

    def build(parents: list[set[int]]) -> dict[str, Box]:
        boxes = {}
        for number, above in enumerate(parents):
            of = [str(one) for one in sorted(above) if one < number]
            boxes[str(number)] = Box(f"box {number}", "", of)
        return boxes

    return st.lists(st.sets(st.integers(0, 11), max_size=3), min_size=1, max_size=12).map(build)


@given(graphs())
def test_boxes_stand_below_those_that_they_are_made_of_and_none_on_another(boxes: dict[str, Box]):
    places = layout(boxes)
    for id, box in boxes.items():
        assert all(places[above].top < places[id].top for above in box.of)
    by_row: dict[int, list[int]] = {}
    for place in places.values():
        by_row.setdefault(place.top, []).append(place.left)
    for lefts in by_row.values():
        gaps = [right - left for left, right in zip(sorted(lefts), sorted(lefts)[1:], strict=False)]
        assert all(gap > 190 for gap in gaps)


@given(graphs())
def test_each_box_and_each_line_is_drawn(boxes: dict[str, Box]):
    drawn = ElementTree.fromstring(graph_svg(boxes, "a graph"))
    assert len(drawn.findall(f".//{SVG}rect")) == len(boxes)
    assert len(drawn.findall(f".//{SVG}path")) == sum(len(box.of) for box in boxes.values())


def test_a_box_with_a_link_leads_there_and_says_so_to_readers_of_the_screen():
    boxes = {"a": Box("A & B", "<x>", link="/a?b=1&c=2", look="chosen"), "b": Box("B", "", ["a"])}
    drawn = ElementTree.fromstring(graph_element(boxes, 'the "graph"'))
    assert drawn.get("role") == "group"
    assert drawn.get("aria-label") == 'the "graph"'
    (link,) = drawn.findall(f"{SVG}a")
    assert link.get("href") == "/a?b=1&c=2"
    assert link.get("aria-current") == "true"
    assert [text.text for text in link.iter(f"{SVG}text")] == ["A & B", "<x>"]


def test_long_names_are_cut_and_told_whole():
    name = "a name that is longer than its box"
    drawn = ElementTree.fromstring(graph_element({"a": Box(name, name, about=name)}, ""))
    assert drawn.get("role") == "img"
    shown = [text.text or "" for text in drawn.iter(f"{SVG}text")]
    assert all(text.endswith("…") and len(text) <= 24 for text in shown)
    assert [title.text for title in drawn.iter(f"{SVG}title")] == [name]


def test_the_style_of_a_file_changes_no_other_picture_of_a_page():
    style = re.search(r"<style>(.*)</style>", graph_svg({"a": Box("a", "")}, ""), re.DOTALL)
    assert style
    rules = re.findall(r"^\s*([^@{}]+)\{", style.group(1), re.MULTILINE)
    assert rules
    assert all(rule.startswith(".graph") for rule in rules)
    assert "<style>" not in graph_element({"a": Box("a", "")}, "")


def test_a_circle_and_a_box_that_is_not_there_are_no_graph():
    with pytest.raises(CycleError):
        layout({"a": Box("a", "", ["b"]), "b": Box("b", "", ["a"])})
    with pytest.raises(KeyError):
        layout({"a": Box("a", "", ["b"])})

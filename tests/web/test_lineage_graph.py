"""Versions and pushed steps as boxes of a graph."""

from typing import Any

from easeml.contract.versions import FlowStep, VersionLine
from easeml.web.lineage_graph import step_boxes, version_boxes


def version(number: int, *parents: int, **values: Any) -> VersionLine:
    given: dict[str, Any] = {
        "id": f"ver_{number}",
        "number": number,
        "state": "ready",
        "operation": {"name": "feed", "filename": f"{number}.csv"},
        "parents": [f"ver_{parent}" for parent in parents],
        "created": 0.0,
    }
    return VersionLine(**{**given, **values})


def test_versions_stand_below_their_parents_and_lead_to_themselves():
    versions = [
        version(4, 2, state="failed"),
        version(3, 2, current=True, added={"train": 5}),
        version(2, 1),
    ]
    boxes = version_boxes(versions, "ver_3", "/here")
    assert list(boxes) == ["ver_2", "ver_3", "ver_4"]
    assert boxes["ver_2"].of == []  # its parent is not shown
    assert boxes["ver_3"].of == ["ver_2"]
    assert boxes["ver_3"].name == "Version 3, in use"
    assert boxes["ver_3"].text == "3.csv fed, 5 train added"
    assert boxes["ver_3"].link == "/here?version=ver_3"
    assert [box.look for box in boxes.values()] == ["", "chosen", "failed"]


def test_steps_that_stand_for_versions_lead_to_them():
    steps = [
        FlowStep(name="version-2", told="read(file='a')", about="version 2: declared"),
        FlowStep(name="rows-3", told="read(file='b')"),
        FlowStep(name="current", told="update()", of=["version-2", "rows-3"], about="version 3: b"),
        FlowStep(name="strong", told="filter()", of=["current", "gone"], about="weak ones"),
    ]
    boxes = step_boxes(steps, {2: "ver_2", 3: "ver_3"}, "/here")
    assert [box.link for box in boxes.values()] == [
        "/here?version=ver_2",
        "",
        "/here?version=ver_3",
        "",
    ]
    assert boxes["strong"].of == ["current"]
